"""Our hooks go into a settings file and out of it again; nothing of others' is lost."""

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
from tests.unit.hosts.documents import OUR_EVENTS, blank, documents

COMMAND = "/opt/py -c 'from holdfast.entry import hook; hook()'"
ENTRY = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 15}]}
ENTRIES = {event: [ENTRY] for event in OUR_EVENTS}
THEIRS = {"hooks": [{"type": "command", "command": "say done"}]}
PATH = "settings.json"


def load(text: str) -> Any:
    return json.loads(text.lstrip("\ufeff")) if text.strip("\ufeff \t\r\n") else {}


def with_ours(known: dict[str, Any]) -> dict[str, Any]:
    known = copy.deepcopy(known)
    for event, ours in ENTRIES.items():
        known.setdefault("hooks", {}).setdefault(event, []).extend(ours)
    return known


def same(one: Any, other: Any) -> bool:
    """Equal, also in the order of the members."""
    return json.dumps(one) == json.dumps(other)


@given(documents() | blank)
def test_adding_keeps_every_other_value_and_its_order(text: str) -> None:
    after, _ = add_hooks(text, ENTRIES)
    assert same(load(after), with_ours(load(text)))


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
    left = remove_our_entries(after, existing_containers(load(text)))
    assert same(load(left), load(text))
    assert find_our_entries(load(left)) == {}


@given(documents())
def test_a_text_without_our_hooks_is_left_as_it_is(text: str) -> None:
    assert remove_our_entries(text) == text


@given(documents(), st.sampled_from([2, 4, "\t", None]), st.sampled_from(OUR_EVENTS), st.booleans())
def test_changes_by_other_programs_stay(
    text: str, indent: int | str | None, event: str, first: bool
) -> None:
    known = load(text)
    # Written anew by another program, as the host itself does, with changes in several places.
    changed = load(add_hooks(text, ENTRIES)[0])
    for settings_ in (changed, known):
        settings_["model"] = {"new": ["value"]}
        hooks = settings_.setdefault("hooks", {})
        entries = hooks.setdefault(event, [])
        entries.insert(0 if first else len(entries), THEIRS)
    rewritten = json.dumps(changed, indent=indent)
    left = remove_our_entries(rewritten, existing_containers(load(text)))
    assert load(left) == known


def test_our_hook_in_a_shared_group_is_removed_alone() -> None:
    theirs, ours = THEIRS["hooks"][0], ENTRY["hooks"][0]
    for mixed in ([theirs, ours], [ours, theirs], [ours, theirs, ours]):
        text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": mixed}]}}, indent=2)
        assert load(remove_our_entries(text)) == {
            "hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]}
        }


def test_containers_that_only_we_used_are_removed() -> None:
    text = add_hooks('{\n  "model": "opus"\n}\n', ENTRIES)[0]
    assert remove_our_entries(text) == '{\n  "model": "opus"\n}\n'


def test_containers_that_were_empty_before_stay_empty() -> None:
    before = '{"hooks": {"Stop": []}}'
    after = add_hooks(before, ENTRIES)[0]
    assert remove_our_entries(after, existing_containers(load(before))) == before
    assert remove_our_entries(after) == "{}"


def test_removing_from_a_repeated_key_does_not_expose_the_hidden_value() -> None:
    ours = json.dumps(ENTRY)
    hidden = '{"command": "hidden"}'
    twice = f'{{"hooks": {{"Stop": [{hidden}]}}, "hooks": {{"Stop": [{ours}]}}}}'
    assert load(remove_our_entries(twice)) == {"hooks": {}}
    twice = f'{{"hooks": {{"Stop": 5, "Stop": [{ours}], "X": []}}}}'
    assert load(remove_our_entries(twice)) == {"hooks": {"Stop": [], "X": []}}


def test_only_our_commands_are_found_by_event() -> None:
    both = {"hooks": {"Stop": [THEIRS, ENTRY, ENTRY], "PreToolUse": [THEIRS]}}
    assert find_our_entries(both) == {"Stop": [COMMAND, COMMAND]}


@pytest.mark.parametrize(
    "strange",
    [None, "text", {"hooks": "x"}, {"hooks": [None, 1, {"command": 5}, {"command": None}]}],
)
def test_entries_of_an_unknown_shape_are_not_ours(strange: Any) -> None:
    assert find_our_entries({"hooks": {"Stop": [strange]}}) == {}
    text = json.dumps({"hooks": {"Stop": [strange, ENTRY]}})
    assert load(remove_our_entries(text)) == {"hooks": {"Stop": [strange]}}


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
def test_what_was_added_can_be_parsed_again(text: str) -> None:
    settings_ = parse_settings(text, PATH)
    assume(not find_our_entries(settings_))
    assert find_our_entries(parse_settings(add_hooks(text, ENTRIES)[0], PATH)) == {
        e: [COMMAND] for e in OUR_EVENTS
    }


def test_a_hook_with_two_matchers_is_not_one_registered_twice() -> None:
    apart = {"hooks": {"PostToolUse": [{"matcher": name, **ENTRY} for name in ("Bash", "Edit")]}}
    assert repeated_events(apart) == []
    assert repeated_events({"hooks": {"Stop": [ENTRY, ENTRY]}}) == ["Stop"]
    assert has_matcher(apart, "PostToolUse", "Edit")
    assert not has_matcher(apart, "PostToolUse", "Write")
