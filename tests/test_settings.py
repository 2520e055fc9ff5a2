"""Settings: what the documents name exists, and what is secret is not shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphmem.errors import InvalidSettings
from graphmem.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
SECRETS = [name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_variables_that_a_document_names_exist(document: Path) -> None:
    named = set(re.findall(r"\bGRAPHMEM_([A-Z][A-Z_]*[A-Z])\b", document.read_text("utf-8")))

    settings = {name.upper() for name in Settings.model_fields} | {"CONFIG"}
    assert {name for name in named if not name.startswith("TEST_")} <= settings


def test_models_md_names_every_setting_of_a_model() -> None:
    text = (ROOT / "docs/models.md").read_text("utf-8")
    names = [name for name in Settings.model_fields if name.startswith(("model_", "embedding", "language_model"))]

    assert len(names) >= 11
    assert [name for name in names if f"GRAPHMEM_{name.upper()}" not in text] == []
    rows = dict(re.findall(r"^\| `GRAPHMEM_(MODEL_\w+)` \| ([^|]*) \|", text, re.MULTILINE))
    for name, shown in rows.items():
        default = Settings.model_fields[name.lower()].default
        assert shown == str(default) or (default is None and not shown.isdigit())


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_not_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"GRAPHMEM_{name.upper()}", "hush-hush")
    settings = load_settings()

    assert getattr(settings, name) == SecretStr("hush-hush")
    assert "hush" not in repr(settings) + str(settings) + settings.model_dump_json()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model_timeout", "0"),
        ("model_attempts", "0"),
        ("model_attempts", "many"),
        ("model_max_wait", "-1"),
        ("model_max_tokens", "1"),
        ("model_concurrency", "0"),
    ],
)
def test_a_value_out_of_range_is_refused_naming_the_variable(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"GRAPHMEM_{name.upper()}", value)
    with pytest.raises(InvalidSettings, match=name) as refused:
        load_settings()

    assert f"GRAPHMEM_{name.upper()}" in refused.value.remedy
