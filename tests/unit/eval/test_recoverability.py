"""Is what is needed after a compaction in the brief, or one lookup away?"""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.recoverability import Lookups, LookupTrial, summarize, try_session
from holdfast.eval.session import Session, load_session
from tests.unit.eval.test_run import work
from tests.unit.eval.transcript import said, session_file, summarised


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return load_session(session_file(tmp_path, said("go"), work(40), summarised("gist"), work(15)))


def test_everything_needed_is_tried_in_every_way(session: Session) -> None:
    asked: list[str] = []

    def by_words(path: str, words: str) -> list[str]:
        asked.append(words)
        return ["nothing", "at", "all", words]

    found = list(try_session(session, Lookups(by_words=by_words, at_line=lambda path, line: [])))
    assert found
    # The fourth hit is one too many, and a ref that opens nothing has not been of use.
    assert not any(one.by_itself or one.by_neighbours or one.by_ref for one in found)
    assert {one.name for one in found} <= set(asked)


def test_a_lookup_sees_the_log_as_it_was_before_the_compaction(session: Session) -> None:
    def by_words(path: str, words: str) -> list[str]:
        text = Path(path).read_text(encoding="utf-8")
        assert "gist" not in text
        return [text]

    def at_line(path: str, line: int) -> list[str]:
        return [Path(path).read_text(encoding="utf-8").splitlines()[line - 1]]

    found = list(try_session(session, Lookups(by_words=by_words, at_line=at_line)))
    assert all(one.by_itself and one.by_ref for one in found)


def test_the_shares_are_of_all_and_of_each_kind() -> None:
    def one(kind: str, *, found: bool) -> LookupTrial:
        return LookupTrial(
            session="s", line=9, kind=kind, name="n", in_brief=False, by_itself=found,
            by_neighbours=False, by_ref=True,
        )  # fmt: skip

    told = summarize(
        [one("files", found=True), one("files", found=False), one("commands", found=True)]
    )
    assert (told["entities"], told["sessions"], told["compactions"]) == (3, 1, 1)
    either = told["shares"][3]
    assert either["aim"] == 0.99
    assert either["all"] == pytest.approx(2 / 3)
    assert (either["files"], either["commands"]) == (0.5, 1.0)
    assert [lost["kind"] for lost in told["lost"]] == ["files"]
