"""Commands that read the team database, and commands that stay on this machine."""

from __future__ import annotations

from contextlib import closing

import pytest

from holdfast.state.fold import new_state
from holdfast.store.postgres import PostgresStore
from tests.postgres import PostgresServer
from tests.terminal import Terminal

from .colleagues import COLLEAGUE_SESSION, OTHER_PROJECT_SESSION

SECRET = "hunter2-very-secret"


def add_colleague_session(url: str, session: str) -> str:
    with closing(PostgresStore.at(url)) as store:
        store.save_session(
            session=session, host="claude-code", project="/elsewhere", transcript="/deleted.jsonl",
            cursor=None, state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        return store.add_snapshot(session, "auto", new_state(), 2.0)


def test_commands_show_what_colleagues_saved_if_a_team_is_configured(
    terminal: Terminal, migrated_postgres_url: str
) -> None:
    ident = add_colleague_session(migrated_postgres_url, "theirs")
    assert terminal.run("status", "--all", "--json").json["sessions"] == []
    terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    sessions = terminal.run("status", "--all", "--json").json["sessions"]
    assert [session["id"] for session in sessions] == ["theirs"]
    assert terminal.run("snapshots", "--session", "theirs", "--json").json[0]["id"] == ident
    assert terminal.run("snapshot", "show", ident, "--json").json["session"] == "theirs"


def test_lookups_and_notes_stay_on_this_machine(
    demo_terminal: Terminal, migrated_postgres_url: str
) -> None:
    without_team = demo_terminal.run("recall", "L3")
    assert without_team.code == 0
    demo_terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    assert demo_terminal.run("recall", "L3").out == without_team.out


def test_colleagues_sessions_are_found_with_the_team_option(member: Terminal) -> None:
    without_team = member.run("recall", "obelisk")
    assert (without_team.code, without_team.out) == (1, "")
    assert "--team also searches" in without_team.err
    result = member.run("recall", "obelisk", "--team", "--json")
    (hit,) = result.json["hits"]
    assert (hit["ref"], hit["source"]) == (f"{COLLEAGUE_SESSION}:L1", "team's copy")
    assert "another machine" in result.json["notes"][0]
    everywhere = member.run("recall", "obelisk", "--team", "--all-projects", "--json").json["hits"]
    assert {hit["session"] for hit in everywhere} == {COLLEAGUE_SESSION, OTHER_PROJECT_SESSION}


def test_own_sessions_are_found_only_once_with_the_team_option(member: Terminal) -> None:
    member.run("sync")
    response = member.run("recall", "full jitter", "--team", "--max-tokens", 4000, "--json").json
    sources = [hit["source"] for hit in response["hits"]]
    assert {"transcript", "team's copy"} == set(sources)
    assert sources.count("team's copy") == 1
    first = member.run("recall", "full jitter", "--json").json["hits"][0]
    assert first in response["hits"]


def test_a_reference_to_a_colleagues_session_is_shown_with_its_origin(member: Terminal) -> None:
    for command in ("recall", "show"):
        result = member.run(command, f"{COLLEAGUE_SESSION}:L1")
        assert result.code == 0
        assert "the obelisk is in bin/obelisk.py" in result.out
        assert "team's copy" in result.err
        hidden = member.run(command, f"{OTHER_PROJECT_SESSION}:L1")
        assert hidden.code == 1
        assert "in this project" in hidden.err
        assert member.run(command, f"{OTHER_PROJECT_SESSION}:L1", "--all-projects").code == 0
        missing = member.run(command, f"{COLLEAGUE_SESSION}:L99")
        assert (missing.code, missing.out) == (1, "")
        unknown = member.run(command, f"{COLLEAGUE_SESSION[:-1]}0:L1")
        assert "neither here nor in the team database" in unknown.err


def test_a_colleagues_session_can_be_searched_by_its_id(member: Terminal) -> None:
    result = member.run("recall", "jitter", "--team", "--session", COLLEAGUE_SESSION, "--json")
    assert [hit["ref"] for hit in result.json["hits"]] == [f"{COLLEAGUE_SESSION}:L2"]


def test_an_unknown_session_is_an_error(member: Terminal) -> None:
    result = member.run("recall", "jitter", "--team", "--session", "unknown")
    assert (result.code, result.out) == (1, "")
    assert "neither here nor in the team database" in result.err


def test_a_machine_without_sessions_finds_sessions_of_the_team(
    terminal: Terminal, colleague: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.services.recall.team_lookup.to_project_id", lambda *_: "shared")
    terminal.set_env(HOLDFAST_DATABASE=colleague)
    assert terminal.run("recall", "obelisk").code == 1
    assert terminal.run("recall", "obelisk", "--team").out.startswith(
        f"{COLLEAGUE_SESSION}:L1 prompt"
    )


def test_the_team_option_without_a_team_is_an_error(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("recall", "jitter", "--team")
    assert result.code == 1
    assert "No team database is configured" in result.err


def test_doctor_reports_whether_the_team_database_is_reachable(
    terminal: Terminal, postgres: PostgresServer
) -> None:
    def finding() -> dict[str, str]:
        findings = terminal.run("doctor", "--json").json["findings"]
        return next((item for item in findings if item["name"] == "team store"), {})

    assert finding() == {}
    with postgres.create_schema() as url:
        terminal.set_env(HOLDFAST_DATABASE=url)
        assert finding()["status"] == "ok"
    terminal.set_env(HOLDFAST_DATABASE=f"postgresql://ada:{SECRET}@127.0.0.1:1/team")
    assert finding()["status"] == "fail"
    assert "postgresql://ada@127.0.0.1:1/team" in finding()["detail"]
    assert SECRET not in str(finding())


def test_an_invalid_address_is_an_error_and_is_not_printed(terminal: Terminal) -> None:
    terminal.set_env(HOLDFAST_DATABASE=SECRET)
    result = terminal.run("status")
    assert result.code == 1
    assert "HOLDFAST_DATABASE is not a PostgreSQL address" in result.err
    assert "hint:" in result.err
    assert SECRET not in result.err


def test_sync_pushes_everything_and_reports_how_much(
    demo_terminal: Terminal, migrated_postgres_url: str
) -> None:
    demo_terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    status = demo_terminal.run("sync", "--status", "--json").json
    assert (status["sessions"], status["last"]) == (1, None)
    sent = demo_terminal.run("sync", "--json").json
    assert sent["sessions"] == 1
    assert sent["rows"] > 50, "the requests, the plan and every tool call"
    assert sent["texts"] > 100, "every prompt, reply, call and result"
    nothing_left = "0 sessions, 0 rows and the texts of 0 sessions are waiting"
    assert nothing_left in demo_terminal.run("sync", "--status").err
    assert "0 sessions, 0 rows and 0 texts were sent" in demo_terminal.run("sync").err
    own = demo_terminal.run("status", "--all", "--json").json["sessions"]
    demo_terminal.set_env(HOLDFAST_DATABASE="")
    assert [session["id"] for session in own] == [
        session["id"] for session in demo_terminal.run("status", "--all", "--json").json["sessions"]
    ]


def test_sync_without_a_team_is_an_error_with_a_hint(terminal: Terminal) -> None:
    result = terminal.run("sync")
    assert result.code == 1
    assert "No team database is configured" in result.err


def test_sync_to_an_unreachable_team_keeps_the_backlog(demo_terminal: Terminal) -> None:
    demo_terminal.set_env(HOLDFAST_DATABASE=f"postgresql://ada:{SECRET}@127.0.0.1:1/team")
    result = demo_terminal.run("sync")
    assert result.code == 1
    assert SECRET not in result.err
    assert demo_terminal.run("sync", "--status", "--json").json["sessions"] == 1


def test_pushed_handoffs_are_shown_if_a_team_is_configured(
    terminal: Terminal, migrated_postgres_url: str
) -> None:
    add_colleague_session(migrated_postgres_url, "theirs")
    with closing(PostgresStore.at(migrated_postgres_url)) as store:
        ident = store.add_handoff(
            "theirs", agent="a1", content={"context_summary": "found it"}, raw="all the words",
            agent_type="Explore", task="look", line=3, status="completed", decision="PROCEED",
            tokens_before=9, tokens_after=2, now=5.0,
        )  # fmt: skip
    assert terminal.run("handoff", "show", ident).code == 1
    terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    (handoff,) = terminal.run("handoff", "list", "--session", "theirs", "--json").json
    assert (handoff["id"], handoff["context_summary"]) == (ident, "found it")
    assert terminal.run("handoff", "show", ident, "--raw").out == "all the words\n"


def test_gc_deletes_old_data_of_a_team(terminal: Terminal, migrated_postgres_url: str) -> None:
    terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    assert terminal.run("gc", "--team", "--dry-run", "--json").json["snapshots"] == 0


def test_tokens_of_a_team_are_in_the_team_database(
    terminal: Terminal, migrated_postgres_url: str
) -> None:
    terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    terminal.run("token", "new", "ci")
    assert len(terminal.run("token", "list", "--json").json) == 1
    terminal.set_env(HOLDFAST_DATABASE="")
    assert terminal.run("token", "list", "--json").json == []
