"""Language models: the protocol, its adapters, the prompts and the gates."""

from __future__ import annotations

from graphmem.language.base import EXTRACTIVE, LanguageModel
from graphmem.settings import Settings


def load(settings: Settings) -> LanguageModel:
    """The language model that the settings name; nothing is asked of it yet."""
    if settings.language_model == EXTRACTIVE:
        from graphmem.language.extractive import Extractive

        return Extractive()
    from graphmem.language.litellm_model import LiteLLM

    return LiteLLM(
        settings.language_model.removeprefix("litellm/"),
        api_base=settings.model_api_base,
        api_key=settings.model_api_key,
        timeout=settings.model_timeout,
        attempts=settings.model_attempts,
        max_wait=settings.model_max_wait,
        max_tokens=settings.model_max_tokens,
        prompt_tokens=settings.model_prompt_tokens,
        concurrency=settings.model_concurrency,
    )
