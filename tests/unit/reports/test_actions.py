"""What each tool call read, changed, ran or asked."""

from __future__ import annotations

from holdfast.reports.actions import LAST_LINE, find_printed_files
from tests.unit.reports.session_lines import activity_of, edit, read
from tests.unit.transcript_lines import ROOT, Line, bash, call, result, tool_use


def test_files_that_a_shell_command_prints_are_found() -> None:
    cases = {
        "cat a.py": [("/p/a.py", 1, LAST_LINE)],
        "cat a.py /etc/hosts": [("/p/a.py", 1, LAST_LINE), ("/etc/hosts", 1, LAST_LINE)],
        "cd src && nl -ba b.py": [("/p/src/b.py", 1, LAST_LINE)],
        "head -20 a.py": [("/p/a.py", 1, 20)],
        "head -n 30 a.py": [("/p/a.py", 1, 30)],
        "head a.py": [("/p/a.py", 1, 10)],
        "sed -n '5,9p' a.py": [("/p/a.py", 5, 9)],
        "sed -n '7p' a.py": [("/p/a.py", 7, 7)],
        "sed -n '7,$p' a.py 2>/dev/null": [("/p/a.py", 7, LAST_LINE)],
        "git status; cat a.py": [("/p/a.py", 1, LAST_LINE)],
    }
    for command, expected in cases.items():
        assert [*find_printed_files(command, "/p")] == expected, command


def test_commands_that_print_a_part_that_is_not_known_read_nothing() -> None:
    for command in (
        "cat a.py | grep x",
        "cat a.py > b.py",
        "cat $FILE",
        "cat *.py",
        "head -c 100 a.py",
        "sed -n '/def/p' a.py",
        "sed -i s/a/b/ a.py",
        "tail -5 a.py",
        "grep x a.py",
        "cat",
        "echo 'cat a.py'",
    ):
        assert [*find_printed_files(command, "/p")] == [], command


def changes_of(*lines: Line) -> list[tuple[tuple[str, ...], str]]:
    """The changes and the edit of each action."""
    return [(action.changes, action.edits) for action in activity_of(*lines).actions]


def test_changes_name_their_files_if_the_log_does() -> None:
    arguments = {"path": f"{ROOT}/n.md", "content": "x"}
    written = tool_use("mcp__filesystem__write_file", arguments, "ok")
    assert changes_of(*edit("a.py"), *written) == [(("a.py",), "a.py"), (("n.md",), "n.md")]
    assert changes_of(*bash("mv a.py src/b.py")) == [(("a.py", "src/b.py"), "a.py")]
    assert changes_of(*bash("echo x > /tmp/y")) == [(("/tmp/y",), "")]
    assert changes_of(*bash("git checkout main")) == [(("",), "")]
    assert changes_of(*bash("mkdir src"), *bash("ls")) == [((), ""), ((), "")]
    assert changes_of(*bash("rm a.py", "no such file", ok=False)) == [((), "")]


def test_actions_are_in_the_order_of_their_calls() -> None:
    lines = [
        call("Read", {"file_path": f"{ROOT}/a.py"}, "t1"),
        call("Read", {"file_path": f"{ROOT}/b.py"}, "t2"),
        result("b", call_id="t2"),
        result("a", call_id="t1"),
        *read("c.py"),
    ]
    actions = activity_of(*lines).actions
    assert [(action.line, action.reads[0].path) for action in actions] == [
        (1, "a.py"),
        (2, "b.py"),
        (5, "c.py"),
    ]


def test_what_a_sub_agent_did_is_marked_as_its_own() -> None:
    lines = [{**line, "isSidechain": True, "agentId": "a1"} for line in read("a.py")]
    (action,) = activity_of(*lines).actions
    assert action.agent == "a1"
