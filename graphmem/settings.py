"""Configuration: the only module that reads the environment.

Precedence, highest first: arguments of ``Memory.open`` and options of the command line, environment variables
``GRAPHMEM_…``, defaults. Nothing is read when graphmem is imported.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from graphmem.errors import InvalidSettings


def _data_dir() -> Path:
    return platformdirs.user_data_path("graphmem")


def _cache_dir() -> Path:
    return platformdirs.user_cache_path("graphmem")


class Settings(BaseSettings):
    """Everything that can be set, with its default; each is an environment variable ``GRAPHMEM_<NAME>``."""

    model_config = SettingsConfigDict(env_prefix="GRAPHMEM_", frozen=True, extra="forbid")

    uri: str | None = None
    """Bolt address of a Neo4j ≥ 2026.09; None: the embedded server, started when needed."""
    user: str = "neo4j"
    password: SecretStr | None = None
    database: str = "neo4j"

    data_dir: Path = Field(default_factory=_data_dir)
    """Where the embedded server keeps its store, password and logs."""
    cache_dir: Path = Field(default_factory=_cache_dir)
    """Where fetched jars and models are kept."""
    maven_url: str | None = None
    """Base address of a mirror of Maven Central; None: Maven Central itself."""
    heap: str = Field(default="768m", pattern=r"^\d+[mMgG]$")
    """Java heap of the embedded server."""
    java_home: Path | None = Field(default=None, validation_alias=AliasChoices("java_home", "JAVA_HOME"))
    """``JAVA_HOME``: a JDK here is used when it suits Neo4j and brings SIMD; else the one from packages."""
    start_timeout: float = Field(default=120, gt=0)
    """Seconds that the embedded server may take to start."""

    embedding: str = "onnx/bge-small-en-v1.5"
    """Embedding model: ``onnx/bge-small-en-v1.5`` or ``onnx/all-MiniLM-L6-v2``."""
    language_model: Literal["extractive"] = "extractive"
    """Language model: ``extractive`` works offline, without a model."""
    index_timeout: float = Field(default=60, gt=0)
    """Seconds to wait for an index to come online."""


def load_settings(**overrides: Any) -> Settings:
    """The settings in force; arguments that are None are left to the environment and the defaults.

    Raises:
        InvalidSettings: When a value is refused; the message names the variable.
    """
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidSettings(
            f"setting {name}: {first['msg'].removeprefix('Value error, ')}",
            remedy=f"correct the option or the environment variable GRAPHMEM_{name.upper()}",
        ) from error


_CHILD_VARIABLES = ("HOME", "PATH", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH")


def child_environment() -> dict[str, str]:
    """The environment for a long-lived child process: without API keys and passwords that this one may hold.

    The locale is fixed to UTF-8, without which Java cannot open paths outside ASCII.
    """
    kept = {name: os.environ[name] for name in _CHILD_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8"}
