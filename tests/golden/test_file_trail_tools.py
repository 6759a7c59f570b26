"""The file trail that the file tools leave, recomputed from raw lines."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import UnreadableTranscript
from tests.golden.file_trail import Trail, trail
from tests.golden.replayed import Replayed
from tests.unit.eval.transcript import (
    backups,
    bash,
    call,
    compacted,
    edited,
    line,
    read,
    text_of,
    wrote,
)

NOWHERE: tuple[set[str], set[str], set[str]] = (set(), set(), set())


def changes(found: Trail) -> tuple[set[str], set[str], set[str]]:
    return set(found.created), set(found.modified), set(found.deleted)


# -- the net state


def test_a_new_file_is_created_and_an_existing_one_modified(replayed: Replayed) -> None:
    found = replayed(wrote("new.py", "create"), wrote("old.py", "update"), edited("other.py"))
    assert changes(found) == ({"new.py"}, {"old.py", "other.py"}, set())


def test_a_new_file_that_is_edited_afterwards_stays_created(replayed: Replayed) -> None:
    assert changes(replayed(wrote("a.py"), edited("a.py"), wrote("a.py", "update"))) == (
        {"a.py"},
        set(),
        set(),
    )


def test_created_then_deleted_appears_nowhere(replayed: Replayed) -> None:
    assert changes(replayed(wrote("a.py"), bash("rm a.py"))) == NOWHERE


def test_an_existing_file_that_is_changed_and_deleted_is_only_deleted(replayed: Replayed) -> None:
    assert changes(replayed(edited("a.py"), bash("rm a.py"))) == (set(), set(), {"a.py"})


def test_deleted_then_created_again_is_modified(replayed: Replayed) -> None:
    found = replayed(read("a.py"), bash("rm a.py"), wrote("a.py", "create"))
    assert changes(found) == (set(), {"a.py"}, set())


def test_a_rename_deletes_the_old_path_and_creates_the_new_one(replayed: Replayed) -> None:
    assert changes(replayed(edited("a.py"), bash("mv a.py b.py"))) == ({"b.py"}, set(), {"a.py"})


def test_a_rename_of_a_file_made_here_leaves_only_the_new_path(replayed: Replayed) -> None:
    assert changes(replayed(wrote("a.py"), bash("mv a.py b.py"))) == ({"b.py"}, set(), set())


def test_a_file_moved_away_and_back_is_untouched(replayed: Replayed) -> None:
    assert changes(replayed(read("a.py"), bash("mv a.py t && make; mv t a.py"))) == NOWHERE


def test_what_was_read_is_listed_unless_it_was_deleted_later(replayed: Replayed) -> None:
    found = replayed(read("a.py"), read("b.py"), edited("a.py"), bash("rm b.py"))
    assert found.read == {"a.py"}


def test_a_file_made_again_after_its_deletion_has_not_been_read(replayed: Replayed) -> None:
    assert replayed(read("a.py"), wrote("a.py", "create")).read == set()
    assert replayed(read("a.py"), bash("rm a.py"), wrote("a.py")).read == set()
    assert replayed(read("a.py"), bash("rm a.py"), wrote("a.py"), read("a.py")).read == {"a.py"}


def test_a_command_that_prints_a_file_is_no_read(replayed: Replayed) -> None:
    assert replayed(bash("cat a.py")).read == set()


# -- which results count


def test_what_failed_or_was_refused_did_not_happen(replayed: Replayed) -> None:
    cases = [
        {"is_error": True, "text": "<tool_use_error>String to replace not found</tool_use_error>"},
        {"is_error": None, "text": "<tool_use_error>File has not been read yet"},
        {"is_error": None, "account": "Error: File has not been read yet"},
        {"is_error": True, "account": "User rejected tool use", "text": "The user doesn't want to"},
        {"is_error": None, "text": "The user doesn't want to proceed with this tool use."},
        {"is_error": None, "text": "[Request interrupted by user for tool use]"},
        {"is_error": None, "toolDenialKind": "user-rejected"},
    ]
    for refusal in cases:
        found = replayed(call("Edit", {"file_path": "/repo/a.py"}, **refusal))
        assert (changes(found), found.unknown) == (NOWHERE, set()), refusal


def test_output_that_begins_with_error_is_no_failure(replayed: Replayed) -> None:
    assert replayed(bash("grep -h Error log > hits.txt", stdout="Error: 1")).created == {"hits.txt"}


def test_an_interrupted_command_did_not_happen(replayed: Replayed) -> None:
    account = {"stdout": "", "stderr": "", "interrupted": True}
    assert changes(replayed(call("Bash", {"command": "rm a.py"}, account))) == NOWHERE


def test_side_chains_are_left_out(replayed: Replayed) -> None:
    found = replayed(wrote("a.py", isSidechain=True), bash("rm b.py", isSidechain=True))
    assert changes(found) == NOWHERE


def test_a_line_that_is_written_twice_counts_once(replayed: Replayed) -> None:
    made, other = wrote("a.py"), wrote("b.py")
    again = [{**new, "uuid": old["uuid"]} for old, new in zip(made, other, strict=True)]
    assert replayed(made, again).created == {"a.py"}


def test_a_result_counts_once_even_under_another_uuid(replayed: Replayed) -> None:
    made = wrote("a.py")
    again = [{**each, "uuid": f"again-{number}"} for number, each in enumerate(made)]
    assert changes(replayed(made, bash("rm a.py"), again)) == NOWHERE


def test_an_account_on_a_line_with_several_results_belongs_to_none(replayed: Replayed) -> None:
    (use_a, result_a), (use_b, result_b) = edited("a.py"), edited("b.py")
    result_a["message"]["content"] += result_b["message"]["content"]
    assert replayed([use_a, use_b, result_a]).modified == {"a.py", "b.py"}


def test_a_result_whose_call_is_unreadable_still_tells_what_happened(replayed: Replayed) -> None:
    results = [wrote("a.py")[1], edited("b.py")[1], read("c.py")[1]]
    edits = {"filePath": "/repo/d.py", "edits": [], "originalFileContents": "x"}
    results.append(call("MultiEdit", {}, edits)[1])
    found = replayed(results)
    assert changes(found) == ({"a.py"}, {"b.py", "d.py"}, set())
    assert found.read == {"c.py"}


# -- the tools


def test_multi_edits_and_notebook_edits_modify(replayed: Replayed) -> None:
    notebook = {"new_source": "x", "cell_type": "code", "edit_mode": "replace", "error": ""}
    found = replayed(
        call("MultiEdit", {"file_path": "/repo/a.py"}, {"filePath": "/repo/a.py", "edits": []}),
        call("NotebookEdit", {"notebook_path": "/repo/n.ipynb"}, notebook),
        call("NotebookEdit", {"notebook_path": "/repo/m.ipynb"}, {**notebook, "error": "no cell"}),
    )
    assert changes(found) == (set(), {"a.py", "n.ipynb"}, set())


def test_an_edit_of_nothing_into_something_creates(replayed: Replayed) -> None:
    account = {"filePath": "/repo/a.py", "oldString": "", "newString": "x", "originalFile": ""}
    assert replayed(call("Edit", {"file_path": "/repo/a.py"}, account)).created == {"a.py"}


def test_an_edit_without_the_original_text_is_still_an_edit(replayed: Replayed) -> None:
    account = {"filePath": "/repo/a.py", "oldString": "x", "newString": "y", "originalFile": None}
    assert replayed(call("Edit", {"file_path": "/repo/a.py"}, account)).modified == {"a.py"}


def test_a_write_without_an_account_is_read_from_its_text(replayed: Replayed) -> None:
    found = replayed(
        call("Write", {"file_path": "/repo/a"}, text="File created successfully at: /repo/a"),
        call("Write", {"file_path": "/repo/b"}, text="The file /repo/b has been updated."),
    )
    assert changes(found) == ({"a"}, {"b"}, set())


def test_the_batch_tool_of_early_clients_is_taken_apart(replayed: Replayed) -> None:
    asked = [
        {"tool_name": "Write", "input": {"file_path": "/repo/new.py"}},
        {"tool_name": "Edit", "input": {"file_path": "/repo/old.py"}},
        {"tool_name": "Edit", "input": {"file_path": "/repo/failed.py"}},
        {"tool_name": "Bash", "input": {"command": "rm gone.py"}},
        {"tool_name": "Read", "input": {"file_path": "/repo/read.py"}},
    ]
    answers: list[Any] = [
        {"toolUseResult": {"type": "create", "filePath": "/repo/new.py"}},
        {"data": {"filePath": "/repo/old.py", "oldString": "a"}},
        {"message": {"content": [{"type": "tool_result", "is_error": True, "content": "no"}]}},
        {"stdout": "", "stderr": "", "interrupted": False},
        {"type": "text", "file": {"filePath": "/repo/read.py"}},
    ]
    account = {"resolvedInvocations": asked, "orderedToolResults": answers}
    found = replayed(call("Batch", {"invocations": asked}, account))
    assert changes(found) == ({"new.py"}, {"old.py"}, {"gone.py"})
    assert found.read == {"read.py"}


def test_mcp_file_servers_count(replayed: Replayed) -> None:
    server = "mcp__filesystem__"
    said = "/repo/r1: text\n---\n/repo/r2: Error - ENOENT"
    found = replayed(
        call(server + "write_file", {"path": "/repo/w"}, [{"type": "text"}]),
        call(server + "edit_file", {"path": "/repo/e"}, []),
        call(server + "edit_file", {"path": "/repo/dry", "dryRun": True}, []),
        call(server + "move_file", {"source": "/repo/m", "destination": "/repo/n"}, []),
        call(server + "create_directory", {"path": "/repo/folder"}, []),
        call(server + "read_file", {"path": "/repo/r"}, []),
        call(server + "read_multiple_files", {"paths": ["/repo/r1", "/repo/r2"]}, [], text=said),
        call(server + "write_file", {"path": "/repo/x"}, "Error: denied", is_error=True),
        call("mcp__github__write_file", {"path": "/repo/y"}, []),
    )
    assert changes(found) == ({"w", "n"}, {"e"}, {"m"})
    assert found.read == {"r", "r1"}


# -- what settles whether a file was there before


def test_an_empty_backup_says_that_the_file_is_new(replayed: Replayed) -> None:
    delta = {
        "type": "file-history-delta",
        "trackingPath": "b.py",
        "backup": {"backupFileName": None},
    }
    found = replayed(
        backups(**{"a.py": None}), [delta], bash("echo x >> a.py"), edited("b.py"), edited("c.py")
    )
    assert changes(found) == ({"a.py", "b.py"}, {"c.py"}, set())


def test_a_backup_taken_of_a_file_just_written_does_not_make_it_old(replayed: Replayed) -> None:
    use, result = wrote("a.py")
    assert replayed([use], backups(**{"a.py": "f00@v1"}), [result]).created == {"a.py"}


def test_a_full_backup_proves_nothing(replayed: Replayed) -> None:
    found = replayed(backups(a="f00@v1", b="f00@v1"), bash("echo > a; echo >> b"))
    assert changes(found) == ({"a"}, {"b"}, set())


def test_backups_are_listed_again_and_again_and_only_the_first_is_news(replayed: Replayed) -> None:
    found = replayed(backups(a=None), wrote("a"), edited("b"), backups(a=None, b=None))
    assert changes(found) == ({"a"}, {"b"}, set())


def test_a_file_that_was_read_before_a_redirection_is_modified(replayed: Replayed) -> None:
    assert changes(replayed(read("a.py"), bash("echo > a.py"))) == (set(), {"a.py"}, set())


def test_a_file_that_could_not_be_read_is_new_when_something_appends_to_it(
    replayed: Replayed,
) -> None:
    missing = call(
        "Read", {"file_path": "/repo/a"}, "Error: …", text="File does not exist.", is_error=True
    )
    assert changes(replayed(missing, bash("echo x >> a"))) == ({"a"}, set(), set())


# -- edits without a result


def test_an_edit_cut_off_by_a_compaction_or_the_end_is_unknown(replayed: Replayed) -> None:
    found = replayed([edited("a.py")[0]], compacted(), read("b.py"), [wrote("c.py")[0]])
    assert found.unknown == {"a.py", "c.py"}
    assert changes(found) == NOWHERE


def test_a_result_that_comes_after_the_compaction_settles_the_edit(replayed: Replayed) -> None:
    use, result = edited("a.py")
    found = replayed([use], compacted(), [result])
    assert (found.unknown, found.modified) == (set(), {"a.py"})


def test_reads_and_commands_without_a_result_are_not_unknown(replayed: Replayed) -> None:
    assert replayed([read("a.py")[0]], [bash("rm b.py")[0]]).unknown == set()


def test_the_cut_counts_lines_from_one_and_includes_its_own(replayed: Replayed) -> None:
    steps = (wrote("a.py"), wrote("b.py"))
    assert replayed(*steps, until_line=2).created == {"a.py"}
    cut = replayed(*steps, until_line=3)
    assert (cut.created, cut.unknown) == ({"a.py"}, {"b.py"})


# -- paths


def test_paths_are_relative_to_the_first_cwd_and_absolute_outside_of_it(replayed: Replayed) -> None:
    found = replayed(
        wrote("/repo/sub/../a.py"),
        wrote("/repo/sub/./b.py", cwd="/repo/sub"),
        wrote("/repository/c.py"),
        wrote("/worktrees/x/d.py", cwd="/worktrees/x"),
    )
    assert found.created == {"a.py", "sub/b.py", "/repository/c.py", "/worktrees/x/d.py"}


def test_relative_paths_start_from_the_cwd_of_the_calls_own_line(replayed: Replayed) -> None:
    found = replayed(read("x.py"), bash("touch a ../b", cwd="/repo/sub"), bash("touch c"))
    assert found.created == {"sub/a", "b", "c"}


def test_a_home_path_keeps_its_tilde(replayed: Replayed) -> None:
    found = replayed(bash('echo > ~/.rc; echo > "$HOME/./x/../y"; rm ~/z'))
    assert changes(found) == ({"~/.rc", "~/y"}, set(), {"~/z"})


def test_windows_paths_keep_their_backslashes_and_are_one_with_slashes(replayed: Replayed) -> None:
    here = {"cwd": r"C:\proj"}
    found = replayed(
        wrote("C:\\proj\\src\\a.py", **here),
        edited("c:/proj/src/a.py", **here),
        wrote("C:\\proj\\b.py", **here),
        bash("rm b.py; touch /c/proj/d.py src/e.py", **here),
    )
    assert found.created == {r"src\a.py", "d.py", "src/e.py"}


# -- reading the file


def test_a_gzip_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl.gz"
    file.write_bytes(gzip.compress(text_of(wrote("a.py")).encode()))
    assert trail(str(file)).created == {"a.py"}


def test_a_gzip_file_that_was_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    noise = [line("user", os.urandom(40).hex()) for _ in range(3000)]
    file = tmp_path / "session.jsonl.gz"
    file.write_bytes(gzip.compress(text_of(wrote("a.py"), noise).encode())[:-2000])
    assert trail(str(file)).created == {"a.py"}


def test_bad_lines_are_skipped(replayed: Replayed) -> None:
    good = text_of(wrote("a.py"))
    found = replayed.text('\ufeff{"type":\n[]\n\n"text"\n\x00\n' + good + '{"type": "user", "mess')
    assert found.created == {"a.py"}


def test_a_line_with_a_broken_escape_is_mended(replayed: Replayed) -> None:
    use, result = wrote("a.py")
    result["message"]["content"][0]["content"] = r"C:\\dir \d \u00e9 HERE"
    broken = json.dumps(result).replace("HERE", r"\- \x \u12")
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken)
    assert replayed.text(text_of([use]) + broken + "\n").created == {"a.py"}


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTranscript, match="No such file"):
        trail(str(tmp_path / "nothing.jsonl"))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["/repo/a", "Bash"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
WITH_ODD_PARTS = st.lists(st.tuples(st.integers(0, 200), JSON), max_size=4)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(odd=WITH_ODD_PARTS, command=st.text(max_size=40))
def test_nothing_in_a_line_can_make_it_raise(
    replayed: Replayed, odd: list[tuple[int, Any]], command: str
) -> None:
    steps = [wrote("a"), edited("b"), bash(command), backups(c=None), call("Batch", {}, {})]
    for at, value in odd:
        places = [(each, key) for step in steps for each in step for key in each]
        each, key = places[at % len(places)]
        each[key] = value
    found = replayed(*steps)
    assert found.created.isdisjoint(found.deleted | found.modified)
