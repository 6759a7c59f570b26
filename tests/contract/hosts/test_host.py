"""One suite for every host: its adapter, its settings file, and a whole save and restore."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import hosts
from holdfast.hosts import hook_settings
from holdfast.hosts.hook_event import HookEvent
from holdfast.services.install import registration
from holdfast.services.recall.from_file import load_state
from tests.cases import report_case

from .host_session import HostSession, create_host_session
from .kit import ERROR, FILE, REQUEST, SAMPLES, SESSION, Line

TEXT_CONSTANTS = ("NAME", "TITLE", "PROGRAM", "EMPTY_SETTINGS", "AFTER_INSTALL")
WITH_PRECOMPACT_AND_PROMPT = [
    host.NAME
    for host in hosts.all_hosts()
    if not host.TRANSCRIPT_MARKS_COMPACTION and {"prompt", "save"} <= {*SAMPLES[host.NAME].events}
]


@pytest.fixture(params=[*hosts.HOSTS])
def host_session(request: pytest.FixtureRequest, tmp_path: Path) -> HostSession:
    return create_host_session(request.param, tmp_path)


def payloads(host_session: HostSession) -> Iterator[Line]:
    yield from (host_session.payload(event) for event in host_session.sample.events)


def test_an_adapter_defines_every_constant(host_session: HostSession) -> None:
    host = host_session.host
    assert all(
        isinstance(getattr(host, name), str) and getattr(host, name) for name in TEXT_CONSTANTS
    )
    assert hosts.find_host(host.NAME) is host
    assert 0 < host.MAX_BRIEF_UNITS < 10_000
    assert set(host.SUPPORT) == {"save", "restore", "summariser", "replace"}
    assert set(host.SUPPORT.values()) <= {"real client", "documentation", "changelog", ""}
    assert host_session.sample.restores_with in host_session.sample.events


def test_each_payload_is_recognized_by_its_host_alone(host_session: HostSession) -> None:
    for payload in payloads(host_session):
        assert hosts.detect_host(payload) is host_session.host, payload


def test_every_event_is_registered_and_parsed(host_session: HostSession) -> None:
    registered = host_session.host.events_for(None)
    for payload in payloads(host_session):
        assert payload["hook_event_name"] in registered
        event = host_session.host.parse_payload(payload)
        assert (event.host, event.session_id) == (host_session.host.NAME, SESSION)
        assert (event.transcript_path, event.cwd) == (
            str(host_session.log),
            str(host_session.project),
        )


def test_a_field_of_the_wrong_type_never_raises(host_session: HostSession) -> None:
    for wrong in [None, 7, [], {}, True]:
        with report_case(wrong):
            for payload in payloads(host_session):
                for name in payload:
                    changed = {**payload, name: wrong}
                    host_session.host.recognizes(changed)
                    assert isinstance(host_session.host.parse_payload(changed), HookEvent)


@pytest.mark.parametrize("before", [None, '{\n    "mine": [1, 2],\n    "hooks": {}\n}\n'])
def test_a_second_install_changes_nothing_and_uninstall_restores_the_file(
    host_session: HostSession, before: str | None
) -> None:
    path = Path(host_session.host.settings_path(host_session.environ, None))
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)
    home = host_session.environ["HOLDFAST_HOME"]
    for needed in (True, False):
        change = registration.plan_install(str(path), "", home, host=host_session.host)
        assert change.is_needed is needed
        registration.install(change, home)
    settings = hook_settings.parse_settings(path.read_text(), str(path))
    assert [*hook_settings.find_our_entries(settings)] == host_session.host.events_for(None)
    assert host_session.host.is_installed(host_session.environ, "")
    registration.uninstall(registration.plan_uninstall(str(path), home), home)
    assert (path.read_text() if path.exists() else None) == before


def test_the_transcript_of_the_host_is_read(host_session: HostSession) -> None:
    host_session.write(host_session.sample.before(str(host_session.project)))
    state = load_state(str(host_session.log))
    assert [request["text"] for request in state["requests"]] == [REQUEST]
    if host_session.host.NAME != "deepagents":
        (edits,) = [trail["edits"] for name, trail in state["files"].items() if FILE in name]
        assert edits == 1
        (check,) = state["checks"]
        assert (check["ok"], check["runs"], ERROR in check["error"]) == (False, 1, True)


def test_a_compaction_is_restored_once(host_session: HostSession) -> None:
    sample = host_session.sample
    host_session.install()
    assert host_session.fire("start") == {}
    host_session.write(sample.before(str(host_session.project)))
    host_session.fire("stop")
    host_session.announce_compaction()
    host_session.write(sample.boundary())
    brief = host_session.restore()
    assert "Never touch the migrations folder" in brief
    assert FILE in brief
    assert len(brief) <= host_session.host.MAX_BRIEF_UNITS
    host_session.write(sample.brief_lines(brief))
    host_session.write(sample.after())
    if "prompt" in sample.events:
        assert host_session.fire("prompt") == {}
    assert host_session.fire("stop") == {}
    assert host_session.fire("end") == {}
    store = host_session.store()
    try:
        session = store.session(SESSION)
        assert session is not None
        assert session["host"] == host_session.host.NAME
        assert [request["text"] for request in session["state"]["requests"]] == [REQUEST]
        assert [name for name in session["state"]["files"] if name.startswith("/")] == []
        receipts = {row["receipt"] for row in store.compactions(SESSION)}
        proven = host_session.host.SUPPORT["restore"] == "real client"
        assert receipts == ({"whole"} if proven else {"unproven"})
        assert store.snapshots(SESSION)
    finally:
        store.close()


def test_a_second_compaction_is_restored(host_session: HostSession) -> None:
    sample = host_session.sample
    host_session.install()
    host_session.write(sample.before(str(host_session.project)))
    briefs = []
    for number in range(2):
        host_session.fire("stop")
        host_session.announce_compaction()
        boundary = json.loads(json.dumps(sample.boundary()).replace('"m9"', f'"m9{number}"'))
        host_session.write(boundary)
        briefs.append(host_session.restore())
        host_session.write([*sample.brief_lines(briefs[-1]), *sample.after()])
    assert [brief for brief in briefs if "Never touch the migrations folder" not in brief] == []
    store = host_session.store()
    try:
        assert [row["ordinal"] for row in store.compactions(SESSION)] == [1, 2]
    finally:
        store.close()


@pytest.mark.parametrize("host_session", WITH_PRECOMPACT_AND_PROMPT, indirect=True)
def test_a_brief_that_was_not_delivered_is_sent_with_the_next_prompt(
    host_session: HostSession,
) -> None:
    """These transcripts do not show a compaction, so the PreCompact hook must announce it."""
    sample = host_session.sample
    host_session.write(sample.before(str(host_session.project)))
    assert host_session.fire("prompt") == {}
    host_session.fire("save")
    assert FILE in sample.extract_brief(host_session.fire("prompt"))
    assert host_session.fire("prompt") == {}
