"""Configuration: the only module that reads the environment and the settings file.

Precedence of each single setting, highest first: arguments of ``Memory.open`` and options of the command line,
environment variables ``GRAPHMEM_…`` (an empty one counts as not set), the settings file, defaults. Nothing is read
when graphmem is imported.

The settings file is ``config.toml`` in the user's configuration folder for graphmem (``~/.config/graphmem`` on Linux),
or the file that ``GRAPHMEM_CONFIG`` names. Its keys are the names of :class:`Settings`.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from graphmem.errors import InvalidSettings


def _data_dir() -> Path:
    return platformdirs.user_data_path("graphmem")


def _cache_dir() -> Path:
    return platformdirs.user_cache_path("graphmem")


class Settings(BaseSettings):
    """Everything that can be set, with its default.

    Each is an environment variable ``GRAPHMEM_<NAME>`` and a key of the settings file.
    """

    model_config = SettingsConfigDict(env_prefix="GRAPHMEM_", env_ignore_empty=True, frozen=True, extra="forbid")

    uri: str | None = None
    """Bolt address of a Neo4j ≥ 2026.09; ``embedded`` or None: the embedded server, started when needed."""
    user: str = "neo4j"
    password: SecretStr | None = None
    database: str = "neo4j"

    retry_timeout: float = Field(default=10, ge=0)
    """Seconds that a transaction is tried again after a lost connection, a change of leader or a deadlock; the last
    try begins at most half as much later."""

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
    model_prompt_tokens: int = Field(default=16_000, ge=1_000)
    """Tokens that a prompt may have; fewer where the model is known to read less."""
    model_tokens_per_day: int | None = Field(default=None, ge=0)
    """Tokens, of prompts and replies, that each agent may spend in any 24 hours; None: no limit."""
    model_concurrency: int = Field(default=4, ge=1)
    """Requests to the language model at a time."""

    analyzer: str = Field(default="english", pattern=r"^[a-z][a-z0-9_-]*$")
    """Analyzer of the full-text index, one that ``CALL db.index.fulltext.listAvailableAnalyzers()`` lists; it is chosen
    when the store is made: ``german``, ``cjk``, ``standard-no-stop-words``, …"""
    index_timeout: float = Field(default=60, gt=0)
    """Seconds to wait for an index to come online."""

    trace_texts: bool = False
    """Whether spans of OpenTelemetry hold what verbs are called with, prompts and replies; see docs/operations.md."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Where settings come from, highest precedence first."""
        return init_settings, env_settings, _SettingsFile(settings_cls)

    @field_validator("uri")
    @classmethod
    def _embedded(cls, value: str | None) -> str | None:
        return None if value == "embedded" else value

    @field_validator("language_model")
    @classmethod
    def _known_language_model(cls, value: str) -> str:
        if value != "extractive" and not re.fullmatch(r"litellm/[^/\s]+/\S+", value):
            raise ValueError(f"{value!r} is neither 'extractive' nor of the form 'litellm/<provider>/<model>'")
        return value


class _SettingsFile(PydanticBaseSettingsSource):
    """The settings file as a source."""

    def __call__(self) -> dict[str, Any]:
        file = settings_file()
        return {} if file is None else _read(file)

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """One value of it."""
        return self().get(field_name), field_name, False


def settings_file() -> Path | None:
    """The settings file in force, where there is one.

    Raises:
        InvalidSettings: When ``GRAPHMEM_CONFIG`` names one that is not there.
    """
    if named := os.environ.get("GRAPHMEM_CONFIG"):
        file = Path(named).expanduser()
        if not file.exists():
            raise InvalidSettings(
                f"there is no settings file {file}",
                remedy="correct the environment variable GRAPHMEM_CONFIG, or unset it",
            )
        return file
    file = platformdirs.user_config_path("graphmem") / "config.toml"
    return file if file.exists() else None


def _read(file: Path) -> dict[str, Any]:
    """The values of a settings file, their names and its mode checked.

    Raises:
        InvalidSettings: When it cannot be read, has a key that is none, or keeps a secret that others can read.
    """
    try:
        values = tomllib.loads(file.read_text("utf-8"))
        mode = file.stat().st_mode
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidSettings(
            f"the settings file {file} cannot be read: {reason}",
            remedy=f'correct {file}: it is TOML, lines such as user = "neo4j"',
        ) from error
    fields = Settings.model_fields
    if unknown := [name for name in values if name not in fields]:
        known = ", ".join(fields)
        raise InvalidSettings(
            f"the settings file {file} has the key {unknown[0]!r}, which is no setting",
            remedy=f"correct or remove it; the settings are {known}",
        )
    secret = next((name for name in values if fields[name].annotation == SecretStr | None), None)
    # Refused and not warned of: whoever may read the file has had the secret by the time that a warning is seen.
    if secret is not None and sys.platform != "win32" and mode & 0o077:
        raise InvalidSettings(
            f"the settings file {file} keeps {secret}, and other users of this machine may read it",
            remedy=f"chmod 600 {file}",
        )
    return values


def load_settings(base: Settings | None = None, **overrides: Any) -> Settings:
    """The settings in force; arguments that are None are left to what comes after them.

    Args:
        base: Stands for environment, settings file and defaults.
        overrides: Arguments by the names of :class:`Settings`.

    Raises:
        InvalidSettings: When a value is refused; the message names the setting, the remedy where it was given.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    if base is not None and not given:
        return base
    try:
        return Settings(**(({} if base is None else dict(base)) | given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = str(first["loc"][0])
        raise InvalidSettings(
            f"setting {name}: {first['msg'].removeprefix('Value error, ')}",
            setting=name,
            remedy=f"correct {_origin(name, given)}",
        ) from error


def _origin(name: str, given: dict[str, Any]) -> str:
    """Where the value of a setting comes from, for a person who has to change it there."""
    if name in given:
        return f"the option or argument {name}"
    variable = "JAVA_HOME" if name.lower() == "java_home" else f"GRAPHMEM_{name.upper()}"
    file = settings_file()
    if os.environ.get(variable) or file is None:
        return f"the environment variable {variable}"
    return f"{name} in {file}"


def keep_litellm_local() -> None:
    """Keep litellm, when it is imported, from fetching a price list and from loading a ``.env`` file.

    What the user set stays.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")


_CHILD_VARIABLES = ("HOME", "PATH", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "PYTHONHOME", "PYTHONPATH")


def child_environment() -> dict[str, str]:
    """The environment for a long-lived child process: without API keys and passwords that this one may hold.

    The locale is fixed to UTF-8, without which Java cannot open paths outside ASCII.
    """
    kept = {name: os.environ[name] for name in _CHILD_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8"}
