"""Items of changed files and of git."""

from __future__ import annotations

from holdfast.brief.changes import file_items, git_items
from holdfast.brief.summary_overlap import SearchableSummary
from tests.unit.transcript_lines import ROOT, Line, bash, reply, state_of, tool_use, user


def edit(path: str, old: str = "x", new: str = "y") -> list[Line]:
    return tool_use("Edit", {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new})


def write(path: str, content: str = "x") -> list[Line]:
    tool_input = {"file_path": f"{ROOT}/{path}", "content": content}
    return tool_use("Write", tool_input, detail={"type": "create"})


def render_files(*lines: Line, summary: str = "") -> list[str]:
    searchable = SearchableSummary(summary) if summary else None
    return [item.forms[0] for item in file_items(state_of(*lines), searchable)]


def render_git(*lines: Line) -> list[str]:
    return [item.forms[0] for item in git_items(state_of(*lines))]


def test_a_changed_file_says_what_the_change_was_for() -> None:
    lines = [
        user("go"),
        reply("The cap is missing in `delay`:"),
        *edit("a.py", "cap = 0", "cap = 300"),
    ]
    assert render_files(*lines) == [
        "- edited a.py: “The cap is missing in `delay`”; `cap = 0 → cap = 300` (L3 L2)"
    ]


def test_a_new_file_says_what_it_defines() -> None:
    assert render_files(*write("a.py", "def delay():\n    ...\n")) == [
        "- created a.py (defines delay) (L1)"
    ]


def test_a_file_that_the_summary_names_is_left_out() -> None:
    assert render_files(*edit("a.py"), summary="Edited a.py.") == []
    assert render_files(*edit("b.py"), summary="Edited a.py.") != []


def test_names_of_tests_are_not_listed() -> None:
    assert render_files(*write("t.py", "def test_a(): ...")) == ["- created t.py (L1)"]


def test_scratch_files_and_the_hosts_plans_are_not_shown() -> None:
    for path in ("/tmp/x.py", "/home/dev/.claude/plans/plan.md"):
        made = tool_use("Write", {"file_path": path, "content": "x"}, detail={"type": "create"})
        assert render_files(*made) == [], path


def test_files_that_were_only_read_are_not_shown() -> None:
    assert render_files(*tool_use("Read", {"file_path": f"{ROOT}/a.py"}, "x")) == []


def test_a_file_that_was_created_and_removed_again_is_not_shown() -> None:
    assert render_files(*write("a.py"), *bash("rm a.py")) == []


def test_a_deleted_file_is_shown() -> None:
    assert render_files(*bash("rm old.py")) == ["- deleted old.py (L1)"]


def test_the_file_that_changed_last_comes_first() -> None:
    assert [text[:11] for text in render_files(*edit("a.py"), *edit("b.py"))] == [
        "- edited b.", "- edited a.",
    ]  # fmt: skip


def test_files_that_are_not_committed_are_counted() -> None:
    assert "- edited and not committed (2): b.py, a.py (L3)" in render_git(
        *edit("a.py"), *edit("b.py")
    )
    committed = bash("git commit -am 'Cap it'", "[main 1a2b3c4] Cap it")
    assert not any("not committed" in text for text in render_git(*edit("a.py"), *committed))


def test_a_commit_is_shown_with_its_body() -> None:
    command = "git commit -m 'Cap it\n\nAt 300 s.\n\nCo-Authored-By: x'"
    assert "- commit 1a2b3c4 Cap it: “At 300 s.” (L2)" in render_git(
        *bash(command, "[main 1a2b3c4] Cap it")
    )


def test_commits_after_the_last_push_are_named() -> None:
    first = bash("git commit -m 'Cap it'", "[main 1a2b3c4] Cap it")
    second = bash("git commit -m 'Test it'", "[main 5d6e7f8] Test it")
    push = bash("git push", "main -> main")
    lines = render_git(*first, *push, *second)
    assert "- committed and not pushed: 5d6e7f8 (L6)" in lines
    assert not any("not pushed" in text for text in render_git(*first, *second, *push))
    assert not any("not pushed" in text for text in render_git(*first))


def test_a_text_before_several_edits_is_quoted_for_the_first_file() -> None:
    said = reply("Now add the field to `Metadata`:")
    shown = render_files(user("go"), said, *write("types.go"), *write("writer.go"))
    assert shown == [
        "- created writer.go (L5)",
        "- created types.go: “Now add the field to `Metadata`” (L3 L2)",
    ]
