"""Where sessions are cut, and which earlier names are used after a cut."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from holdfast.eval.cuts import PSEUDO, REAL, find_cuts
from holdfast.eval.references import find_references
from holdfast.eval.session import load_session, parse_session_name
from tests.unit.eval.transcript import (
    Line,
    bash,
    call,
    compaction_summary,
    edited,
    line,
    prompt,
    read,
    reply,
    session_file,
)


def read_files(count: int, start: int = 0) -> list[Line]:
    """The lines of reading this many files, one after the other."""
    return [line for number in range(start, start + count) for line in read(f"f{number}.py")]


def test_a_span_is_cut_at_seventy_per_cent_of_its_calls(tmp_path: Path) -> None:
    session = load_session(session_file(tmp_path, prompt("go"), read_files(40)))
    (cut,) = find_cuts(session)
    assert (cut.arm, cut.line, cut.last) == (PSEUDO, 2 + 2 * 28, 81)
    assert len([piece for piece in session.before(cut.line) if piece.kind == "call"]) == 28


def test_every_compaction_is_a_cut_and_spans_do_not_cross_it(tmp_path: Path) -> None:
    session = load_session(
        session_file(tmp_path, read_files(40), compaction_summary("gist"), read_files(50))
    )
    pseudo, real, second = find_cuts(session)
    assert (pseudo.arm, pseudo.last) == (PSEUDO, 80)
    assert (real.arm, real.line, real.first, real.last) == (REAL, 81, 83, 182)
    assert real.summary.endswith("gist")
    assert (second.arm, second.line) == (PSEUDO, 83 + 70)


@pytest.mark.parametrize(
    "marker",
    [
        [line("user", "This session is being continued from a previous conversation. Gist.")],
        [line("user", [{"type": "text", "text": "Gist."}], isCompactSummary=True)],
    ],
)
def test_older_clients_mark_a_compaction_by_its_summary_alone(
    tmp_path: Path, marker: list[Line]
) -> None:
    session = load_session(session_file(tmp_path, read_files(3), marker, read_files(12)))
    (real,) = [cut for cut in find_cuts(session) if cut.arm == REAL]
    assert (real.line, real.first) == (7, 8)
    assert "Gist." in real.summary


def test_there_is_no_cut_with_little_work_after_it(tmp_path: Path) -> None:
    assert find_cuts(load_session(session_file(tmp_path, read_files(30)))) == []
    assert (
        find_cuts(
            load_session(
                session_file(tmp_path, read_files(3), compaction_summary("x"), read_files(9))
            )
        )
        == []
    )


def test_parallel_calls_of_one_message_are_not_separated(tmp_path: Path) -> None:
    blocks = [
        {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"file_path": f"/repo/{n}.py"}}
        for n in range(5)
    ]
    parallel_calls = [
        {**line("assistant", [block]), "message": {"id": "m", "content": [block]}}
        for block in blocks
    ]
    session = load_session(
        session_file(tmp_path, read_files(27), parallel_calls, read_files(14, 50))
    )
    (cut,) = find_cuts(session)
    assert cut.line == 2 * 27 + 5 + 1


def test_references_are_names_seen_before_and_used_after_the_cut(tmp_path: Path) -> None:
    before = [
        *prompt("Fix parseConfig in src/a.py"),
        *read("src/a.py", text="def load_settings(): pass"),
        *bash("npm test -- --run"),
    ]
    after = [
        *edited("src/a.py"),
        *call("Grep", {"pattern": "load_settings", "path": "/repo/src"}, text="src/b.py"),
        *read("src/b.py"),
        *read("src/a.py"),
        *bash("npm  test -- --run | tail"),
        *call("Task", {"prompt": "look at parseConfig"}),
        *read_files(6),
    ]
    session = load_session(session_file(tmp_path, before, compaction_summary("src/b.py"), after))
    (cut,) = [cut for cut in find_cuts(session) if cut.arm == REAL]
    references = find_references(session, cut)
    assert references.weights == {
        ("P", "src/a.py"): 1 + log(2),
        ("I", "load_settings"): 1.0,
        ("C", "npm test -- --run"): 1.0,
    }


def test_names_used_from_memory_are_separated_from_rediscovered_ones(tmp_path: Path) -> None:
    before = [*read("src/a.py"), *read("src/b.py")]
    after = [
        *reply("On with src/a.py."),
        *bash("git status", stdout="modified: src/b.py"),
        *read("src/a.py"),
        *read("src/b.py"),
        *read_files(9),
    ]
    session = load_session(session_file(tmp_path, before, compaction_summary("gist"), after))
    (cut,) = [cut for cut in find_cuts(session) if cut.arm == REAL]
    assert find_references(session, cut).from_memory == {("P", "src/a.py")}


def test_names_in_thinking_old_summaries_and_sidechains_are_no_references(tmp_path: Path) -> None:
    thinking = line("assistant", [{"type": "thinking", "thinking": "src/a.py"}])
    sidechain = line("user", "src/b.py", isSidechain=True)
    steps = (
        [thinking, sidechain],
        compaction_summary("src/c.py"),
        read_files(1, 50),
        compaction_summary("x"),
    )
    after = [
        *read("src/a.py"),
        *read("src/b.py"),
        *read("src/c.py"),
        *read("f50.py"),
        *read_files(9),
    ]
    session = load_session(session_file(tmp_path, *steps, after))
    last = [cut for cut in find_cuts(session) if cut.arm == REAL][-1]
    assert set(find_references(session, last).weights) == {("P", "f50.py")}


@pytest.mark.parametrize(
    ("path", "session", "repository"),
    [
        ("x/owner__repo__abc.jsonl.gz", "abc", "owner__repo"),
        ("x/owner__repo__abc.clean.jsonl", "abc", "owner__repo"),
        ("projects/-home-me-code/abc.jsonl", "abc", "-home-me-code"),
    ],
)
def test_session_and_repository_are_parsed_from_the_path(
    path: str, session: str, repository: str
) -> None:
    assert parse_session_name(path) == (session, repository)
