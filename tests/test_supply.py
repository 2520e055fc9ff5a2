"""Pinned versions, licences: the files say what is installed."""

from __future__ import annotations

import re

import supply
from packaging.version import Version


def test_the_constraints_are_names_and_versions_only() -> None:
    text = supply.CONSTRAINTS.read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[A-Za-z0-9.+!]+", line)] == []
    names = [line.split("==")[0] for line in lines]
    assert names == sorted(set(names))


def test_everything_that_is_asked_for_is_pinned_as_asked() -> None:
    pinned = supply.pinned()
    for name, wanted in supply.asked().items():
        if name in ("sentence-transformers",):
            continue  # Its environment of seven gigabytes takes what torch is built for.
        assert name in pinned, f"{name}: python tests/supply.py pin"
        assert wanted.specifier.contains(Version(pinned[name])), name


def test_what_is_shipped_and_its_licences_are_listed() -> None:
    """``python tests/supply.py licences`` writes them. What another Python needs besides may be listed too."""
    listed = supply.rows(supply.listed())
    pinned = supply.pinned()
    for name, licence in supply.rows(supply.table()).items():
        assert name in listed
        if pinned.get(name) == supply.installed()[name]:
            assert listed[name] == licence, name


def test_licences_that_bind_more_than_ours_are_told_apart() -> None:
    """What is under the GPL is named in the document, with where it runs."""
    strong = {
        name for name, licence in supply.rows(supply.table()).items() if re.search(r"\bA?GPL|General Pub", licence)
    }
    strong -= {name for name in strong if "Lesser" in supply.rows(supply.table())[name]}
    told = supply.LICENCES.read_text("utf-8").split("## Under the GPL")[1]
    assert strong == set(re.findall(r"^- `([^`]+)`", told, re.MULTILINE))
