"""Texts that break what treats them as more than text."""

from __future__ import annotations

import os

from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("GRAPHMEM_TEST_HOSTILE", "20"))
"""Examples of each property on a real database."""
PIECES = (
    "'", '"', "`", "\\", "\\'", "\\u0027", "x}) DETACH DELETE n //",
    "') MATCH (n) DETACH DELETE n RETURN ('", "$agentId", "${x}", "{0}", "%s", "{agent}", "/*", "*/", "//",
    ";", "CALL { }", "`]->(x", "*:*", "a~2", "+-&&||!(){}[]^\"~*?:\\/", "AND", "OR", "NOT", "TO",
    "[* TO *]", "text:", "\0", "\ud83e", "\udd26", "\x1b[2J", "\x07", "\x7f", "\r\n", "\t", "\x85",
    "\u2028", "\u202e", "\u200d", "\ufeff", "e\u0301\u0327", "Z\u0351\u036b\u0343",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0010ffff",
    "\uffff", "שלום", "مرحبا", "北の灯台", "ﬁ", "İ", "ß", "</memories>", "```", "7. ", "null", "true", "NaN",
    "-1", "--", "-rf", "@", "#{x}", "<script>", "[bold]", " ",
)  # fmt: skip
"""Quotes, Cypher, Lucene, control characters, NUL, lone surrogates, right to left, combining, families, templates."""

TEXTS = st.lists(
    st.one_of(st.sampled_from(PIECES), st.characters(), st.sampled_from(("lamp", "boat", "7"))), min_size=1, max_size=8
).map("".join)


def told(refused: Exception) -> None:
    """A refusal can be shown: it is a short text, without what was refused for being none."""
    assert "\0" not in str(refused)
    assert len(str(refused).encode()) < 3_000


def can_be_kept(text: str) -> bool:
    """Whether Neo4j gives it back as it was, and there is something in it."""
    return bool(text.strip()) and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
