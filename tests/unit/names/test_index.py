"""The index of names: how each was met, when last, and where."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.names import ranked
from holdfast.names import index as module
from holdfast.names.index import new_index, observe
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
    observe(made, events_of(*lines))
    return made


def test_a_name_knows_who_used_said_and_showed_it() -> None:
    names = index_of(*LOG)["names"]
    assert names["maxBackoff"]["said"]
    assert not names["maxBackoff"]["used"]
    assert names["retry_limit"]["shown"] < names["retry_limit"]["said"]
    assert names["go test ./... -run TestRetry"]["kind"] == "command"
    assert names["go test ./... -run TestRetry"]["used"]


def test_an_identifier_knows_the_file_that_has_it() -> None:
    line, _, home = index_of(*LOG)["names"]["requeueAll"]["home"].partition(" ")
    assert home.endswith("src/retry.py")
    assert int(line) == 3


def test_what_a_search_found_in_a_file_is_told_with_the_call_that_names_the_file() -> None:
    given = {"pattern": "def ", "path": f"{ROOT}/src/retry.py"}
    index = index_of(user("Go on"), *used("Grep", given, "12:def waitLonger():"))
    assert index["names"]["waitLonger"]["home"] == f"2,3 {ROOT}/src/retry.py"
    (name,) = (one for one in ranked(state_of(), index) if one.text == "waitLonger")
    assert (name.home_lines, name.home) == ([2, 3], f"{ROOT}/src/retry.py")


def test_every_file_of_a_patch_is_one_that_the_agent_works_on() -> None:
    index = new_index()
    parts = ("*** Update File: src/retry.py", "@@", "+waitLonger()", "*** Add File: src/new.py")
    observe(index, events_of(*rollout_lines.patched(*parts, "*** Move to: src/moved.py")))
    assert [index["names"][f"src/{name}.py"]["used"] for name in ("retry", "new", "moved")] == [
        1
    ] * 3
    assert index["names"]["waitLonger"]["home"] == ""


def test_what_stands_in_the_patch_of_one_file_is_told_with_that_file() -> None:
    index = new_index()
    observe(
        index, events_of(*rollout_lines.patched("*** Update File: src/retry.py", "+waitLonger()"))
    )
    assert index["names"]["waitLonger"]["home"] == "1 src/retry.py"


def test_a_file_that_is_only_mentioned_is_put_into_no_folder_that_was_not_told() -> None:
    index = {**new_index(), "root": ROOT, "cwd": f"{ROOT}/web"}
    lines = [reply("I mean main.py, api/main.py and setup.py."), *bash("cat setup.py", "main.py")]
    observe(index, events_of(*lines, reply("so setup.py has it")))  # type: ignore[arg-type]
    names: Any = index["names"]
    files = [name for name, entry in names.items() if entry["kind"] == "file"]
    # Where the agent is, only what it worked on, or told from there.
    assert sorted(files) == ["api/main.py", "main.py", "setup.py", "web/setup.py"]
    assert names["web/setup.py"]["said"] > names["setup.py"]["said"]


def test_a_command_that_goes_elsewhere_first_names_files_from_there() -> None:
    index = {**new_index(), "root": ROOT, "cwd": f"{ROOT}/web"}
    observe(index, events_of(*bash(f"cd {ROOT} && npx tsc -p api/tsconfig.json", "")))  # type: ignore[arg-type]
    observe(index, events_of(reply("that is lib/client.py")))  # type: ignore[arg-type]
    files = [name for name, entry in index["names"].items() if entry["kind"] == "file"]
    assert sorted(files) == ["api/tsconfig.json", "lib/client.py"]
    assert index["cwd"] == f"{ROOT}/web"


def test_what_a_sub_agent_names_is_its_own() -> None:
    lines = [call("Read", {"file_path": "/a/other.py"}, isSidechain=True), result("x")]
    assert "/a/other.py" not in index_of(*lines)["names"]


def test_secrets_are_no_names() -> None:
    token = "ghp_" + "a1B2" * 9
    assert token not in str(index_of(reply(f"use {token}")))
    for command in (
        f"gh auth login --with-token {token}",
        f'curl -H "Authorization: Bearer {token}" https://api.example.org/v1',
        f"psql postgres://app:{token}@db.local/shop",
        f"GH_TOKEN={token} gh release list",
        f"curl -u admin:{token} https://api.example.org/v1",
    ):
        told = str(index_of(*bash(command, f"used {token}")))
        assert token not in told
        assert "redacted" in told or "gh release list" in told
    assert token not in str(index_of(call("Read", {"file_path": f"/srv/app/{token}/notes.md"})))


@given(st.integers(0, 7))
def test_it_does_not_matter_where_a_log_is_split(at: int) -> None:
    events = events_of(*LOG)
    split = new_index()
    observe(split, events[:at])
    observe(split, events[at:])
    assert split == index_of(*LOG)


def test_it_stays_small(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    monkeypatch.setattr(module, "ROOM", 8)
    made = index_of(*(reply(f"name_number_{n}") for n in range(40)))
    assert len(made["names"]) <= 8
    assert "name_number_39" in made["names"]


def test_a_file_that_was_removed_is_not_named_until_it_is_used_again() -> None:
    gone = [
        *used("Write", {"file_path": f"{ROOT}/scripts/storm.py", "content": "x"}, "ok"),
        *used("Write", {"file_path": f"{ROOT}/tmp/deep/one.py", "content": "x"}, "ok"),
        *used("Read", {"file_path": f"{ROOT}/scripts/replay.py"}, "x"),
        *bash("rm -f scripts/storm.py && git rm -r 'tmp/'", ""),
        reply("I removed scripts/storm.py and tmp/deep/one.py."),
    ]

    def named(*lines: Any) -> set[str]:
        index = {**new_index(), "root": ROOT, "cwd": ROOT}
        observe(index, events_of(*lines))  # type: ignore[arg-type]
        return {name.text for name in ranked(state_of(), index) if name.kind == "file"}  # type: ignore[arg-type]

    assert named(*gone) == {"scripts/replay.py"}
    back = used("Write", {"file_path": f"{ROOT}/scripts/storm.py", "content": "y"}, "ok")
    assert named(*gone, *back) == {"scripts/replay.py", "scripts/storm.py"}
