"""Different spellings of a path are reduced to one path per file."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state import paths
from holdfast.state.fold import new_state
from holdfast.state.paths import MAX_CACHED_PATHS, MAX_PATH_CHARS, to_project_path
from tests.unit.transcript_lines import bash, state_of, tool_use, user


def project_path(root: str, path: str) -> str:
    state: Any = new_state()
    state["place"] = {"root": root, "cwd": root}
    return to_project_path(state, path)


def test_a_path_is_relative_to_the_project() -> None:
    cases = [
        ("/srv/app", "/srv/app/src/a.py", "src/a.py"),
        ("/srv/app/", "/srv/app/src/a.py", "src/a.py"),
        ("/srv/app", "src/a.py", "src/a.py"),
        ("/srv/app", "/srv/apple/a.py", "/srv/apple/a.py"),
        ("/srv/app", "/srv/a.py", "/srv/a.py"),
        ("/srv/app", "/srv/app", "/srv/app"),
        ("/srv/app", "/srv/app-old/a.py", "/srv/app-old/a.py"),
        ("", "/srv/app/a.py", "/srv/app/a.py"),
        ("", "a.py", "a.py"),
        # A session that was started in the root folder.
        ("/", "/srv/a.py", "/srv/a.py"),
        # A home folder.
        ("/home/ann/app", "~/app/a.py", "a.py"),
        ("/home/ann/app", "~/notes.md", "/home/ann/notes.md"),
        ("/Users/ann/app", "~/app/src/a.py", "src/a.py"),
        ("/Users/ann", "~/a.py", "a.py"),
        ("/root/app", "~/app/a.py", "a.py"),
        ("/root", "~/a.py", "a.py"),
        ("/srv/app", "~/a.py", "~/a.py"),
        ("/rooted/app", "~/a.py", "~/a.py"),
        ("/home/ann/app", "~bob/a.py", "~bob/a.py"),
        # Folders with two names on macOS.
        ("/private/tmp/app", "/tmp/app/a.py", "a.py"),
        ("/tmp/app", "/private/tmp/app/a.py", "a.py"),
        ("/private/var/f/app", "/var/f/app/a.py", "a.py"),
        ("/srv/app", "/private/tmp/a.py", "/tmp/a.py"),
        ("/srv/app", "/private/keys/a.py", "/private/keys/a.py"),
        ("/private/tmp", "/tmp/a.py", "a.py"),
        # Windows.
        ("C:\\code\\app", "C:\\code\\app\\src\\a.py", "src\\a.py"),
        ("C:\\code\\app", "c:\\Code\\App\\src\\a.py", "src\\a.py"),
        ("C:\\code\\app", "C:/code/app/src/a.py", "src\\a.py"),
        ("C:\\code\\app", "/c/code/app/src/a.py", "src\\a.py"),
        ("C:\\code\\app", "src/a.py", "src\\a.py"),
        ("C:\\code\\app", "/cc/a.py", "\\cc\\a.py"),
        ("c:/code/app", "C:\\code\\app\\src\\a.py", "src/a.py"),
        ("C:\\code\\app", "D:\\code\\app\\a.py", "D:\\code\\app\\a.py"),
        ("C:\\", "C:\\a.py", "a.py"),
        ("/srv/App", "/srv/app/a.py", "/srv/app/a.py"),
    ]
    for root, path, expected in cases:
        assert project_path(root, path) == expected, (root, path)


def test_the_path_depends_on_the_root_of_the_project() -> None:
    assert project_path("/srv/app", "/srv/app/a.py") == "a.py"
    assert project_path("/srv", "/srv/app/a.py") == "app/a.py"
    assert project_path("/srv/app", "/srv/app/a.py") == "a.py"


def test_the_path_cache_is_bounded() -> None:
    for number in range(MAX_CACHED_PATHS + 10):
        project_path("/srv/app", f"/srv/app/{number}.py")
    assert len(paths._path_cache) <= MAX_CACHED_PATHS + 1


def test_a_long_path_is_cut_and_a_secret_in_a_path_is_redacted() -> None:
    assert len(project_path("/srv/app", "/srv/app/" + "x" * 2 * MAX_PATH_CHARS)) == MAX_PATH_CHARS
    assert project_path("/srv/app", "/srv/app/ghp_" + "a1B2" * 9) == "[redacted:github-token]"


WORKTREE = "/srv/app/.worktrees/fix"


def test_a_session_that_starts_in_a_worktree_has_paths_relative_to_it() -> None:
    lines = [
        user("go", cwd=WORKTREE),
        *tool_use("Edit", {"file_path": f"{WORKTREE}/src/a.py"}, detail={"filePath": "x"}),
        *tool_use("Edit", {"file_path": "/srv/app/src/a.py"}, detail={"filePath": "x"}),
    ]
    lines = [{**line, "cwd": WORKTREE} for line in lines]
    assert list(state_of(*lines)["files"]) == ["src/a.py", "/srv/app/src/a.py"]


def test_a_session_that_enters_a_worktree_keeps_its_files_apart_from_the_projects() -> None:
    lines = [
        user("go"),
        *tool_use("Edit", {"file_path": "/srv/app/src/a.py"}, detail={"filePath": "x"}),
        *({**line, "cwd": WORKTREE} for line in bash("rm src/a.py && touch b.py")),
    ]
    files = state_of(*lines)["files"]
    assert list(files) == ["src/a.py", ".worktrees/fix/src/a.py", ".worktrees/fix/b.py"]
    assert "deleted" not in files["src/a.py"]


@pytest.mark.parametrize(
    "path_in_command",
    ["~/app/a.py", "/home/ann/app/a.py", "a.py", "./a.py", "src/../a.py"],
)
def test_a_command_and_a_tool_refer_to_the_same_file(path_in_command: str) -> None:
    root = "/home/ann/app"
    lines = [
        user("go"),
        *tool_use("Edit", {"file_path": f"{root}/a.py"}, detail={"filePath": f"{root}/a.py"}),
        *bash(f"rm {path_in_command}"),
    ]
    files = state_of(*({**line, "cwd": root} for line in lines))["files"]
    assert list(files) == ["a.py"]
    assert files["a.py"]["deleted"]


@pytest.mark.parametrize(
    "path_in_command", ["src/a.py", "/c/code/app/src/a.py", "'C:\\code\\app\\src\\a.py'"]
)
def test_a_command_and_a_tool_refer_to_the_same_file_on_windows(path_in_command: str) -> None:
    edit = tool_use("Edit", {"file_path": "C:\\code\\app\\src\\a.py"}, detail={"filePath": "x"})
    lines = [user("go"), *edit, *bash(f"rm {path_in_command}")]
    files = state_of(*({**line, "cwd": "C:\\code\\app"} for line in lines))["files"]
    assert list(files) == ["src\\a.py"]
    assert files["src\\a.py"]["deleted"]
