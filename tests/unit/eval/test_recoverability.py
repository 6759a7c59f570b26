"""Whether names used after a compaction are in the brief or can be found by one lookup."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.recoverability import Lookups, LookupTrial, summarize, try_session
from holdfast.eval.session import Session, load_session
from tests.unit.eval.test_run import repeated_work
from tests.unit.eval.transcript import compaction_summary, prompt, session_file


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return load_session(
        session_file(
            tmp_path, prompt("go"), repeated_work(40), compaction_summary("gist"), repeated_work(15)
        )
    )


def test_every_name_is_looked_up_and_only_the_first_three_hits_count(session: Session) -> None:
    queries: list[str] = []

    def by_words(path: str, words: str) -> list[str]:
        queries.append(words)
        return ["nothing", "at", "all", words]

    trials = list(try_session(session, Lookups(by_words=by_words, at_line=lambda path, line: [])))
    assert trials
    # The name is only in the fourth hit, and refs open nothing.
    assert not any(trial.by_itself or trial.by_neighbours or trial.by_ref for trial in trials)
    assert {trial.name for trial in trials} <= set(queries)


def test_a_lookup_reads_the_transcript_up_to_the_compaction(session: Session) -> None:
    def by_words(path: str, words: str) -> list[str]:
        text = Path(path).read_text(encoding="utf-8")
        assert "gist" not in text
        return [text]

    def at_line(path: str, line: int) -> list[str]:
        return [Path(path).read_text(encoding="utf-8").splitlines()[line - 1]]

    trials = list(try_session(session, Lookups(by_words=by_words, at_line=at_line)))
    assert all(trial.by_itself and trial.by_ref for trial in trials)


def test_shares_are_computed_for_all_names_and_for_each_kind() -> None:
    def trial(kind: str, *, found: bool) -> LookupTrial:
        return LookupTrial(
            session="s", line=9, kind=kind, name="n", in_brief=False, by_itself=found,
            by_neighbours=False, by_ref=True,
        )  # fmt: skip

    summary = summarize(
        [trial("files", found=True), trial("files", found=False), trial("commands", found=True)]
    )
    assert (summary["entities"], summary["sessions"], summary["compactions"]) == (3, 1, 1)
    either = summary["shares"][3]
    assert either["aim"] == 0.99
    assert either["all"] == pytest.approx(2 / 3)
    assert (either["files"], either["commands"]) == (0.5, 1.0)
    assert [lost["kind"] for lost in summary["lost"]] == ["files"]
