"""Every kind of fault that users of agent memories have reported has a test here, or a reason why it cannot occur."""

from __future__ import annotations

import re

import public_reports
import pytest
from public_reports import CASES


def test_each_case_is_listed_once() -> None:
    assert tuple(public_reports.rows()) == CASES


@pytest.mark.parametrize("case", CASES)
def test_each_case_has_a_test_or_a_reason(case: str) -> None:
    tests = public_reports.tests()[case]
    assert tests or case in public_reports.excused()


def test_no_test_names_a_case_that_is_not_there() -> None:
    assert public_reports.tests().keys() <= set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_the_document_lists_tests_that_are_there(case: str) -> None:
    """``python tests/public_reports.py`` writes them; newer tests may be missing from it until then."""
    listed = set(re.findall(r"`([^`]+)`", public_reports.rows()[case]))
    assert listed <= set(public_reports.tests()[case])
    assert listed or case in public_reports.excused()
