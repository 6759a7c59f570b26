"""A JSON text is changed only where something changes, and every change can be undone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosts.json_edit import Layout, Splice, child_spans, find_member, insert, remove
from tests.unit.hosts.documents import documents

QUICK = settings(max_examples=60, deadline=None)


def opening(text: str) -> int:
    return text.index("{")


@QUICK
@given(documents())
def test_spans_cover_the_members_as_written(text: str) -> None:
    found, close = child_spans(text, opening(text))
    assert text[close] == "}"
    pairs = [(span.key, json.loads(text[span.value : span.end])) for span in found]
    assert pairs == json.loads(text.lstrip("\ufeff"), object_pairs_hook=Top)
    for span, (key, value) in zip(found, pairs, strict=True):
        assert json.loads("{" + text[span.start : span.end] + "}") == {key: value}


class Top(list[tuple[str, object]]):
    """The outermost object as pairs; the inner ones become what `json` makes of them."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__((key, plain(value)) for key, value in pairs)


def plain(value: object) -> object:
    if isinstance(value, Top):
        return dict(value)
    return [plain(part) for part in value] if isinstance(value, list) else value


def test_the_last_member_of_a_repeated_key_is_found() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    found = find_member(text, 0, "a")
    assert found is not None
    assert text[found.value : found.end] == "3"
    assert find_member(text, 0, "c") is None


def test_a_key_is_found_however_it_is_escaped() -> None:
    assert find_member('{"hook\\u0073": 1}', 0, "hooks") is not None


@QUICK
@given(documents(), st.integers(0, 5))
def test_removing_a_member_leaves_the_others_unchanged(text: str, number: int) -> None:
    found, _ = child_spans(text, opening(text))
    if number >= len(found):
        return
    change = remove(text, opening(text), number)
    left, _ = child_spans(change.apply(text), opening(text))
    others = found[:number] + found[number + 1 :]
    assert [change.apply(text)[span.start : span.end] for span in left] == [
        text[span.start : span.end] for span in others
    ]
    assert change.undo(change.apply(text)) == text


@QUICK
@given(documents(), st.sampled_from([{}, [], {"a": ["é", {"b": None}]}, "x"]))
def test_an_inserted_member_comes_last_and_can_be_undone(text: str, value: object) -> None:
    change = insert(text, opening(text), "ours ✓", value, 1, Layout.of(text))
    longer = change.apply(text)
    before, after = child_spans(text, opening(text))[0], child_spans(longer, opening(text))[0]
    assert [text[span.start : span.end] for span in before] == [
        longer[span.start : span.end] for span in after[:-1]
    ]
    assert after[-1].key == "ours ✓"
    assert json.loads(longer[after[-1].value : after[-1].end]) == value
    assert change.undo(longer) == text


@pytest.mark.parametrize(
    ("text", "indent", "newline"),
    [
        ('{\n  "a": 1\n}', "  ", "\n"),
        ('{\r\n    "a": 1\r\n}', "    ", "\r\n"),
        ('{\n\t"a": 1\n}', "\t", "\n"),
        ('{\n"a": 1\n}', "", "\n"),
        ('{"a": 1,\n "b": 2}', None, "\n"),
        ("{}\n", "  ", "\n"),
        ("{\r\n}", "  ", "\r\n"),
    ],
)
def test_the_layout_is_that_of_the_first_member(
    text: str, indent: str | None, newline: str
) -> None:
    assert Layout.of(text) == Layout(indent, newline)


@pytest.mark.parametrize("indent", [2, 4, "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_new_member_follows_the_layout_of_the_file(indent: int | str, newline: str) -> None:
    before, after = {"a": {"b": 1}}, {"a": {"b": 1}, "c": {"d": [1, {"e": 2}]}}
    text = json.dumps(before, indent=indent).replace("\n", newline)
    change = insert(text, 0, "c", after["c"], 1, Layout.of(text))
    assert change.apply(text) == json.dumps(after, indent=indent).replace("\n", newline)


def test_a_new_element_is_appended() -> None:
    text = '{\n  "a": [\n    1\n  ]\n}'
    change = insert(text, text.index("["), "", 2, 2, Layout.of(text))
    assert change.apply(text) == '{\n  "a": [\n    1,\n    2\n  ]\n}'


def test_a_splice_knows_what_it_replaced() -> None:
    assert Splice(1, "bc", "X").apply("abcd") == "aXd"
    assert Splice(1, "bc", "X").undo("aXd") == "abcd"
