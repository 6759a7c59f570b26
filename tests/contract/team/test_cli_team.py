"""Commands that read the team database, and commands that stay on this machine."""

from __future__ import annotations

from contextlib import closing

import pytest

from holdfast.state.fold import new_state
from holdfast.store.postgres import PostgresStore
from tests.postgres import Server
from tests.terminal import Terminal

from .colleagues import FOREIGN, THEIRS

SECRET = "hunter2-very-secret"


def session_of_a_colleague(url: str, session: str) -> str:
    with closing(PostgresStore.at(url)) as store:
        store.save_session(
            session=session, host="claude-code", project="/elsewhere", transcript="/gone.jsonl",
            cursor=None, state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        return store.add_snapshot(session, "auto", new_state(), 2.0)


def test_commands_show_what_colleagues_saved_if_a_team_is_configured(
    terminal: Terminal, postgres_place: str
) -> None:
    ident = session_of_a_colleague(postgres_place, "theirs")
    assert terminal.run("status", "--all", "--json").json["sessions"] == []
    terminal.set(HOLDFAST_DATABASE=postgres_place)
    seen = terminal.run("status", "--all", "--json").json["sessions"]
    assert [one["id"] for one in seen] == ["theirs"]
    assert terminal.run("snapshots", "--session", "theirs", "--json").json[0]["id"] == ident
    assert terminal.run("snapshot", "show", ident, "--json").json["session"] == "theirs"


def test_lookups_and_notes_stay_on_this_machine(seasoned: Terminal, postgres_place: str) -> None:
    here = seasoned.run("recall", "L3")
    assert here.code == 0
    seasoned.set(HOLDFAST_DATABASE=postgres_place)
    assert seasoned.run("recall", "L3").out == here.out


def test_what_colleagues_sent_is_found_with_the_team_option(member: Terminal) -> None:
    alone = member.run("recall", "obelisk")
    assert (alone.code, alone.out) == (1, "")
    assert "--team also searches" in alone.err
    ran = member.run("recall", "obelisk", "--team", "--json")
    (hit,) = ran.json["hits"]
    assert (hit["ref"], hit["source"]) == (f"{THEIRS}:L1", "team's copy")
    assert "another machine" in ran.json["notes"][0]
    everywhere = member.run("recall", "obelisk", "--team", "--all-projects", "--json").json["hits"]
    assert {one["session"] for one in everywhere} == {THEIRS, FOREIGN}


def test_own_sessions_are_found_too_and_only_once(member: Terminal) -> None:
    member.run("sync")
    found = member.run("recall", "full jitter", "--team", "--max-tokens", 4000, "--json").json
    sources = [hit["source"] for hit in found["hits"]]
    assert {"transcript", "team's copy"} == set(sources)
    assert sources.count("team's copy") == 1
    first = member.run("recall", "full jitter", "--json").json["hits"][0]
    assert first in found["hits"]


def test_a_colleague_s_ref_opens_and_says_where_it_comes_from(member: Terminal) -> None:
    for command in ("recall", "show"):
        ran = member.run(command, f"{THEIRS}:L1")
        assert ran.code == 0
        assert "the obelisk stands at bin/obelisk.py" in ran.out
        assert "team's copy" in ran.err
        hidden = member.run(command, f"{FOREIGN}:L1")
        assert hidden.code == 1
        assert "in this project" in hidden.err
        assert member.run(command, f"{FOREIGN}:L1", "--all-projects").code == 0
        gone = member.run(command, f"{THEIRS}:L99")
        assert (gone.code, gone.out) == (1, "")
        unknown = member.run(command, f"{THEIRS[:-1]}0:L1")
        assert "neither here nor in the team database" in unknown.err


def test_a_colleague_s_session_can_be_searched_by_its_id(member: Terminal) -> None:
    ran = member.run("recall", "jitter", "--team", "--session", THEIRS, "--json")
    assert [hit["ref"] for hit in ran.json["hits"]] == [f"{THEIRS}:L2"]


def test_an_unknown_session_is_an_error(member: Terminal) -> None:
    ran = member.run("recall", "jitter", "--team", "--session", "nobody's")
    assert (ran.code, ran.out) == (1, "")
    assert "neither here nor in the team database" in ran.err


def test_a_machine_without_sessions_finds_what_the_team_did(
    terminal: Terminal, colleague: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.services.recall.team_lookup.to_project_id", lambda *_: "shared")
    terminal.set(HOLDFAST_DATABASE=colleague)
    assert terminal.run("recall", "obelisk").code == 1
    assert terminal.run("recall", "obelisk", "--team").out.startswith(f"{THEIRS}:L1 prompt")


def test_the_team_option_without_a_team_is_an_error(seasoned: Terminal) -> None:
    ran = seasoned.run("recall", "jitter", "--team")
    assert ran.code == 1
    assert "No team database is configured" in ran.err


def test_doctor_says_whether_the_team_s_store_answers(terminal: Terminal, postgres: Server) -> None:
    def finding() -> dict[str, str]:
        findings = terminal.run("doctor", "--json").json["findings"]
        return next((one for one in findings if one["name"] == "team store"), {})

    assert finding() == {}
    with postgres.schema() as url:
        terminal.set(HOLDFAST_DATABASE=url)
        assert finding()["status"] == "ok"
    terminal.set(HOLDFAST_DATABASE=f"postgresql://ada:{SECRET}@127.0.0.1:1/team")
    assert finding()["status"] == "fail"
    assert "postgresql://ada@127.0.0.1:1/team" in finding()["detail"]
    assert SECRET not in str(finding())


def test_an_invalid_address_is_an_error_and_is_not_printed(terminal: Terminal) -> None:
    terminal.set(HOLDFAST_DATABASE=SECRET)
    ran = terminal.run("status")
    assert ran.code == 1
    assert "HOLDFAST_DATABASE is not a PostgreSQL address" in ran.err
    assert "hint:" in ran.err
    assert SECRET not in ran.err


def test_sync_sends_what_waits_and_says_how_much(seasoned: Terminal, postgres_place: str) -> None:
    seasoned.set(HOLDFAST_DATABASE=postgres_place)
    status = seasoned.run("sync", "--status", "--json").json
    assert (status["sessions"], status["last"]) == (1, None)
    sent = seasoned.run("sync", "--json").json
    assert sent["sessions"] == 1
    assert sent["rows"] > 50, "the requests, the plan and every tool call"
    assert sent["texts"] > 100, "every prompt, reply, call and result"
    waits = "0 sessions, 0 rows and the texts of 0 sessions are waiting"
    assert waits in seasoned.run("sync", "--status").err
    assert "0 sessions, 0 rows and 0 texts were sent" in seasoned.run("sync").err
    own = seasoned.run("status", "--all", "--json").json["sessions"]
    seasoned.set(HOLDFAST_DATABASE="")
    assert [one["id"] for one in own] == [
        one["id"] for one in seasoned.run("status", "--all", "--json").json["sessions"]
    ]


def test_sync_without_a_team_is_an_error_with_a_hint(terminal: Terminal) -> None:
    ran = terminal.run("sync")
    assert ran.code == 1
    assert "No team database is configured" in ran.err


def test_sync_to_an_unreachable_team_keeps_everything(seasoned: Terminal) -> None:
    seasoned.set(HOLDFAST_DATABASE=f"postgresql://ada:{SECRET}@127.0.0.1:1/team")
    ran = seasoned.run("sync")
    assert ran.code == 1
    assert SECRET not in ran.err
    assert seasoned.run("sync", "--status", "--json").json["sessions"] == 1


def test_pushed_handoffs_are_shown_if_a_team_is_configured(
    terminal: Terminal, postgres_place: str
) -> None:
    session_of_a_colleague(postgres_place, "theirs")
    with closing(PostgresStore.at(postgres_place)) as store:
        ident = store.add_handoff(
            "theirs", agent="a1", content={"context_summary": "found it"}, raw="all the words",
            agent_type="Explore", task="look", line=3, status="completed", decision="PROCEED",
            tokens_before=9, tokens_after=2, now=5.0,
        )  # fmt: skip
    assert terminal.run("handoff", "show", ident).code == 1
    terminal.set(HOLDFAST_DATABASE=postgres_place)
    (seen,) = terminal.run("handoff", "list", "--session", "theirs", "--json").json
    assert (seen["id"], seen["context_summary"]) == (ident, "found it")
    assert terminal.run("handoff", "show", ident, "--raw").out == "all the words\n"


def test_gc_deletes_old_data_of_a_team(terminal: Terminal, postgres_place: str) -> None:
    terminal.set(HOLDFAST_DATABASE=postgres_place)
    assert terminal.run("gc", "--team", "--dry-run", "--json").json["snapshots"] == 0


def test_tokens_of_a_team_are_in_the_team_database(terminal: Terminal, postgres_place: str) -> None:
    terminal.set(HOLDFAST_DATABASE=postgres_place)
    terminal.run("token", "new", "ci")
    assert len(terminal.run("token", "list", "--json").json) == 1
    terminal.set(HOLDFAST_DATABASE="")
    assert terminal.run("token", "list", "--json").json == []
