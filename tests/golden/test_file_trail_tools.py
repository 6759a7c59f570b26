"""The checker's file trail of the file tools, derived from raw transcript lines."""

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
from tests.golden.file_trail import Trail, read_trail
from tests.golden.transcript_replay import TranscriptReplay
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

NO_CHANGES: tuple[set[str], set[str], set[str]] = (set(), set(), set())


def changes(trail: Trail) -> tuple[set[str], set[str], set[str]]:
    return set(trail.created), set(trail.modified), set(trail.deleted)


# -- the state after all changes


def test_a_new_file_is_created_and_an_existing_one_modified(replay: TranscriptReplay) -> None:
    trail = replay(wrote("new.py", "create"), wrote("old.py", "update"), edited("other.py"))
    assert changes(trail) == ({"new.py"}, {"old.py", "other.py"}, set())


def test_a_new_file_that_is_edited_later_stays_created(replay: TranscriptReplay) -> None:
    assert changes(replay(wrote("a.py"), edited("a.py"), wrote("a.py", "update"))) == (
        {"a.py"},
        set(),
        set(),
    )


def test_a_file_that_is_created_and_deleted_is_not_in_the_trail(replay: TranscriptReplay) -> None:
    assert changes(replay(wrote("a.py"), bash("rm a.py"))) == NO_CHANGES


def test_an_existing_file_that_is_changed_and_deleted_counts_as_deleted(
    replay: TranscriptReplay,
) -> None:
    assert changes(replay(edited("a.py"), bash("rm a.py"))) == (set(), set(), {"a.py"})


def test_a_file_that_is_deleted_and_created_again_counts_as_modified(
    replay: TranscriptReplay,
) -> None:
    trail = replay(read("a.py"), bash("rm a.py"), wrote("a.py", "create"))
    assert changes(trail) == (set(), {"a.py"}, set())


def test_a_rename_deletes_the_old_path_and_creates_the_new_one(replay: TranscriptReplay) -> None:
    assert changes(replay(edited("a.py"), bash("mv a.py b.py"))) == ({"b.py"}, set(), {"a.py"})


def test_a_rename_of_a_new_file_keeps_only_the_new_path(replay: TranscriptReplay) -> None:
    assert changes(replay(wrote("a.py"), bash("mv a.py b.py"))) == ({"b.py"}, set(), set())


def test_a_file_that_is_moved_away_and_back_is_unchanged(replay: TranscriptReplay) -> None:
    assert changes(replay(read("a.py"), bash("mv a.py t && make; mv t a.py"))) == NO_CHANGES


def test_read_files_are_listed_unless_they_were_deleted_later(replay: TranscriptReplay) -> None:
    trail = replay(read("a.py"), read("b.py"), edited("a.py"), bash("rm b.py"))
    assert trail.read == {"a.py"}


def test_a_file_that_was_created_again_does_not_count_as_read(replay: TranscriptReplay) -> None:
    assert replay(read("a.py"), wrote("a.py", "create")).read == set()
    assert replay(read("a.py"), bash("rm a.py"), wrote("a.py")).read == set()
    assert replay(read("a.py"), bash("rm a.py"), wrote("a.py"), read("a.py")).read == {"a.py"}


def test_a_command_that_prints_a_file_does_not_count_as_a_read(replay: TranscriptReplay) -> None:
    assert replay(bash("cat a.py")).read == set()


# -- which results count


def test_failed_and_refused_calls_have_no_effect(replay: TranscriptReplay) -> None:
    cases = [
        {"is_error": True, "text": "<tool_use_error>String to replace not found</tool_use_error>"},
        {"is_error": None, "text": "<tool_use_error>File has not been read yet"},
        {"is_error": None, "detail": "Error: File has not been read yet"},
        {
            "is_error": True,
            "detail": "User rejected tool use",
            "text": "The user doesn't want to",
        },
        {"is_error": None, "text": "The user doesn't want to proceed with this tool use."},
        {"is_error": None, "text": "[Request interrupted by user for tool use]"},
        {"is_error": None, "toolDenialKind": "user-rejected"},
    ]
    for refusal in cases:
        trail = replay(call("Edit", {"file_path": "/repo/a.py"}, **refusal))
        assert (changes(trail), trail.unknown) == (NO_CHANGES, set()), refusal


