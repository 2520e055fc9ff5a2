"""What graphmem is made with: pinned versions for CI, licences of what it needs, known vulnerabilities.

``python tests/supply.py pin`` writes .ci/constraints.txt from this environment, ``licences`` writes docs/licences.md,
and ``audit`` asks pip-audit. tests/test_supply.py fails while the files are not current.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
LICENCES = ROOT / "docs" / "licences.md"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SHIPPED = ("local", "pictures")
"""Extras whose packages are installed where graphmem is used, beside the core."""
_NOT_OURS = {"pip", "setuptools", "wheel", "graphmem", "pip-audit"}
_MARKED = re.compile(r"(?<=<!-- written by tests/supply\.py -->\n).*?(?=\n<!-- end -->)", re.DOTALL)


def pinned() -> dict[str, str]:
    """Names and versions of the constraints file."""
    lines = CONSTRAINTS.read_text("utf-8").splitlines()
    return dict(line.split("==", 1) for line in lines if line and not line.startswith("#"))


@cache
def installed() -> dict[str, str]:
    """Everything in this environment."""
    return {
        name: one.version
        for one in metadata.distributions()
        if (name := canonicalize_name(one.metadata["Name"])) not in _NOT_OURS
    }


def asked(extras: tuple[str, ...] | None = None) -> dict[str, Requirement]:
    """What pyproject.toml asks for, of the core and these extras, or of all."""
    groups: dict[str, list[str]] = PROJECT["optional-dependencies"]
    chosen = groups if extras is None else {name: groups[name] for name in extras}
    lines = [*PROJECT["dependencies"], *(line for lines in chosen.values() for line in lines)]
    found = [Requirement(line) for line in lines if not line.startswith("graphmem")]
    return {canonicalize_name(one.name): one for one in found}


@cache
def shipped() -> list[metadata.Distribution]:
    """What is installed with the core and those extras, by name, with all that it needs in turn."""
    waiting = list(asked(SHIPPED).values())
    found: dict[str, metadata.Distribution] = {}
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        found[name] = metadata.distribution(name)
        waiting += map(Requirement, found[name].requires or [])
    return [found[name] for name in sorted(found)]


def licence(one: metadata.Distribution) -> str:
    """The licence as the package's own metadata say it."""
    told = one.metadata.get("License-Expression")
    classified = [line.split(" :: ")[-1] for line in one.metadata.get_all("Classifier", []) if "License ::" in line]
    first, *_ = [*(one.metadata.get("License") or "").splitlines(), ""]
    return told or ", ".join(classified) or first[:60] or "see the package"


@cache
def table() -> str:
    """The licences of what is shipped, as the document lists them."""
    rows = [f"| `{canonicalize_name(one.metadata['Name'])}` | {licence(one)} |" for one in shipped()]
    return "\n".join(["| package | licence |", "|---|---|", *rows])


def rows(text: str) -> dict[str, str]:
    """Licences by package, of a table."""
    return dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", text, re.MULTILINE))


def listed() -> str:
    """What the document lists."""
    return _MARKED.findall(LICENCES.read_text("utf-8"))[0]


def pin() -> None:
    """Write the constraints: what is installed here, and, of what is not, what was pinned before."""
    before = pinned() if CONSTRAINTS.exists() else {}
    lines = [f"{name}=={version}" for name, version in sorted((before | installed()).items())]
    head = "# Versions that CI installs; python tests/supply.py pin writes them."
    CONSTRAINTS.write_text("\n".join([head, *lines]) + "\n", "utf-8")


def audit() -> int:
    """Ask pip-audit about the pinned versions; 0: nothing is known, 1: something is, 2: it could not be asked."""
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json"]
    done = subprocess.run([*command, "--requirement", str(CONSTRAINTS)], capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        sys.stderr.write(f"pip-audit could not reach its database, so nothing was checked: {last}\n")
        return 2
    known = [
        (one["name"], one["version"], vulnerability["id"]) for one in found for vulnerability in one.get("vulns", [])
    ]
    for name, version, vulnerability in known:
        sys.stdout.write(f"{name} {version}: {vulnerability}\n")
    sys.stdout.write(f"{len(found)} packages, {len(known)} known vulnerabilities\n")
    return bool(known)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["pin"]:
            pin()
        case ["licences"]:
            LICENCES.write_text(_MARKED.sub(lambda _: table(), LICENCES.read_text("utf-8")), "utf-8")
        case ["audit"]:
            sys.exit(audit())
        case _:
            sys.exit(__doc__)
