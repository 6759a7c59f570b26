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
from tests.cases import case

from .kit import ERROR, FILE, REQUEST, SAMPLES, SESSION, Line
from .stage import Stage, staged

TEXTS = ("NAME", "TITLE", "PROGRAM", "EMPTY_SETTINGS", "AFTER_INSTALL")
ANNOUNCED = [
    host.NAME
    for host in hosts.all_hosts()
    if not host.TRANSCRIPT_MARKS_COMPACTION and {"prompt", "save"} <= {*SAMPLES[host.NAME].moments}
]


@pytest.fixture(params=[*hosts.HOSTS])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return staged(request.param, tmp_path)


def payloads(stage: Stage) -> Iterator[Line]:
    yield from (stage.payload(moment) for moment in stage.sample.moments)


def test_an_adapter_defines_every_constant(stage: Stage) -> None:
    host = stage.host
    assert all(isinstance(getattr(host, name), str) and getattr(host, name) for name in TEXTS)
    assert hosts.find_host(host.NAME) is host
    assert 0 < host.MAX_BRIEF_UNITS < 10_000
    assert set(host.SUPPORT) == {"save", "restore", "summariser", "replace"}
    assert set(host.SUPPORT.values()) <= {"real client", "documentation", "changelog", ""}
    assert stage.sample.restores_with in stage.sample.moments


def test_each_payload_is_recognized_by_its_host_alone(stage: Stage) -> None:
    for payload in payloads(stage):
        assert hosts.detect_host(payload) is stage.host, payload


def test_every_event_is_registered_and_parsed(stage: Stage) -> None:
    registered = stage.host.events_for(None)
    for payload in payloads(stage):
        assert payload["hook_event_name"] in registered
        event = stage.host.parse_payload(payload)
        assert (event.host, event.session_id) == (stage.host.NAME, SESSION)
        assert (event.transcript_path, event.cwd) == (str(stage.log), str(stage.project))


def test_a_field_of_the_wrong_type_never_raises(stage: Stage) -> None:
    for wrong in [None, 7, [], {}, True]:
        with case(wrong):
            for payload in payloads(stage):
                for name in payload:
                    changed = {**payload, name: wrong}
                    stage.host.recognizes(changed)
                    assert isinstance(stage.host.parse_payload(changed), HookEvent)


@pytest.mark.parametrize("before", [None, '{\n    "mine": [1, 2],\n    "hooks": {}\n}\n'])
def test_a_second_install_changes_nothing_and_uninstall_restores_the_file(
    stage: Stage, before: str | None
) -> None:
    path = Path(stage.host.settings_path(stage.environ, None))
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)
    home = stage.environ["HOLDFAST_HOME"]
    for needed in (True, False):
        change = registration.plan_install(str(path), "", home, host=stage.host)
        assert change.is_needed is needed
        registration.install(change, home)
    settings = hook_settings.parse_settings(path.read_text(), str(path))
    assert [*hook_settings.find_our_entries(settings)] == stage.host.events_for(None)
    assert stage.host.is_installed(stage.environ, "")
    registration.uninstall(registration.plan_uninstall(str(path), home), home)
    assert (path.read_text() if path.exists() else None) == before


def test_its_transcript_is_read(stage: Stage) -> None:
    stage.write(stage.sample.before(str(stage.project)))
    state = load_state(str(stage.log))
    assert [request["text"] for request in state["requests"]] == [REQUEST]
    if stage.host.NAME != "deepagents":
        (edits,) = [trail["edits"] for name, trail in state["files"].items() if FILE in name]
        assert edits == 1
        (check,) = state["checks"]
        assert (check["ok"], check["runs"], ERROR in check["error"]) == (False, 1, True)


def test_what_was_saved_before_a_compaction_is_put_back_once(stage: Stage) -> None:
    sample = stage.sample
    stage.install()
    assert stage.fire("start") == {}
    stage.write(sample.before(str(stage.project)))
    stage.fire("stop")
    stage.announce_compaction()
    stage.write(sample.boundary())
    brief = stage.restore()
    assert "Never touch the migrations folder" in brief
    assert FILE in brief
    assert len(brief) <= stage.host.MAX_BRIEF_UNITS
    stage.write(sample.records(brief))
    stage.write(sample.after())
    if "prompt" in sample.moments:
        assert stage.fire("prompt") == {}
    assert stage.fire("stop") == {}
    assert stage.fire("end") == {}
    store = stage.store()
    try:
        saved = store.session(SESSION)
        assert saved is not None
        assert saved["host"] == stage.host.NAME
        assert [request["text"] for request in saved["state"]["requests"]] == [REQUEST]
        assert [name for name in saved["state"]["files"] if name.startswith("/")] == []
        receipts = {row["receipt"] for row in store.compactions(SESSION)}
        proven = stage.host.SUPPORT["restore"] == "real client"
        assert receipts == ({"whole"} if proven else {"unproven"})
        assert store.snapshots(SESSION)
    finally:
        store.close()


def test_a_second_compaction_is_restored_too(stage: Stage) -> None:
    sample = stage.sample
    stage.install()
    stage.write(sample.before(str(stage.project)))
    briefs = []
    for number in range(2):
        stage.fire("stop")
        stage.announce_compaction()
        boundary = json.loads(json.dumps(sample.boundary()).replace('"m9"', f'"m9{number}"'))
        stage.write(boundary)
        briefs.append(stage.restore())
        stage.write([*sample.records(briefs[-1]), *sample.after()])
    assert all(FILE in brief for brief in briefs)
    store = stage.store()
    try:
        assert [row["ordinal"] for row in store.compactions(SESSION)] == [1, 2]
    finally:
        store.close()


@pytest.mark.parametrize("stage", ANNOUNCED, indirect=True)
def test_a_brief_that_was_not_fetched_comes_with_the_next_prompt(stage: Stage) -> None:
    """Where the transcript does not show a compaction, the PreCompact hook has to be enough."""
    sample = stage.sample
    stage.write(sample.before(str(stage.project)))
    assert stage.fire("prompt") == {}
    stage.fire("save")
    assert FILE in sample.shown(stage.fire("prompt"))
    assert stage.fire("prompt") == {}
