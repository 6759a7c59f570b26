"""Editing JSON text changes only the affected part, and every change can be undone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosts.json_edit import Layout, Splice, child_spans, find_member, insert, remove
from tests.unit.hosts.settings_documents import documents

FEW_EXAMPLES = settings(max_examples=60, deadline=None)


def find_opening(text: str) -> int:
    return text.index("{")


@FEW_EXAMPLES
@given(documents())
def test_spans_cover_the_members_as_written(text: str) -> None:
    spans, close = child_spans(text, find_opening(text))
    assert text[close] == "}"
    pairs = [(span.key, json.loads(text[span.value : span.end])) for span in spans]
    assert pairs == json.loads(text.lstrip("\ufeff"), object_pairs_hook=Pairs)
    for span, (key, value) in zip(spans, pairs, strict=True):
        assert json.loads("{" + text[span.start : span.end] + "}") == {key: value}


class Pairs(list[tuple[str, object]]):
    """The outermost object as a list of pairs, which may repeat keys; inner objects are dicts."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__((key, to_dicts(value)) for key, value in pairs)


def to_dicts(value: object) -> object:
    if isinstance(value, Pairs):
        return dict(value)
    return [to_dicts(part) for part in value] if isinstance(value, list) else value


def test_the_last_member_of_a_repeated_key_is_found() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    member = find_member(text, 0, "a")
    assert member is not None
    assert text[member.value : member.end] == "3"
    assert find_member(text, 0, "c") is None


def test_a_key_is_found_however_it_is_escaped() -> None:
    assert find_member('{"hook\\u0073": 1}', 0, "hooks") is not None


@FEW_EXAMPLES
@given(documents(), st.integers(0, 5))
def test_removing_a_member_leaves_the_others_unchanged(text: str, number: int) -> None:
    spans, _ = child_spans(text, find_opening(text))
    if number >= len(spans):
        return
    change = remove(text, find_opening(text), number)
    remaining, _ = child_spans(change.apply(text), find_opening(text))
    expected = spans[:number] + spans[number + 1 :]
    assert [change.apply(text)[span.start : span.end] for span in remaining] == [
        text[span.start : span.end] for span in expected
    ]
    assert change.undo(change.apply(text)) == text


@FEW_EXAMPLES
@given(documents(), st.sampled_from([{}, [], {"a": ["é", {"b": None}]}, "x"]))
def test_an_inserted_member_comes_last_and_can_be_undone(text: str, value: object) -> None:
    change = insert(text, find_opening(text), "new ✓", value, 1, Layout.of(text))
    changed = change.apply(text)
    before, after = (
        child_spans(text, find_opening(text))[0],
        child_spans(changed, find_opening(text))[0],
    )
    assert [text[span.start : span.end] for span in before] == [
        changed[span.start : span.end] for span in after[:-1]
    ]
    assert after[-1].key == "new ✓"
    assert json.loads(changed[after[-1].value : after[-1].end]) == value
    assert change.undo(changed) == text


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
def test_the_layout_is_detected_from_the_first_member(
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


def test_a_splice_can_be_applied_and_undone() -> None:
    assert Splice(1, "bc", "X").apply("abcd") == "aXd"
    assert Splice(1, "bc", "X").undo("aXd") == "abcd"
