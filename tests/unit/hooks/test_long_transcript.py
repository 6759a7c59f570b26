"""A transcript that is too long for a hook's deadline: a brief at once, the complete one later."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import processes
from holdfast.demo import append_lines, load_demo
from holdfast.hooks import background_fold, main
from holdfast.hosts.hook_event import HookEvent
from holdfast.services.compaction import ingest
from holdfast.services.compaction.ingest import ingest_transcript
from holdfast.state.fold import advance, new_state
from holdfast.state.types import State
from holdfast.store import codec
from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript import reader
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

DEMO = load_demo("/srv/courier", "s1", 1_760_000_000.0)
CHUNK_BYTES, TAIL_BYTES = 4096, 20_000
FIRST_WORDS, LAST_WORDS = "Paint the lighthouse.", "Count the seagulls."


def make_prompt(text: str, number: int) -> dict[str, object]:
    return {
        "type": "user", "uuid": f"long-{number}", "timestamp": f"2026-01-01T00:00:{number:02}Z",
        "message": {"role": "user", "content": text}, "cwd": "/srv/courier", "sessionId": "s1",
    }  # fmt: skip


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """The demo session between two requests; far longer than the tail."""
    path = tmp_path / "s1.jsonl"
    append_lines(path, [make_prompt(FIRST_WORDS, 1), *DEMO.before, make_prompt(LAST_WORDS, 2)])
    assert path.stat().st_size > 4 * TAIL_BYTES
    return path


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader looks at the clock after each 4 KB, and the tail is 20 KB."""
    monkeypatch.setattr(reader, "CHUNK_BYTES", CHUNK_BYTES)
    monkeypatch.setattr(ingest, "TAIL_BYTES", TAIL_BYTES)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "home" / "holdfast.db"))) as store:
        yield store


def fold_transcript(path: Path, until_line: int | None = None) -> State:
    state = new_state()
    advance(state, decode(read_lines(str(path), until_line)))
    return codec.decode_state(codec.encode_state(state))


def list_requests(state: State) -> list[str]:
    return [request["text"] for request in state["requests"]]


def load_state(store: SQLiteStore) -> State:
    row = store.session("s1")
    assert row is not None
    return row["state"]


def test_a_session_without_time_has_the_beginning_and_the_end_of_its_transcript(
    transcript: Path, store: SQLiteStore
) -> None:
    event = HookEvent(host="claude-code", name="", session_id="s1", transcript_path=str(transcript))
    session = ingest_transcript(store, event, 1.0, stop=lambda: True)
    store.commit()
    assert session.unread is not None
    first, last = session.unread
    lines = transcript.read_bytes().splitlines(keepends=True)
    assert TAIL_BYTES - len(lines[last]) < sum(map(len, lines[last:])) <= TAIL_BYTES
    requests = list_requests(session.state)
    assert (requests[0], requests[-1]) == (FIRST_WORDS, LAST_WORDS)
    assert session.state["requests"][-1]["line"] == session.state["lines"] == len(lines)
    # Only what was folded without a gap is saved.
    saved = load_state(store)
    assert saved["lines"] < first
    assert saved == fold_transcript(transcript, until_line=first - 1)
    row = store.session("s1")
    assert row is not None
    assert row["first_line"] == len(lines), "Holdfast first saw the transcript at its end"


def test_the_next_processes_complete_the_fold(transcript: Path, store: SQLiteStore) -> None:
    event = HookEvent(host="claude-code", name="", session_id="s1", transcript_path=str(transcript))
    for _ in range(1000):
        session = ingest_transcript(store, event, 1.0, stop=lambda: True)
        store.commit()
        if session.is_complete:
            break
    assert load_state(store) == fold_transcript(transcript)
    assert session.state == load_state(store)


def test_a_line_that_the_host_is_still_writing_is_not_taken_for_unread_lines(
    transcript: Path, store: SQLiteStore
) -> None:
    event = HookEvent(host="claude-code", name="", session_id="s1", transcript_path=str(transcript))
    ingest_transcript(store, event, 1.0)
    store.commit()
    with transcript.open("ab") as file:
        file.write(b'{"type": "user", "text": "' + b"x" * 2 * TAIL_BYTES)
    assert ingest_transcript(store, event, 1.0, stop=lambda: True).is_complete
    store.commit()


@pytest.fixture
def hooks(transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LateHooks]:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(main, "OPEN_STORES", [])
    monkeypatch.setattr(main, "_exit_after", lambda *_: lambda: None)
    hooks = LateHooks(transcript)
    monkeypatch.setattr(background_fold, "start", lambda *_: hooks.started.append("fold"))
    yield hooks
    for store in main.OPEN_STORES:
        store.close()


class LateHooks:
    """Runs hooks of the session in this process; they have no time unless they are told so."""

    def __init__(self, transcript: Path) -> None:
        self.transcript = transcript
        self.started: list[str] = []

    def run(self, event: str, *, has_time: bool = False, **fields: str) -> str:
        payload = {"hook_event_name": event, "session_id": "s1", "cwd": "/srv", **fields}
        payload["transcript_path"] = str(self.transcript)
        started = time.perf_counter() - (0 if has_time else 1000)
        return main.run_hook(json.dumps(payload).encode(), started)

    def run_for_context(self, event: str, *, has_time: bool = False, **fields: str) -> str:
        output = self.run(event, has_time=has_time, **fields)
        context = json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""
        return str(context)


def test_a_compaction_without_time_gets_a_brief_and_the_next_prompt_completes_it(
    hooks: LateHooks, store: SQLiteStore
) -> None:
    assert hooks.run("PreCompact", trigger="auto")
    assert store.snapshots("s1") == []
    append_lines(hooks.transcript, DEMO.after(transcript_path=str(hooks.transcript))[:2])
    brief = hooks.run_for_context("SessionStart", source="compact")
    assert FIRST_WORDS in brief
    assert LAST_WORDS in brief
    assert "were not read yet" in brief
    assert hooks.started == ["fold", "fold"]
    assert store.compactions("s1") == [], "the number of the compaction is not known yet"
    # Still no time: the prompt is not delayed, and the brief stays due.
    assert hooks.run("UserPromptSubmit", prompt="go on") == ""
    complete = hooks.run_for_context("UserPromptSubmit", has_time=True, prompt="go on")
    assert "were not read yet" not in complete
    assert LAST_WORDS in complete
    (row,) = store.compactions("s1")
    assert (row["ordinal"], row["delivered_by"]) == (1, "UserPromptSubmit")
    assert hooks.run("UserPromptSubmit", has_time=True, prompt="go on") == ""
    assert load_state(store) == fold_transcript(hooks.transcript)


def test_nothing_is_recorded_from_an_incomplete_state(hooks: LateHooks, store: SQLiteStore) -> None:
    hooks.run("Stop")
    hooks.run("SubagentStop", agent_type="compact", last_assistant_message="<summary>x</summary>")
    hooks.run("PostCompact", compact_summary="x")
    assert (store.snapshots("s1"), store.compactions("s1")) == ([], [])
    assert load_state(store)["lines"] < fold_transcript(hooks.transcript)["lines"]


def test_the_background_process_folds_the_rest(transcript: Path, store: SQLiteStore) -> None:
    event = HookEvent(host="claude-code", name="", session_id="s1", transcript_path=str(transcript))
    assert not ingest_transcript(store, event, 1.0, stop=lambda: True).is_complete
    store.commit()
    command = processes.build_command(background_fold.__name__, store.path, "s1")
    subprocess.run(command, check=True, timeout=60)
    assert load_state(store) == fold_transcript(transcript)
