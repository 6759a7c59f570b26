"""The file trails: what was read, edited, created, moved and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.file_history import MAX_FILES
from holdfast.state.types import FileTrail
from tests.unit.transcript_lines import ROOT, Line, bash, state_of, used, user


def read(path: Any, **more: Any) -> list[Line]:
    return used("Read", {"file_path": path}, "1\tx", **more)


def edit(path: Any, new: str = "x = 1", **more: Any) -> list[Line]:
    return used("Edit", {"file_path": path, "old_string": "x", "new_string": new}, **more)


def write(path: str, content: str = "x = 1", kind: str = "create") -> list[Line]:
    given = {"file_path": path, "content": content}
    return used("Write", given, detail={"type": kind, "filePath": path, "content": content})


def files(*steps: list[Line]) -> dict[str, FileTrail]:
    return state_of(*(line for step in steps for line in step))["files"]


def test_only_successful_calls_leave_a_trail() -> None:
    cases = [
        ([read("a.py")], {"a.py": {"line": 1, "reads": 1}}),
        ([read("a.py"), read("a.py")], {"a.py": {"line": 3, "reads": 2}}),
        ([edit("a.py")], {"a.py": {"line": 1, "edits": 1}}),
        ([read("a.py"), edit("a.py")], {"a.py": {"line": 3, "reads": 1, "edits": 1}}),
        ([write("a.py")], {"a.py": {"line": 1, "edits": 1, "created": 1}}),
        ([write("a.py", kind="update")], {"a.py": {"line": 1, "edits": 1}}),
        (
            [used("MultiEdit", {"file_path": "a.py", "edits": []})],
            {"a.py": {"line": 1, "edits": 1}},
        ),
        (
            [used("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"})],
            {"a.ipynb": {"line": 1, "edits": 1}},
        ),
        ([read("a.py", ok=False), edit("b.py", ok=False), bash("rm c.py", ok=False)], {}),
        ([used("Grep", {"path": "a.py"}), bash("cat a.py")], {}),
        ([read(None), read(""), read(7), edit(["a.py"])], {}),
    ]
    for steps, left in cases:
        assert files(*steps) == left, steps


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
def test_a_file_created_and_deleted_here_leaves_no_trail(command: str) -> None:
    assert files(write("a.py"), edit("a.py"), bash(command)) == {}


@pytest.mark.parametrize("folder", ["tmp", "tmp/", "./tmp", ".//tmp//"])
def test_deleting_a_folder_deletes_its_files(folder: str) -> None:
    steps = [write("tmp/a.py"), read("tmp/deep/b.py"), read("tmpfile"), bash(f"rm -rf {folder}")]
    assert files(*steps) == {
        "tmp/deep/b.py": {"line": 7, "deleted": 7, "told": 3},
        "tmpfile": {"line": 5, "reads": 1},
    }


def test_commands_that_name_no_known_file_delete_nothing() -> None:
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
    "again", [read("a.py"), edit("a.py"), write("a.py"), write("a.py", kind="update")]
)
def test_a_file_that_is_used_again_is_not_deleted(again: list[Line]) -> None:
    trail = files(read("a.py"), bash("rm a.py"), again)["a.py"]
    assert "deleted" not in trail
    assert trail["line"] == 5


def test_a_moved_file_keeps_its_trail() -> None:
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
            {"new/a.py": {"line": 5, "edits": 2, "created": 5, "told": 3}},
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
            {"src/a.py": {"line": 3, "edits": 1, "created": 3, "told": 1}},
        ),
    ]
    for steps, left in cases:
        assert files(*steps) == left, steps


def test_a_file_is_named_relative_to_the_project() -> None:
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
    for root, path, name in cases:
        lines = [{**line, "cwd": root} for line in (user("go"), *read(path))]
        assert list(state_of(*lines)["files"]) == [name], (root, path)


def test_the_root_is_where_the_session_began() -> None:
    lines = [user("go"), *({**line, "cwd": f"{ROOT}/web"} for line in read(f"{ROOT}/web/a.js"))]
    assert list(state_of(*lines)["files"]) == ["web/a.js"]


def test_an_edit_sets_the_symbol_it_defines() -> None:
    cases = [
        ("def delay(attempt: int) -> float:\n    ...", "delay"),
        ("import os\n\n\nclass Worker:\n    def run(self): ...", "Worker"),
        ("    async def run_once(self):", "run_once"),
        ("func Retry(n int) error {", "Retry"),
        ("fn retry() {", "retry"),
        ("export function retry() {", "retry"),
        ("x = 1", None),
        ("# def old(): gone", None),
        ("default = 1\nclassify = 2", None),
        ("function () {", None),
    ]
    for text, symbol in cases:
        assert files(edit("a.py", text))["a.py"].get("symbol") == symbol, text
        assert files(write("a.py", text))["a.py"].get("symbol") == symbol, text


def test_an_edit_that_defines_nothing_leaves_the_last_symbol() -> None:
    assert (
        files(edit("a.py", "def delay(): ..."), edit("a.py", "x = 1"))["a.py"]["symbol"] == "delay"
    )


def test_files_are_ordered_by_last_use() -> None:
    assert list(files(edit("a"), edit("b"), read("c"), read("a"))) == ["b", "c", "a"]


def many(make: Any, count: int = MAX_FILES + 10) -> list[list[Line]]:
    return [make(f"f{n}") for n in range(count)]


def test_files_that_were_only_read_are_dropped_first() -> None:
    left = files(edit("mine"), *many(read))
    assert len(left) == MAX_FILES
    assert "mine" in left
    assert "f10" not in left
    assert "f11" in left


def test_the_file_edited_last_is_never_dropped() -> None:
    left = files(*many(edit), read("last"))
    assert len(left) == MAX_FILES
    assert list(left)[-2:] == [f"f{MAX_FILES + 9}", "last"]


def test_deleted_and_moved_files_are_bounded_too() -> None:
    left = files(*many(lambda name: bash(f"rm {name}")), bash("mv x y"))
    assert len(left) == MAX_FILES
    assert list(left)[-1] == "y"


def test_a_trail_has_the_line_of_the_call() -> None:
    assert files(bash("echo x > out.log"))["out.log"]["line"] == 1


def test_naming_a_file_again_clears_the_earlier_line() -> None:
    gone = [read("tmp/a.py"), bash("rm -r tmp")]
    assert files(*gone)["tmp/a.py"]["told"] == 1
    assert "told" not in files(*gone, read("tmp/a.py"))["tmp/a.py"]
