"""Adding and removing the hooks of Holdfast keeps all other content of a settings file."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts.hook_settings import (
    add_hooks,
    existing_containers,
    find_our_entries,
    has_matcher,
    parse_settings,
    remove_our_entries,
    repeated_events,
)
from tests.unit.hosts.settings_documents import OUR_EVENTS, blank, documents

COMMAND = "/opt/py -c 'from holdfast.entry import hook; hook()'"
ENTRY = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 15}]}
ENTRIES = {event: [ENTRY] for event in OUR_EVENTS}
OTHER_ENTRY = {"hooks": [{"type": "command", "command": "say done"}]}
PATH = "settings.json"


def load(text: str) -> Any:
    return json.loads(text.lstrip("\ufeff")) if text.strip("\ufeff \t\r\n") else {}


def with_our_entries(content: dict[str, Any]) -> dict[str, Any]:
    content = copy.deepcopy(content)
    for event, entries in ENTRIES.items():
        content.setdefault("hooks", {}).setdefault(event, []).extend(entries)
    return content


def is_same_json(first: Any, second: Any) -> bool:
    """Whether both values are equal, including the order of their keys."""
    return json.dumps(first) == json.dumps(second)


@given(documents() | blank)
def test_adding_keeps_every_other_value_and_its_order(text: str) -> None:
    after, _ = add_hooks(text, ENTRIES)
    assert is_same_json(load(after), with_our_entries(load(text)))


@given(documents() | blank)
def test_adding_replaces_nothing_but_white_space_and_can_be_undone(text: str) -> None:
    after, splices = add_hooks(text, ENTRIES)
    assert [splice.removed.strip("\ufeff \t\r\n") for splice in splices] == [""] * len(splices)
    for splice in reversed(splices):
        after = splice.undo(after)
    assert after == text


@given(documents() | blank)
def test_removing_our_entries_restores_the_settings(text: str) -> None:
    after, _ = add_hooks(text, ENTRIES)
    restored = remove_our_entries(after, existing_containers(load(text)))
    assert is_same_json(load(restored), load(text))
    assert find_our_entries(load(restored)) == {}


@given(documents())
def test_removing_from_a_file_without_our_hooks_changes_nothing(text: str) -> None:
    assert remove_our_entries(text) == text


@given(documents(), st.sampled_from([2, 4, "\t", None]), st.sampled_from(OUR_EVENTS), st.booleans())
def test_changes_by_other_programs_survive_the_removal(
    text: str, indent: int | str | None, event: str, first: bool
) -> None:
    expected = load(text)
    # Another program, such as the host, rewrites the whole file with changes in several places.
    changed = load(add_hooks(text, ENTRIES)[0])
    for settings_ in (changed, expected):
        settings_["model"] = {"new": ["value"]}
        hooks = settings_.setdefault("hooks", {})
        entries = hooks.setdefault(event, [])
        entries.insert(0 if first else len(entries), OTHER_ENTRY)
    rewritten = json.dumps(changed, indent=indent)
    restored = remove_our_entries(rewritten, existing_containers(load(text)))
    assert load(restored) == expected


def test_other_hooks_in_the_same_group_are_kept() -> None:
    other_hook, our_hook = OTHER_ENTRY["hooks"][0], ENTRY["hooks"][0]
    for hooks in ([other_hook, our_hook], [our_hook, other_hook], [our_hook, other_hook, our_hook]):
        text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": hooks}]}}, indent=2)
        assert load(remove_our_entries(text)) == {
            "hooks": {"Stop": [{"matcher": "x", "hooks": [other_hook]}]}
        }


def test_containers_with_only_our_entries_are_removed() -> None:
    text = add_hooks('{\n  "model": "opus"\n}\n', ENTRIES)[0]
    assert remove_our_entries(text) == '{\n  "model": "opus"\n}\n'


def test_containers_that_were_empty_before_are_kept() -> None:
    before = '{"hooks": {"Stop": []}}'
    after = add_hooks(before, ENTRIES)[0]
    assert remove_our_entries(after, existing_containers(load(before))) == before
    assert remove_our_entries(after) == "{}"


def test_removing_from_a_repeated_key_does_not_expose_the_hidden_value() -> None:
    our_entry = json.dumps(ENTRY)
    hidden = '{"command": "hidden"}'
    text = f'{{"hooks": {{"Stop": [{hidden}]}}, "hooks": {{"Stop": [{our_entry}]}}}}'
    assert load(remove_our_entries(text)) == {"hooks": {}}
    text = f'{{"hooks": {{"Stop": 5, "Stop": [{our_entry}], "X": []}}}}'
    assert load(remove_our_entries(text)) == {"hooks": {"Stop": [], "X": []}}


def test_only_our_commands_are_found() -> None:
    content = {"hooks": {"Stop": [OTHER_ENTRY, ENTRY, ENTRY], "PreToolUse": [OTHER_ENTRY]}}
    assert find_our_entries(content) == {"Stop": [COMMAND, COMMAND]}


@pytest.mark.parametrize(
    "malformed_entry",
    [None, "text", {"hooks": "x"}, {"hooks": [None, 1, {"command": 5}, {"command": None}]}],
)
def test_malformed_entries_are_not_ours_and_are_kept(malformed_entry: Any) -> None:
    assert find_our_entries({"hooks": {"Stop": [malformed_entry]}}) == {}
    text = json.dumps({"hooks": {"Stop": [malformed_entry, ENTRY]}})
    assert load(remove_our_entries(text)) == {"hooks": {"Stop": [malformed_entry]}}


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("{", "is not JSON", "json.tool"),
        ('{"a": 1,}', "is not JSON", "json.tool"),
        ('{"a": "\x01"}', "is not JSON", "json.tool"),
        ("\x00{\x00", "is not JSON", "json.tool"),
        ('{\n  // mine\n  "a": 1\n}', "is not JSON", "no comments"),
        ('{"a": /* mine */ 1}', "is not JSON", "no comments"),
        ("[]", "does not hold a JSON object", "json.tool"),
        ('"text"', "does not hold a JSON object", "json.tool"),
        ("null", "does not hold a JSON object", "json.tool"),
        ('{"hooks": []}', '"hooks" is not an object of lists', "json.tool"),
        ('{"hooks": null}', '"hooks" is not an object of lists', "json.tool"),
        ('{"hooks": {"Stop": {}}}', '"hooks" is not an object of lists', "json.tool"),
        pytest.param('{"a": ' + "[" * 100_000, "nested too deeply", "json.tool", id="deep"),
    ],
)
def test_an_unusable_settings_file_is_an_error_with_a_hint(
    text: str, problem: str, hint: str
) -> None:
    with pytest.raises(UnusableSettingsFile, match=PATH) as caught:
        parse_settings(text, PATH)
    assert problem in str(caught.value)
    assert hint in caught.value.hint


@given(documents() | blank)
@settings(max_examples=40, deadline=None)
def test_added_hooks_can_be_parsed(text: str) -> None:
    settings_ = parse_settings(text, PATH)
    assume(not find_our_entries(settings_))
    assert find_our_entries(parse_settings(add_hooks(text, ENTRIES)[0], PATH)) == {
        event: [COMMAND] for event in OUR_EVENTS
    }


def test_a_hook_with_two_matchers_is_not_reported_as_repeated() -> None:
    content = {"hooks": {"PostToolUse": [{"matcher": name, **ENTRY} for name in ("Bash", "Edit")]}}
    assert repeated_events(content) == []
    assert repeated_events({"hooks": {"Stop": [ENTRY, ENTRY]}}) == ["Stop"]
    assert has_matcher(content, "PostToolUse", "Edit")
    assert not has_matcher(content, "PostToolUse", "Write")
