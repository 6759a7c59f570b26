"""The mention index: how, when and where each name was last mentioned."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.mention_ranking import rank_mentions
from holdfast.mentions import index as module
from holdfast.mentions.index import add_events, new_index
from tests.unit import rollout_lines
from tests.unit.transcript_lines import (
    ROOT,
    bash,
    call,
    events_of,
    reply,
    result,
    state_of,
    used,
    user,
)

LOG: list[Any] = [
    user("Look at src/retry.py and mind maxBackoff"),
    *used("Read", {"file_path": "/home/dev/app/src/retry.py"}, "def requeueAll(): retry_limit"),
    *bash("go test ./... -run TestRetry", "FAIL TestRetryStorm"),
    reply("The cause is retry_limit."),
]


def index_of(*lines: Any) -> Any:
    made = new_index()
    add_events(made, events_of(*lines))
    return made


def test_an_entry_records_when_a_name_was_used_said_and_shown() -> None:
    names = index_of(*LOG)["names"]
    assert names["maxBackoff"]["said"]
    assert not names["maxBackoff"]["used"]
    assert names["retry_limit"]["shown"] < names["retry_limit"]["said"]
    assert names["go test ./... -run TestRetry"]["kind"] == "command"
    assert names["go test ./... -run TestRetry"]["used"]


def test_an_identifier_has_the_file_that_contains_it() -> None:
    line, _, home = index_of(*LOG)["names"]["requeueAll"]["home"].partition(" ")
    assert home.endswith("src/retry.py")
    assert int(line) == 3


def test_a_search_result_is_cited_with_the_call_that_names_the_file() -> None:
    given = {"pattern": "def ", "path": f"{ROOT}/src/retry.py"}
    index = index_of(user("Go on"), *used("Grep", given, "12:def waitLonger():"))
    assert index["names"]["waitLonger"]["home"] == f"2,3 {ROOT}/src/retry.py"
    (name,) = (one for one in rank_mentions(state_of(), index) if one.text == "waitLonger")
    assert (name.file_lines, name.file) == ([2, 3], f"{ROOT}/src/retry.py")


def test_every_file_of_a_patch_counts_as_used() -> None:
    index = new_index()
    parts = ("*** Update File: src/retry.py", "@@", "+waitLonger()", "*** Add File: src/new.py")
    add_events(index, events_of(*rollout_lines.patched(*parts, "*** Move to: src/moved.py")))
    assert [index["names"][f"src/{name}.py"]["used"] for name in ("retry", "new", "moved")] == [
        1
    ] * 3
    assert index["names"]["waitLonger"]["home"] == ""


def test_identifiers_in_a_one_file_patch_belong_to_that_file() -> None:
    index = new_index()
    add_events(
        index, events_of(*rollout_lines.patched("*** Update File: src/retry.py", "+waitLonger()"))
    )
    assert index["names"]["waitLonger"]["home"] == "1 src/retry.py"


def test_a_file_that_is_only_mentioned_is_not_put_into_a_folder() -> None:
    index = {**new_index(), "root": ROOT, "cwd": f"{ROOT}/web"}
    lines = [reply("I mean main.py, api/main.py and setup.py."), *bash("cat setup.py", "main.py")]
    add_events(index, events_of(*lines, reply("so setup.py has it")))  # type: ignore[arg-type]
    names: Any = index["names"]
    files = [name for name, entry in names.items() if entry["kind"] == "file"]
    # Only files that the agent used there are resolved from the current folder.
    assert sorted(files) == ["api/main.py", "main.py", "setup.py", "web/setup.py"]
    assert names["web/setup.py"]["said"] > names["setup.py"]["said"]


def test_paths_after_a_cd_are_relative_to_its_folder() -> None:
    index = {**new_index(), "root": ROOT, "cwd": f"{ROOT}/web"}
    add_events(index, events_of(*bash(f"cd {ROOT} && npx tsc -p api/tsconfig.json", "")))  # type: ignore[arg-type]
    add_events(index, events_of(reply("that is lib/client.py")))  # type: ignore[arg-type]
    files = [name for name, entry in index["names"].items() if entry["kind"] == "file"]
    assert sorted(files) == ["api/tsconfig.json", "lib/client.py"]
    assert index["cwd"] == f"{ROOT}/web"


def test_a_sub_agents_mentions_are_ignored() -> None:
    lines = [call("Read", {"file_path": "/a/other.py"}, isSidechain=True), result("x")]
    assert "/a/other.py" not in index_of(*lines)["names"]


def test_secrets_are_not_indexed() -> None:
    token = "ghp_" + "a1B2" * 9
    assert token not in str(index_of(reply(f"use {token}")))
    for command in (
        f"gh auth login --with-token {token}",
        f'curl -H "Authorization: Bearer {token}" https://api.example.org/v1',
        f"psql postgres://app:{token}@db.local/shop",
        f"GH_TOKEN={token} gh release list",
        f"curl -u admin:{token} https://api.example.org/v1",
    ):
        index_text = str(index_of(*bash(command, f"used {token}")))
        assert token not in index_text
        assert "redacted" in index_text or "gh release list" in index_text
    assert token not in str(index_of(call("Read", {"file_path": f"/srv/app/{token}/notes.md"})))


@given(st.integers(0, 7))
def test_a_log_may_be_split_anywhere(at: int) -> None:
    events = events_of(*LOG)
    split = new_index()
    add_events(split, events[:at])
    add_events(split, events[at:])
    assert split == index_of(*LOG)


def test_the_index_stays_small(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "KEPT_NAMES", 5)
    monkeypatch.setattr(module, "MAX_NAMES", 8)
    made = index_of(*(reply(f"name_number_{n}") for n in range(40)))
    assert len(made["names"]) <= 8
    assert "name_number_39" in made["names"]


def test_a_removed_file_is_gone_until_it_is_used_again() -> None:
    gone = [
        *used("Write", {"file_path": f"{ROOT}/scripts/storm.py", "content": "x"}, "ok"),
        *used("Write", {"file_path": f"{ROOT}/tmp/deep/one.py", "content": "x"}, "ok"),
        *used("Read", {"file_path": f"{ROOT}/scripts/replay.py"}, "x"),
        *bash("rm -f scripts/storm.py && git rm -r 'tmp/'", ""),
        reply("I removed scripts/storm.py and tmp/deep/one.py."),
    ]

    def named(*lines: Any) -> set[str]:
        index = {**new_index(), "root": ROOT, "cwd": ROOT}
        add_events(index, events_of(*lines))  # type: ignore[arg-type]
        return {name.text for name in rank_mentions(state_of(), index) if name.kind == "file"}  # type: ignore[arg-type]

    assert named(*gone) == {"scripts/replay.py"}
    back = used("Write", {"file_path": f"{ROOT}/scripts/storm.py", "content": "y"}, "ok")
    assert named(*gone, *back) == {"scripts/replay.py", "scripts/storm.py"}
