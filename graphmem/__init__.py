"""graphmem: a memory for language-model agents that is a graph in Neo4j."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmem.agent import Agent
    from graphmem.async_agent import AsyncAgent
    from graphmem.errors import GraphmemError
    from graphmem.memory import AsyncMemory, Memory
    from graphmem.models import PAPER, NewObservation, Profile, Weights

__version__ = "0.1.0"

__all__ = [
    "PAPER",
    "Agent",
    "AsyncAgent",
    "AsyncMemory",
    "GraphmemError",
    "Memory",
    "NewObservation",
    "Profile",
    "Weights",
]

_HOMES = {
    "Agent": "agent",
    "AsyncAgent": "async_agent",
    "AsyncMemory": "memory",
    "GraphmemError": "errors",
    "Memory": "memory",
    "NewObservation": "models",
    "PAPER": "models",
    "Profile": "models",
    "Weights": "models",
}


def __getattr__(name: str) -> Any:
    """Import on first use: ``import graphmem`` alone loads neither pydantic nor the driver."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
