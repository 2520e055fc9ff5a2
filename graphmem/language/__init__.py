"""Language models: the protocol, its adapters, the prompts and the gates."""

from __future__ import annotations

from graphmem.language.base import LanguageModel
from graphmem.settings import Settings


def load(settings: Settings) -> LanguageModel:
    """The language model that the settings name."""
    from graphmem.language.extractive import Extractive

    match settings.language_model:
        case "extractive":
            return Extractive()
