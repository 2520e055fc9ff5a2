"""Memory for agents of other frameworks: LangGraph, LangChain, pydantic-ai, the OpenAI Agents SDK; docs/adapters.md."""
