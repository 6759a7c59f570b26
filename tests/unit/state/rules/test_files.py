"""File histories: which files were read, edited, created, moved and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.file_history import MAX_EXPLAINED_FILES, MAX_FILES
from holdfast.state.types import FileTrail
from tests.unit.transcript_lines import ROOT, Line, bash, reply, state_of, tool_use, user


def read(path: Any, **options: Any) -> list[Line]:
    return tool_use("Read", {"file_path": path}, "1\tx", **options)


def edit(path: Any, new: str = "x = 1", **options: Any) -> list[Line]:
    return tool_use("Edit", {"file_path": path, "old_string": "x", "new_string": new}, **options)


def write(path: str, content: str = "x = 1", kind: str = "create") -> list[Line]:
    tool_input = {"file_path": path, "content": content}
    return tool_use(
        "Write", tool_input, detail={"type": kind, "filePath": path, "content": content}
    )


def files(*steps: list[Line]) -> dict[str, FileTrail]:
    return state_of(*(line for step in steps for line in step))["files"]


def test_only_successful_calls_are_recorded() -> None:
    cases = [
        ([read("a.py")], {"a.py": {"line": 1, "reads": 1}}),
        ([read("a.py"), read("a.py")], {"a.py": {"line": 3, "reads": 2}}),
        ([edit("a.py")], {"a.py": {"line": 1, "edits": 1, "swaps": ["x → x = 1"]}}),
        (
            [read("a.py"), edit("a.py")],
            {"a.py": {"line": 3, "reads": 1, "edits": 1, "swaps": ["x → x = 1"]}},
        ),
        ([write("a.py")], {"a.py": {"line": 1, "edits": 1, "created": 1}}),
        ([write("a.py", kind="update")], {"a.py": {"line": 1, "edits": 1}}),
        (
            [tool_use("MultiEdit", {"file_path": "a.py", "edits": []})],
            {"a.py": {"line": 1, "edits": 1}},
        ),
        (
            [tool_use("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"})],
            {"a.ipynb": {"line": 1, "edits": 1}},
        ),
        ([read("a.py", ok=False), edit("b.py", ok=False), bash("rm c.py", ok=False)], {}),
        ([tool_use("Grep", {"path": "a.py"}), bash("cat a.py")], {}),
        ([read(None), read(""), read(7), edit(["a.py"])], {}),
    ]
    for steps, expected in cases:
        assert files(*steps) == expected, steps


def test_a_deleted_file_from_before_the_session_is_kept_as_deleted() -> None:
    cases = [
        "rm a.py",
        "rm -f a.py",
        "rm -- a.py",
        "rm ./a.py",
        f"rm {ROOT}/a.py",
        "rm 'a.py'",
        "git rm a.py",
        "git rm -q -f a.py",
        "ls && rm a.py",
        "ls; rm a.py; ls",
        "ls\nrm a.py",
        "rm a.py || true",
        "rm a.py 2>/dev/null",
        "rm a.py > /dev/null 2>&1",
        "rm a.py | cat",
    ]
    for command in cases:
        assert files(read("a.py"), bash(command)) == {"a.py": {"line": 3, "deleted": 3}}, command
        assert files(bash(command)) == {"a.py": {"line": 1, "deleted": 1}}, command


@pytest.mark.parametrize("command", ["rm a.py", "git rm -f a.py", f"rm {ROOT}/a.py"])
def test_a_file_created_and_deleted_in_the_session_is_not_recorded(command: str) -> None:
    assert files(write("a.py"), edit("a.py"), bash(command)) == {}


@pytest.mark.parametrize("folder", ["tmp", "tmp/", "./tmp", ".//tmp//"])
def test_deleting_a_folder_deletes_its_files(folder: str) -> None:
    steps = [write("tmp/a.py"), read("tmp/deep/b.py"), read("tmpfile"), bash(f"rm -rf {folder}")]
    assert files(*steps) == {
        "tmp/deep/b.py": {"line": 7, "deleted": 7, "source_line": 3},
        "tmpfile": {"line": 5, "reads": 1},
    }


def test_commands_without_a_literal_path_delete_nothing() -> None:
    cases = [
        "rm *.pyc",
        'rm "$FILE"',
        "git rm --cached a.py",
        "echo rm a.py",
        'git commit -m "Drop it; rm a.py"',
        "npm rm left-pad",
        "rmdir a.py",
        "alarm a.py",
        "rm",
        "mv a.py",
        "git",
    ]
    for command in cases:
        assert files(read("a.py"), bash(command)) == {"a.py": {"line": 1, "reads": 1}}, command


@pytest.mark.parametrize(
    "later_use", [read("a.py"), edit("a.py"), write("a.py"), write("a.py", kind="update")]
)
def test_a_deleted_file_that_is_used_later_is_not_deleted(later_use: list[Line]) -> None:
    history = files(read("a.py"), bash("rm a.py"), later_use)["a.py"]
    assert "deleted" not in history
    assert history["line"] == 5


def test_a_moved_file_keeps_its_history() -> None:
    cases = [
        (
            [read("a.py"), bash("mv a.py b.py")],
            {
                "a.py": {"line": 3, "deleted": 3},
                "b.py": {"line": 3, "reads": 1, "created": 3},
            },
        ),
        (
            [write("a.py"), bash("git mv a.py b.py")],
            {"b.py": {"line": 3, "edits": 1, "created": 3}},
        ),
        (
            [write("a.py"), bash("mv a.py src/")],
            {"src/a.py": {"line": 3, "edits": 1, "created": 3}},
        ),
        (
            [read("src/b.py"), write("a.py"), bash("mv a.py src")],
            {
                "src/b.py": {"line": 1, "reads": 1},
                "src/a.py": {"line": 5, "edits": 1, "created": 5},
            },
        ),
        (
            [write("old/a.py"), edit("old/a.py"), bash("mv old new")],
            {
                "new/a.py": {
                    "line": 5,
                    "edits": 2,
                    "created": 5,
                    "source_line": 3,
                    "swaps": ["x → x = 1"],
                },
            },
        ),
        (
            [bash("rm a.py"), bash("mv a.py b.py")],
            {"a.py": {"line": 3, "deleted": 3}, "b.py": {"line": 3, "created": 3}},
        ),
        (
            [edit("b.py"), bash("rm b.py"), write("a.py"), bash("mv a.py b.py")],
            {"b.py": {"line": 7, "edits": 1}},
        ),
        ([write("a.py"), bash("mv a.py b.py"), bash("rm b.py")], {}),
        (
            [write("a.py"), bash("mv *.py src/")],
            {"src/a.py": {"line": 3, "edits": 1, "created": 3, "source_line": 1}},
        ),
    ]
    for steps, expected in cases:
        assert files(*steps) == expected, steps


def test_a_path_is_relative_to_the_project() -> None:
    cases = [
        ("/srv/app", "/srv/app/src/a.py", "src/a.py"),
        ("/srv/app/", "/srv/app/src/a.py", "src/a.py"),
        ("/srv/app", "/srv/app2/a.py", "/srv/app2/a.py"),
        ("/srv/app", "src/a.py", "src/a.py"),
        ("/srv/app", "/etc/hosts", "/etc/hosts"),
        ("", "/srv/app/a.py", "/srv/app/a.py"),
        ("/", "/etc/hosts", "/etc/hosts"),
        ("C:\\dev\\app", "C:\\dev\\app\\src\\a.py", "src\\a.py"),
        ("C:\\dev\\app", "C:/dev/app/src/a.py", "src\\a.py"),
    ]
    for root, path, expected in cases:
        lines = [{**line, "cwd": root} for line in (user("go"), *read(path))]
        assert list(state_of(*lines)["files"]) == [expected], (root, path)


def test_the_root_is_the_folder_in_which_the_session_began() -> None:
    lines = [user("go"), *({**line, "cwd": f"{ROOT}/web"} for line in read(f"{ROOT}/web/a.js"))]
    assert list(state_of(*lines)["files"]) == ["web/a.js"]


def test_an_edit_records_what_it_defines() -> None:
    cases = [
        ("def delay(attempt: int) -> float:\n    ...", ["delay"]),
        ("import os\n\n\nclass Worker:\n    def run(self): ...", ["Worker", "run"]),
        ("    async def run_once(self):", ["run_once"]),
        ("func Retry(n int) error {", ["Retry"]),
        ("func (s *Store) Save(n int) error {", ["Save"]),
        ("type LaneState struct {", ["LaneState"]),
        ("fn retry() {", ["retry"]),
        ("export function retry() {", ["retry"]),
        ("x = 1", None),
        ("# def old(): gone", None),
        ("default = 1\nclassify = 2", None),
        ("function () {", None),
    ]
    for text, symbols in cases:
        assert files(edit("a.py", text))["a.py"].get("symbols") == symbols, text
        assert files(write("a.py", text))["a.py"].get("symbols") == symbols, text


def test_what_a_file_defined_before_is_not_recorded() -> None:
    rewritten = files(write("a.py", "def old(): ...", kind="update"))["a.py"]
    assert "symbols" not in rewritten
    arguments = {
        "file_path": "a.py",
        "old_string": "def old():",
        "new_string": "def old():\ndef new():",
    }
    assert files(tool_use("Edit", arguments))["a.py"]["symbols"] == ["new"]


def test_an_edit_that_defines_nothing_keeps_what_was_defined() -> None:
    trail = files(edit("a.py", "def delay(): ..."), edit("a.py", "x = 1"))["a.py"]
    assert trail["symbols"] == ["delay"]


def test_an_edit_records_the_sentence_before_it() -> None:
    before = [user("fix the retry"), reply("I looked at it. The cap is missing in `delay`:")]
    trail = state_of(*before, *edit("a.py"))["files"]["a.py"]
    assert trail["purposes"] == [{"text": "The cap is missing in `delay`", "line": 2}]


def test_a_sentence_that_names_nothing_is_no_purpose() -> None:
    for said in ("Let me fix this.", "Now update the file.", "Done."):
        trail = state_of(user("go"), reply(said), *edit("a.py"))["files"]["a.py"]
        assert "purposes" not in trail, said


def test_a_reply_to_an_earlier_request_is_no_purpose() -> None:
    lines = [user("why?"), reply("Because the cap is missing in `delay`."), user("fix it")]
    assert "purposes" not in state_of(*lines, *edit("a.py"))["files"]["a.py"]


def test_only_the_files_that_changed_last_keep_their_purposes() -> None:
    lines = [user("go")]
    for number in range(MAX_EXPLAINED_FILES + 3):
        lines += [reply(f"Handle case {number} in the parser."), *edit(f"f{number}.py")]
    trails = state_of(*lines)["files"]
    assert [name for name in trails if "purposes" not in trails[name]] == [
        "f0.py",
        "f1.py",
        "f2.py",
    ]


def test_files_are_ordered_by_last_use() -> None:
    assert list(files(edit("a"), edit("b"), read("c"), read("a"))) == ["b", "c", "a"]


def repeat(step: Any, count: int = MAX_FILES + 10) -> list[list[Line]]:
    """The step for each of the files f0, f1, ..."""
    return [step(f"f{n}") for n in range(count)]


def test_files_that_were_only_read_are_dropped_first() -> None:
    kept = files(edit("edited"), *repeat(read))
    assert len(kept) == MAX_FILES
    assert "edited" in kept
    assert "f10" not in kept
    assert "f11" in kept


def test_the_file_edited_last_is_never_dropped() -> None:
    kept = files(*repeat(edit), read("last"))
    assert len(kept) == MAX_FILES
    assert list(kept)[-2:] == [f"f{MAX_FILES + 9}", "last"]


def test_deleted_and_moved_files_are_bounded_too() -> None:
    kept = files(*repeat(lambda name: bash(f"rm {name}")), bash("mv x y"))
    assert len(kept) == MAX_FILES
    assert list(kept)[-1] == "y"


def test_a_history_has_the_line_of_the_call() -> None:
    assert files(bash("echo x > out.log"))["out.log"]["line"] == 1


def test_a_later_call_with_the_path_clears_the_earlier_line() -> None:
    delete_folder = [read("tmp/a.py"), bash("rm -r tmp")]
    assert files(*delete_folder)["tmp/a.py"]["source_line"] == 1
    assert "source_line" not in files(*delete_folder, read("tmp/a.py"))["tmp/a.py"]
