"""Words of a search are marked where they begin, and long texts are cut around them."""

from __future__ import annotations

from holdfast.server.web.marked_text import FOUND, find_densest, mark_words


def marked(text: str, *words: str) -> list[str]:
    pieces = mark_words(text, words)
    assert "".join(piece.text for piece in pieces) == text
    return [piece.text for piece in pieces if piece.color == FOUND]


def test_words_are_marked_at_their_beginning_in_any_spelling() -> None:
    for text, words, found in (
        ("The Lock and the lock", ["lock"], ["Lock", "lock"]),
        ("Blocking clock", ["lock"], []),
        ("file_lock LazyLock xml2Lock", ["lock"], ["lock", "Lock", "Lock"]),
        ("src/worker.py:49 worker", ["src/worker.py", "worker"], ["src/worker.py", "worker"]),
        ("a => b", ["=>"], ["=>"]),
        ("a.b*c(d", ["b*c("], ["b*c("]),
        ("öffnen ÖFFNEN", ["öffnen"], ["öffnen", "ÖFFNEN"]),
        ("nothing", [], []),
        ("nothing", [""], []),
    ):
        assert marked(text, *words) == found, text


def test_the_place_with_most_different_words_is_found() -> None:
    text = "lock " * 5 + "x" * 400 + " the file lock"
    assert text[find_densest(text, ["file", "lock"]) :] == "file lock"
    assert find_densest("nothing", ["file"]) == 0
    assert find_densest("nothing", []) == 0
