"""What some open models want before a text, by the name of the model; their files do not say it."""

from __future__ import annotations

import re

_INSTRUCTIONS = (
    (r"bge-(?:small|base|large)-en(?:-v1\.5)?", "Represent this sentence for searching relevant passages: ", ""),
    (r"bge-(?:small|base|large)-zh(?:-v1\.5)?", "为这个句子生成表示以用于检索相关文章：", ""),
    (r"(?:multilingual-)?e5-(?:small|base|large)(?:-v2)?", "query: ", "passage: "),
)


def instructions(model: str) -> tuple[str, str]:
    """What is put before queries and before documents.

    Args:
        model: The model's name, with or without its owner, e.g. ``intfloat/multilingual-e5-small``.
    """
    name = model.rpartition("/")[2]
    for pattern, query, document in _INSTRUCTIONS:
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return query, document
    return "", ""
