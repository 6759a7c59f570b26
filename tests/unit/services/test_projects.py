"""The project of a folder is its repository, shared by all worktrees of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.services.projects import find_project

AUTHOR = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]


def git(folder: Path, *arguments: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *AUTHOR, *arguments], cwd=folder, check=True, capture_output=True, env=environ
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "--quiet")
    git(main, "commit", "--quiet", "--allow-empty", "--message", "Start")
    return main


def test_a_folder_within_a_repository_belongs_to_its_root(repository: Path) -> None:
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_project(str(deep)) == find_project(str(repository)) == str(repository)


def test_a_folder_without_a_repository_is_its_own_project(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    assert find_project(str(tmp_path / "inner")) == str(tmp_path / "inner")


def test_a_deleted_folder_is_its_own_project(tmp_path: Path) -> None:
    assert find_project(str(tmp_path / "gone")) == str(tmp_path / "gone")


def test_an_empty_path_is_the_current_folder(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    assert find_project("") == str(repository)


@pytest.mark.parametrize("where", ["../beside", "within/the/tree"])
def test_a_worktree_belongs_to_the_main_working_tree(repository: Path, where: str) -> None:
    git(repository, "worktree", "add", "--quiet", where)
    inner = repository / where / "src"
    inner.mkdir()
    assert find_project(str(inner)) == str(repository)


def test_a_worktree_of_a_bare_repository_belongs_to_it(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    for name in ("one", "two"):
        git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / name))
        assert find_project(str(tmp_path / name)) == str(tmp_path / "bare.git")


def test_a_folder_with_a_bare_repository_and_its_worktrees_is_one_project(
    repository: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    git(folder, "clone", "--quiet", "--bare", str(repository), ".bare")
    (folder / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    git(folder, "worktree", "add", "--quiet", "one")
    assert find_project(str(folder / "one")) == find_project(str(folder)) == str(folder)


def test_a_submodule_is_a_separate_project(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "--quiet")
    git(outer, "submodule", "--quiet", "add", str(repository), "part")
    assert find_project(str(outer / "part")) == str(outer / "part")


@pytest.mark.parametrize("name", ["beside", "other"])
def test_a_git_file_that_names_a_repository_of_others_is_not_believed(
    repository: Path, tmp_path: Path, name: str
) -> None:
    """An unpacked archive with such a file would read and write another project's sessions."""
    git(repository, "worktree", "add", "--quiet", "../beside")
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    git_dir = repository / ".git" / "worktrees" / name
    (hostile / ".git").write_text(f"gitdir: {git_dir}\n", encoding="utf-8")
    assert find_project(str(hostile)) == str(hostile)
    assert find_project(str(tmp_path / "beside")) == str(repository)


def test_a_folder_that_brings_its_own_record_of_a_worktree_is_not_believed(
    repository: Path, tmp_path: Path
) -> None:
    record = tmp_path / "hostile" / "fake"
    record.mkdir(parents=True)
    (record.parent / ".git").write_text("gitdir: fake\n", encoding="utf-8")
    (record / "commondir").write_text(str(repository / ".git"), encoding="utf-8")
    (record / "gitdir").write_text("../.git", encoding="utf-8")
    assert find_project(str(record.parent)) == str(record.parent)


def test_a_worktree_of_a_deleted_repository_is_its_own_project(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "--quiet", "../beside")
    shutil.rmtree(repository)
    assert find_project(str(tmp_path / "beside")) == str(tmp_path / "beside")


@pytest.mark.parametrize("content", ["", "gitdir:", "gitdir: ../nowhere", "junk", "\xff\n" * 9000])
def test_a_folder_with_an_invalid_git_file_is_its_own_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    (tmp_path / ".git").write_text(content, encoding="latin-1")
    (tmp_path / "commondir").write_text("../..", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert find_project(str(tmp_path)) == str(tmp_path)


def test_a_symlink_to_a_repository_is_resolved(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert find_project(str(tmp_path / "link")) == str(repository)
