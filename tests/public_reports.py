"""The list of cases in docs/public-reports.md, with the tests that stand for each.

``python tests/public_reports.py`` writes the tests there; tests/test_public_reports.py fails unless they are current.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "public-reports.md"
DECISIONS = ROOT / "docs" / "decisions.md"
CASES = tuple(f"B{number:02}" for number in range(1, 44))
_ROW = re.compile(r"^\| (?P<case>B\d\d) \| (?P<what>[^|]+) \| (?P<tests>[^|]*) \|$", re.MULTILINE)


@cache
def tests() -> dict[str, list[str]]:
    """By case: ``file::test`` of each test that is named after it or marked with ``report``."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                named = [f"B{number}" for number in re.findall(r"(?<=_)b(\d\d)(?=_)", node.name)]
                for case in sorted({*named, *_marked(node)}):
                    found[case].append(f"{file.relative_to(ROOT / 'tests')}::{node.name}")
    return found


def _marked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The cases that ``@pytest.mark.report("B07")`` names."""
    calls = [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]
    return [
        str(argument.value)
        for call in calls
        if ast.unparse(call.func) == "pytest.mark.report"
        for argument in call.args
        if isinstance(argument, ast.Constant)
    ]


def excused() -> set[str]:
    """Cases of which docs/decisions.md says why they cannot occur: a paragraph that begins with ``**B07 …**``."""
    return set(re.findall(r"^\*\*(B\d\d)\b", DECISIONS.read_text("utf-8"), re.MULTILINE))


def rows() -> dict[str, str]:
    """By case: what the document lists as its tests."""
    return {row["case"]: row["tests"] for row in _ROW.finditer(DOCUMENT.read_text("utf-8"))}


def listed() -> dict[str, str]:
    """By case: what the document should list."""
    found = tests()
    excuses = excused()
    return {
        case: ", ".join(f"`{name}`" for name in found[case])
        or ("[cannot occur](decisions.md#public-reports)" if case in excuses else "")
        for case in CASES
    }


if __name__ == "__main__":
    wanted = listed()
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(
        _ROW.sub(lambda row: f"| {row['case']} | {row['what']} | {wanted[row['case']]} |", text), "utf-8"
    )