def test_output_that_begins_with_error_is_not_a_failure(replay: TranscriptReplay) -> None:
    assert replay(bash("grep -h Error log > hits.txt", stdout="Error: 1")).created == {"hits.txt"}


def test_an_interrupted_command_has_no_effect(replay: TranscriptReplay) -> None:
    structured_result = {"stdout": "", "stderr": "", "interrupted": True}
    assert changes(replay(call("Bash", {"command": "rm a.py"}, structured_result))) == NO_CHANGES


def test_lines_of_sub_agents_are_ignored(replay: TranscriptReplay) -> None:
    trail = replay(wrote("a.py", isSidechain=True), bash("rm b.py", isSidechain=True))
    assert changes(trail) == NO_CHANGES


def test_a_line_with_a_known_uuid_is_ignored(replay: TranscriptReplay) -> None:
    first, second = wrote("a.py"), wrote("b.py")
    same_uuids = [{**new, "uuid": old["uuid"]} for old, new in zip(first, second, strict=True)]
    assert replay(first, same_uuids).created == {"a.py"}


def test_a_repeated_result_with_a_new_uuid_counts_once(replay: TranscriptReplay) -> None:
    lines = wrote("a.py")
    repeated = [{**line, "uuid": f"repeated-{number}"} for number, line in enumerate(lines)]
    assert changes(replay(lines, bash("rm a.py"), repeated)) == NO_CHANGES


def test_the_structured_result_of_a_line_with_several_results_is_ignored(
    replay: TranscriptReplay,
) -> None:
    (use_a, result_a), (use_b, result_b) = edited("a.py"), edited("b.py")
    result_a["message"]["content"] += result_b["message"]["content"]
    assert replay([use_a, use_b, result_a]).modified == {"a.py", "b.py"}


def test_a_result_without_its_call_still_counts(
    replay: TranscriptReplay,
) -> None:
    results = [wrote("a.py")[1], edited("b.py")[1], read("c.py")[1]]
    edits = {"filePath": "/repo/d.py", "edits": [], "originalFileContents": "x"}
    results.append(call("MultiEdit", {}, edits)[1])
    trail = replay(results)
    assert changes(trail) == ({"a.py"}, {"b.py", "d.py"}, set())
    assert trail.read == {"c.py"}


# -- the tools


def test_multi_edits_and_notebook_edits_modify_files(replay: TranscriptReplay) -> None:
    notebook = {"new_source": "x", "cell_type": "code", "edit_mode": "replace", "error": ""}
    trail = replay(
        call("MultiEdit", {"file_path": "/repo/a.py"}, {"filePath": "/repo/a.py", "edits": []}),
        call("NotebookEdit", {"notebook_path": "/repo/n.ipynb"}, notebook),
        call("NotebookEdit", {"notebook_path": "/repo/m.ipynb"}, {**notebook, "error": "no cell"}),
    )
    assert changes(trail) == (set(), {"a.py", "n.ipynb"}, set())


def test_an_edit_of_an_empty_string_creates_the_file(replay: TranscriptReplay) -> None:
    structured_result = {
        "filePath": "/repo/a.py",
        "oldString": "",
        "newString": "x",
        "originalFile": "",
    }
    assert replay(call("Edit", {"file_path": "/repo/a.py"}, structured_result)).created == {"a.py"}


def test_an_edit_without_the_original_text_modifies_the_file(replay: TranscriptReplay) -> None:
    structured_result = {
        "filePath": "/repo/a.py",
        "oldString": "x",
        "newString": "y",
        "originalFile": None,
    }
    assert replay(call("Edit", {"file_path": "/repo/a.py"}, structured_result)).modified == {"a.py"}


def test_a_write_without_a_structured_result_is_read_from_its_text(
    replay: TranscriptReplay,
) -> None:
    trail = replay(
        call("Write", {"file_path": "/repo/a"}, text="File created successfully at: /repo/a"),
        call("Write", {"file_path": "/repo/b"}, text="The file /repo/b has been updated."),
    )
    assert changes(trail) == ({"a"}, {"b"}, set())


