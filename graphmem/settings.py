"""Configuration: the only module that reads the environment.

Precedence, highest first: arguments of ``Memory.open`` and options of the command line, environment variables
``GRAPHMEM_…``, defaults. Nothing is read when graphmem is imported.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
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

    embedding: str = "auto"
    """Embedding model: ``auto`` (bge-small-en-v1.5 by sentence-transformers where it is installed, else by ONNX),
    ``onnx/bge-small-en-v1.5``, ``onnx/all-MiniLM-L6-v2``, ``sentence-transformers/<model>`` (a name on the model hub
    or a folder) or ``litellm/<provider>/<model>``."""
    embedding_api_base: str | None = None
    """Address of the server of a ``litellm/…`` embedding model; None: the provider's own."""
    embedding_api_key: SecretStr | None = None
    """Its key; None: the provider's own environment variable, such as ``OPENAI_API_KEY``."""

    language_model: str = "extractive"
    """Language model: ``extractive`` (offline, without a model) or ``litellm/<provider>/<model>``."""
    model_api_base: str | None = None
    """Address of the language model's server, e.g. ``http://127.0.0.1:8000/v1``; None: the provider's own."""
    model_api_key: SecretStr | None = None
    """Its key; None: the provider's own environment variable, such as ``OPENAI_API_KEY``."""
    model_timeout: float = Field(default=120, gt=0)
    """Seconds that one request to a language or embedding model may take."""
    model_attempts: int = Field(default=3, ge=1, le=20)
    """How many times one thing is asked of a language or embedding model: a refused reply, a time-out and a failing
    server count alike."""
    model_max_wait: float = Field(default=120, ge=0)
    """Seconds that one thing asked may spend waiting, all told, for rate limits and failing servers."""
    model_max_tokens: int = Field(default=2048, ge=16)
    """Tokens that a reply may have; doubled when one is cut short, as far as the model allows."""
    model_concurrency: int = Field(default=4, ge=1)
    """Requests to the language model at a time."""

    index_timeout: float = Field(default=60, gt=0)
    """Seconds to wait for an index to come online."""

    @field_validator("language_model")
    @classmethod
    def _known_language_model(cls, value: str) -> str:
        if value != "extractive" and not re.fullmatch(r"litellm/[^/\s]+/\S+", value):
            raise ValueError(f"{value!r} is neither 'extractive' nor of the form 'litellm/<provider>/<model>'")
        return value


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


def keep_litellm_local() -> None:
    """Keep litellm, when it is imported, from fetching a price list and from loading a ``.env`` file.

    What the user set stays.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")


_CHILD_VARIABLES = ("HOME", "PATH", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH")


def child_environment() -> dict[str, str]:
    """The environment for a long-lived child process: without API keys and passwords that this one may hold.

    The locale is fixed to UTF-8, without which Java cannot open paths outside ASCII.
    """
    kept = {name: os.environ[name] for name in _CHILD_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8"}
