"""`holdfast token`: tokens are created, listed without their secret, and revoked."""

from __future__ import annotations

import time

import pytest

from holdfast.ledger import tokens
from holdfast.ledger.connect import open_ledger
from holdfast.ledger.schema import PROJECTS
from tests.terminal import Terminal


def is_accepted(terminal: Terminal, token: str, after_seconds: float = 0.0) -> bool:
    ledger = open_ledger(str(terminal.store / "ledger.db"), {})
    try:
        return tokens.find_valid_token(ledger, token, time.time() + after_seconds) is not None
    finally:
        ledger.database.close()


def test_a_new_token_is_printed_alone_and_stored_as_a_hash(terminal: Terminal) -> None:
    result = terminal.run("token", "new", "ci", "--scope", "read")
    token = result.out.strip()
    assert token.startswith("hft_")
    assert "\n" not in token
    assert "may read" in result.err
    assert is_accepted(terminal, token)
    assert all(token.encode() not in (body or b"") for body in terminal.read_all_files().values())


def test_tokens_are_listed_without_the_secret(terminal: Terminal) -> None:
    token = terminal.run("token", "new", "ci", "--json").json["token"]
    result = terminal.run("token", "list")
    assert "ci" in result.out
    assert "good" in result.out
    (row,) = terminal.run("token", "list", "--json").json
    assert (row["name"], row["scope"], row["revoked"]) == ("ci", "write", None)
    assert token not in result.out + str(row)
    assert tokens.hash_token(token) not in str(row)


def test_a_revoked_token_is_not_accepted(terminal: Terminal) -> None:
    created = terminal.run("token", "new", "ci", "--json").json
    assert terminal.run("token", "revoke", created["id"]).code == 0
    assert not is_accepted(terminal, created["token"])
    assert "revoked" in terminal.run("token", "list").out


def test_a_token_is_revoked_by_its_name_if_the_name_is_unique(terminal: Terminal) -> None:
    first, second = (terminal.run("token", "new", "ci", "--json").json for _ in range(2))
    result = terminal.run("token", "revoke", "ci")
    assert result.code == 1
    assert "2 tokens are named ci" in result.err
    assert first["id"] in result.err
    assert is_accepted(terminal, first["token"])
    terminal.run("token", "revoke", first["id"])
    assert terminal.run("token", "revoke", "ci").code == 0
    assert not is_accepted(terminal, second["token"])
    assert terminal.run("token", "revoke", "ci").code == 0, "revoking twice is no error"


def test_a_token_of_a_deleted_project_is_listed_as_invalid(terminal: Terminal) -> None:
    created = terminal.run("token", "new", "ci", "--project", terminal.project, "--json").json
    ledger = open_ledger(str(terminal.store / "ledger.db"), {})
    ledger.delete(PROJECTS, ledger.require(PROJECTS, created["project"]), 2.0)
    ledger.database.close()
    assert "project was deleted" in terminal.run("token", "list").out
    (row,) = terminal.run("token", "list", "--json").json
    assert row["state"] == "its project was deleted"


def test_a_token_can_expire_after_some_days(terminal: Terminal) -> None:
    token = terminal.run("token", "new", "ci", "--days", "2").out.strip()
    assert is_accepted(terminal, token, after_seconds=86_400)
    assert not is_accepted(terminal, token, after_seconds=3 * 86_400)
    assert "good for 2 d" in terminal.run("token", "list").out


def test_a_token_can_be_limited_to_a_project_by_folder_or_id(terminal: Terminal) -> None:
    inner = terminal.project / "src"
    (terminal.project / ".git").mkdir()
    inner.mkdir()
    result = terminal.run("token", "new", "ci", "--project", inner, "--json")
    project_id = result.json["project"]
    by_id = terminal.run("token", "new", "cd", "--project", project_id)
    assert f"in {terminal.project};" in by_id.err
    terminal.run("token", "new", "all")
    listed = {row["name"]: row["project"] for row in terminal.run("token", "list", "--json").json}
    assert listed == {"ci": project_id, "cd": project_id, "all": None}
    table = terminal.run("token", "list").out
    assert str(terminal.project) in table
    assert "all projects" in table


@pytest.mark.parametrize("argv", [
    ("new", "x", "--project", "nowhere"), ("new",), ("revoke",), ("list", "x"),
    ("revoke", "unknown"), ("new", "x", "--days", "0"),
])  # fmt: skip
def test_invalid_options_are_errors(terminal: Terminal, argv: tuple[str, ...]) -> None:
    result = terminal.run("token", *argv)
    assert result.code == 1
    assert result.err.startswith("error: ")


@pytest.mark.parametrize("name", ["", " \t"])
def test_a_token_without_a_name_is_refused(terminal: Terminal, name: str) -> None:
    result = terminal.run("token", "new", name)
    assert (result.code, result.out) == (1, "")
    assert "A token needs a name" in result.err
    assert "\nhint: " in result.err
    assert terminal.run("token", "list", "--json").json == []