def test_the_calls_inside_a_batch_call_count(replay: TranscriptReplay) -> None:
    invocations = [
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
    structured_result = {"resolvedInvocations": invocations, "orderedToolResults": answers}
    trail = replay(call("Batch", {"invocations": invocations}, structured_result))
    assert changes(trail) == ({"new.py"}, {"old.py"}, {"gone.py"})
    assert trail.read == {"read.py"}


def test_calls_of_mcp_file_servers_count(replay: TranscriptReplay) -> None:
    server = "mcp__filesystem__"
    output = "/repo/r1: text\n---\n/repo/r2: Error - ENOENT"
    trail = replay(
        call(server + "write_file", {"path": "/repo/w"}, [{"type": "text"}]),
        call(server + "edit_file", {"path": "/repo/e"}, []),
        call(server + "edit_file", {"path": "/repo/dry", "dryRun": True}, []),
        call(server + "move_file", {"source": "/repo/m", "destination": "/repo/n"}, []),
        call(server + "create_directory", {"path": "/repo/folder"}, []),
        call(server + "read_file", {"path": "/repo/r"}, []),
        call(server + "read_multiple_files", {"paths": ["/repo/r1", "/repo/r2"]}, [], text=output),
        call(server + "write_file", {"path": "/repo/x"}, "Error: denied", is_error=True),
        call("mcp__github__write_file", {"path": "/repo/y"}, []),
    )
    assert changes(trail) == ({"w", "n"}, {"e"}, {"m"})
    assert trail.read == {"r", "r1"}


# -- whether a file existed before the session


def test_an_empty_backup_means_that_the_file_is_new(replay: TranscriptReplay) -> None:
    delta = {
        "type": "file-history-delta",
        "trackingPath": "b.py",
        "backup": {"backupFileName": None},
    }
    trail = replay(
        backups(**{"a.py": None}), [delta], bash("echo x >> a.py"), edited("b.py"), edited("c.py")
    )
    assert changes(trail) == ({"a.py", "b.py"}, {"c.py"}, set())


def test_a_backup_between_a_write_and_its_result_is_ignored(
    replay: TranscriptReplay,
) -> None:
    use, result = wrote("a.py")
    assert replay([use], backups(**{"a.py": "f00@v1"}), [result]).created == {"a.py"}


def test_a_full_backup_does_not_prove_that_the_file_is_old(replay: TranscriptReplay) -> None:
    trail = replay(backups(a="f00@v1", b="f00@v1"), bash("echo > a; echo >> b"))
    assert changes(trail) == ({"a"}, {"b"}, set())


def test_only_the_first_backup_entry_of_a_file_counts(
    replay: TranscriptReplay,
) -> None:
    trail = replay(backups(a=None), wrote("a"), edited("b"), backups(a=None, b=None))
    assert changes(trail) == ({"a"}, {"b"}, set())


def test_a_redirection_into_a_file_that_was_read_modifies_it(replay: TranscriptReplay) -> None:
    assert changes(replay(read("a.py"), bash("echo > a.py"))) == (set(), {"a.py"}, set())


def test_appending_to_a_file_that_did_not_exist_creates_it(
    replay: TranscriptReplay,
) -> None:
    missing = call(
        "Read", {"file_path": "/repo/a"}, "Error: …", text="File does not exist.", is_error=True
    )
    assert changes(replay(missing, bash("echo x >> a"))) == ({"a"}, set(), set())


# -- edits without a result


def test_an_edit_without_a_result_is_unknown(replay: TranscriptReplay) -> None:
    trail = replay([edited("a.py")[0]], compacted(), read("b.py"), [wrote("c.py")[0]])
    assert trail.unknown == {"a.py", "c.py"}
    assert changes(trail) == NO_CHANGES


def test_a_result_after_a_compaction_still_counts(
    replay: TranscriptReplay,
) -> None:
    use, result = edited("a.py")
    trail = replay([use], compacted(), [result])
    assert (trail.unknown, trail.modified) == (set(), {"a.py"})


def test_reads_and_commands_without_a_result_are_not_unknown(replay: TranscriptReplay) -> None:
    assert replay([read("a.py")[0]], [bash("rm b.py")[0]]).unknown == set()


def test_until_line_counts_from_one_and_is_inclusive(replay: TranscriptReplay) -> None:
    steps = (wrote("a.py"), wrote("b.py"))
    assert replay(*steps, until_line=2).created == {"a.py"}
    trail = replay(*steps, until_line=3)
    assert (trail.created, trail.unknown) == ({"a.py"}, {"b.py"})


# -- paths


def test_paths_are_relative_to_the_first_cwd_and_absolute_outside_of_it(
    replay: TranscriptReplay,
) -> None:
    trail = replay(
        wrote("/repo/sub/../a.py"),
        wrote("/repo/sub/./b.py", cwd="/repo/sub"),
        wrote("/repository/c.py"),
        wrote("/worktrees/x/d.py", cwd="/worktrees/x"),
    )
    assert trail.created == {"a.py", "sub/b.py", "/repository/c.py", "/worktrees/x/d.py"}


def test_relative_paths_start_from_the_cwd_of_the_call(replay: TranscriptReplay) -> None:
    trail = replay(read("x.py"), bash("touch a ../b", cwd="/repo/sub"), bash("touch c"))
    assert trail.created == {"sub/a", "b", "c"}


def test_a_home_path_keeps_its_tilde(replay: TranscriptReplay) -> None:
    trail = replay(bash('echo > ~/.rc; echo > "$HOME/./x/../y"; rm ~/z'))
    assert changes(trail) == ({"~/.rc", "~/y"}, set(), {"~/z"})


def test_windows_paths_with_slashes_and_backslashes_are_the_same_file(
    replay: TranscriptReplay,
) -> None:
    options = {"cwd": r"C:\proj"}
    trail = replay(
        wrote("C:\\proj\\src\\a.py", **options),
        edited("c:/proj/src/a.py", **options),
        wrote("C:\\proj\\b.py", **options),
        bash("rm b.py; touch /c/proj/d.py src/e.py", **options),
    )
    assert trail.created == {r"src\a.py", "d.py", "src/e.py"}


# -- reading the file


def test_a_gzip_file_is_read_like_a_plain_file(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl.gz"
    file.write_bytes(gzip.compress(text_of(wrote("a.py")).encode()))
    assert read_trail(str(file)).created == {"a.py"}


def test_a_truncated_gzip_file_is_read_up_to_the_cut(tmp_path: Path) -> None:
    noise = [line("user", os.urandom(40).hex()) for _ in range(3000)]
    file = tmp_path / "session.jsonl.gz"
    file.write_bytes(gzip.compress(text_of(wrote("a.py"), noise).encode())[:-2000])
    assert read_trail(str(file)).created == {"a.py"}


def test_bad_lines_are_skipped(replay: TranscriptReplay) -> None:
    good = text_of(wrote("a.py"))
    trail = replay.replay_text(
        '\ufeff{"type":\n[]\n\n"text"\n\x00\n' + good + '{"type": "user", "mess'
    )
    assert trail.created == {"a.py"}


def test_a_line_with_an_invalid_escape_is_repaired(replay: TranscriptReplay) -> None:
    use, result = wrote("a.py")
    result["message"]["content"][0]["content"] = r"C:\\dir \d \u00e9 HERE"
    broken = json.dumps(result).replace("HERE", r"\- \x \u12")
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken)
    assert replay.replay_text(text_of([use]) + broken + "\n").created == {"a.py"}


def test_a_missing_file_raises_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTranscript, match="No such file"):
        read_trail(str(tmp_path / "nothing.jsonl"))


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
REPLACEMENTS = st.lists(st.tuples(st.integers(0, 200), JSON), max_size=4)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(replacements=REPLACEMENTS, command=st.text(max_size=40))
def test_unexpected_values_in_a_line_never_raise(
    replay: TranscriptReplay, replacements: list[tuple[int, Any]], command: str
) -> None:
    steps = [wrote("a"), edited("b"), bash(command), backups(c=None), call("Batch", {}, {})]
    for index, value in replacements:
        places = [(entry, key) for step in steps for entry in step for key in entry]
        entry, key = places[index % len(places)]
        entry[key] = value
    trail = replay(*steps)
    assert trail.created.isdisjoint(trail.deleted | trail.modified)
