"""Every kind of fault that users of agent memories have reported has a test here, or a reason why it cannot occur."""

from __future__ import annotations

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


def test_the_document_lists_the_tests() -> None:
    """``python tests/public_reports.py`` writes them."""
    assert public_reports.rows() == public_reports.listed()
