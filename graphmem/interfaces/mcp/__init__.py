"""The Model Context Protocol: one agent's memory as tools and resources; ``graphmem mcp`` serves it."""
