"""Two rules on texts that hold everywhere: when two are the same, and how one is shortened."""

from __future__ import annotations

import re
import unicodedata

_VIRAMA = 9
"""Combining class of the signs that join two consonants of Indic scripts into one."""


def normalise_text(text: str) -> str:
    """The form in which two texts are compared for being the same: the only such rule in graphmem.

    Compatibility-normalised, case-folded, white space collapsed, without closing punctuation and outer quotes.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = folded.translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'})
    return " ".join(folded.split()).strip(" \"'").rstrip(" .!?;:,…\"'")


def shorten(text: str, limit: int = 200) -> str:
    """Cut a text for display, to valid text of at most ``limit`` characters.

    Joined emoji, accents and flags are never cut in the middle; what cannot be stored is shown as U+FFFD.
    """
    clean = re.sub("[\x00\ud800-\udfff]", "\ufffd", text)
    if len(clean) <= limit:
        return clean
    end = limit - 1
    while end > 0 and _joins(clean[end - 1], clean[end]):
        end -= 1
    return clean[:end].rstrip() + "…"


def _joins(before: str, after: str) -> bool:
    """Whether two characters belong to one visible sign."""
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if "\u200d" in (before, after) or unicodedata.combining(after) or after in "\ufe0e\ufe0f\u20e3":
        return True
    skin_tone = 0x1F3FB <= ord(after) <= 0x1F3FF
    flag = all(0x1F1E6 <= ord(char) <= 0x1F1FF for char in (before, after))
    return skin_tone or flag or unicodedata.category(after) in {"Mn", "Me", "Mc"}
