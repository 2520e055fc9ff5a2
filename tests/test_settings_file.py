"""Where settings come from, and how one that is refused is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.errors import InvalidSettings
from graphmem.settings import Settings, load_settings, settings_file


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file in force, empty."""
    path = tmp_path / "graphmem.toml"
    path.touch(mode=0o600)
    monkeypatch.setenv("GRAPHMEM_CONFIG", str(path))
    return path


def test_arguments_come_before_the_environment_before_the_file_before_defaults(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().user == "neo4j"
    file.write_text('user = "from the file"\nuri = "bolt://file:1"\npassword = "secret"\nindex_timeout = 5\n')
    found = load_settings()
    assert (found.user, found.uri, found.index_timeout) == ("from the file", "bolt://file:1", 5)
    assert found.password is not None
    assert found.password.get_secret_value() == "secret"
    monkeypatch.setenv("GRAPHMEM_USER", "from the environment")
    assert load_settings().user == "from the environment"
    assert load_settings(user="argument").user == "argument"
    assert load_settings(user=None).user == "from the environment", "None leaves it open"
    assert load_settings().uri == "bolt://file:1", "each setting for itself"


def test_java_home_keeps_the_order_under_its_own_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    file.write_text('java_home = "/from/file"\n')
    assert load_settings().java_home == Path("/from/file")
    monkeypatch.setenv("JAVA_HOME", "/from/environment")
    assert load_settings().java_home == Path("/from/environment")
    assert load_settings(java_home="/argument").java_home == Path("/argument")


def test_given_settings_stand_in_for_all_but_arguments(file: Path) -> None:
    file.write_text('database = "other"\n')
    base = Settings(uri="bolt://here:1", database="mine")
    assert load_settings(base) is base
    assert load_settings(base, uri=None) is base
    changed = load_settings(base, uri="bolt://there:1")
    assert (changed.uri, changed.database) == ("bolt://there:1", "mine")


def test_the_embedded_server_can_be_asked_for_over_a_uri_in_the_file(file: Path) -> None:
    file.write_text('uri = "bolt://file:1"\n')
    assert load_settings(uri="embedded").uri is None


def test_an_empty_variable_is_not_set(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('uri = "bolt://file:1"\n')
    monkeypatch.setenv("GRAPHMEM_URI", "")
    assert load_settings().uri == "bolt://file:1"
    monkeypatch.setenv("GRAPHMEM_CONFIG", "")
    assert settings_file() != file


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('pasword = "x"', "the key 'pasword'"),
        ('[server]\nuri = "x"', "the key 'server'"),
        ("user = ", "cannot be read: Invalid value"),
        ("user = 7", "setting user"),
        ("index_timeout = 0", "setting index_timeout"),
        ('heap = "much"', "setting heap"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_name(file: Path, text: str, told: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    assert told in str(caught.value)
    assert str(file) in f"{caught.value} {caught.value.remedy}"


def test_a_wrong_value_is_told_where_it_was_given(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("index_timeout = 5")
    with pytest.raises(InvalidSettings, match="index_timeout") as caught:
        load_settings(index_timeout=0)
    assert "argument index_timeout" in caught.value.remedy
    monkeypatch.setenv("GRAPHMEM_INDEX_TIMEOUT", "soon")
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    assert "variable GRAPHMEM_INDEX_TIMEOUT" in caught.value.remedy


def test_a_secret_that_others_can_read_is_refused(file: Path) -> None:
    file.write_text('user = "ines"')
    file.chmod(0o644)
    assert load_settings().user == "ines", "without a secret anybody may read it"
    for name in ("password", "model_api_key", "embedding_api_key"):
        file.write_text(f'{name} = "hush"')
        with pytest.raises(InvalidSettings, match=f"keeps {name}") as caught:
            load_settings()
        assert caught.value.remedy == f"chmod 600 {file}"
        assert "hush" not in str(caught.value)
    file.chmod(0o600)
    assert load_settings().embedding_api_key is not None


def test_a_file_that_was_named_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHMEM_CONFIG", str(tmp_path / "nowhere.toml"))
    with pytest.raises(InvalidSettings, match=r"nowhere\.toml") as caught:
        load_settings()
    assert "GRAPHMEM_CONFIG" in caught.value.remedy


def test_without_a_name_it_is_in_the_configuration_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GRAPHMEM_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings_file() is None
    (tmp_path / "graphmem").mkdir()
    (tmp_path / "graphmem" / "config.toml").write_text('database = "found"')
    assert load_settings().database == "found"
