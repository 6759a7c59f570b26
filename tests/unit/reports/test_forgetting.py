"""What a compaction cost: each figure, what it is out of, and when it cannot be told."""

from __future__ import annotations

from typing import Any

from holdfast.reports.forgetting import WINDOW_ACTIONS, Figure
from tests.unit import rollout_lines as codex
from tests.unit.reports.session_lines import (
    activity_of,
    ask,
    compaction,
    cost_of,
    edit,
    read,
    work,
)
from tests.unit.transcript_lines import (
    Line,
    assistant,
    attachment,
    bash,
    call,
    reply,
    result,
    tool_use,
    user,
)


def brief(figure: Figure) -> tuple[int | None, int]:
    return figure.count, figure.out_of


def items(figure: Figure) -> list[tuple[str, int, int]]:
    return [(item.text, item.line, item.earlier_line) for item in figure.items]


def after(*lines: Line | bytes, **options: Any) -> Any:
    return cost_of(*lines, **options).after


def test_a_file_that_was_read_before_and_not_changed_is_read_again() -> None:
    lines = [*read("a.py"), *read("b.py"), *compaction(), *read("a.py"), *read("new.py")]
    figure = after(*lines).files_read_again
    assert brief(figure) == (1, 2)
    assert items(figure) == [("a.py", 7, 1)]
    assert figure.tokens > 0


def test_a_file_is_counted_once_and_with_the_tokens_of_every_time() -> None:
    lines = [*read("a.py"), *compaction(), *read("a.py"), *read("a.py")]
    figure = after(*lines).files_read_again
    assert brief(figure) == (1, 1)
    assert figure.tokens == 2 * after(*lines[:-2]).files_read_again.tokens


def test_a_file_that_the_agent_changed_since_is_counted_apart() -> None:
    changes = [
        edit("a.py"),
        tool_use("Write", {"file_path": "/srv/app/a.py", "content": "x"}),
        bash("sed -i s/1/2/ a.py"),
        bash("mv b.py a.py"),
        bash("rm -r ."),
    ]
    for change in changes:
        for lines in (
            [*read("a.py"), *change, *compaction(), *read("a.py")],
            [*read("a.py"), *compaction(), *change, *read("a.py")],
        ):
            figure = after(*lines).files_read_again
            assert (brief(figure), figure.changed_since) == ((0, 1), 1), change


def test_a_file_that_something_else_changed_is_counted_apart() -> None:
    lines = [*read("a.py"), *bash("make format"), *compaction(), *read("a.py", "1→other")]
    figure = after(*lines).files_read_again
    assert (brief(figure), figure.changed_since) == ((0, 1), 1)


def test_only_lines_that_were_read_before_are_read_again() -> None:
    part = read("a.py", offset=100, limit=50)
    for offset, limit, expected in ((1, 50, 0), (50, 51, 1), (149, 10, 1), (150, 10, 0)):
        lines = [*part, *compaction(), *read("a.py", "other", offset=offset, limit=limit)]
        assert after(*lines).files_read_again.count == expected, (offset, limit)


def test_a_file_that_the_shell_prints_counts_as_read() -> None:
    lines = [*read("a.py"), *compaction(), *bash("cd src && sed -n '1,9p' ../a.py", "def f()")]
    assert items(after(*lines).files_read_again) == [("a.py", 5, 1)]
    filtered = [*read("a.py"), *compaction(), *bash("cat a.py | grep f", "def f()")]
    assert after(*filtered).files_read_again.reason == "no file was read"


def test_a_read_before_an_edit_of_the_file_is_marked() -> None:
    lines = [*read("a.py"), *read("b.py"), *compaction(), *read("a.py"), *read("b.py")]
    figure = after(*lines, *edit("a.py")).files_read_again
    assert [(item.text, item.before_edit) for item in figure.items] == [
        ("a.py", True),
        ("b.py", False),
    ]


def test_reads_that_git_or_an_unknown_sub_agent_may_have_outdated_are_undecided() -> None:
    agent = tool_use("Task", {"prompt": "fix it", "subagent_type": "general-purpose"}, "done")
    for between in (bash("git checkout main"), agent):
        lines = [*read("a.py", offset=1, limit=9), *between, *compaction(), *read("a.py")]
        figure = after(*lines).files_read_again
        assert (figure.count, figure.is_decided, figure.out_of) == (None, False, 1), between
        also_known = [*read("b.py"), *lines, *read("b.py")]
        figure = after(*also_known).files_read_again
        assert (figure.count, figure.is_minimum) == (1, True)
    explorer = tool_use("Task", {"prompt": "look", "subagent_type": "Explore"}, "done")
    lines = [*read("a.py", offset=1, limit=9), *explorer, *compaction(), *read("a.py")]
    assert after(*lines).files_read_again.count == 1


def test_the_same_text_is_read_again_whatever_git_did_in_between() -> None:
    lines = [*read("a.py"), *bash("git stash"), *compaction(), *read("a.py")]
    assert after(*lines).files_read_again.count == 1


def test_a_command_with_the_same_output_and_no_change_in_between_is_repeated() -> None:
    lines = [*bash("git log", "c1"), *compaction(), *bash("git log", "c1"), *bash("ls", "a")]
    figure = after(*lines).commands_repeated
    assert brief(figure) == (1, 2)
    assert items(figure) == [("git log", 5, 1)]


def test_a_command_is_not_repeated_if_a_file_or_its_output_changed() -> None:
    for between, output in ((edit("a.py"), "c1"), (bash("echo x > a.py"), "c1"), ([], "c2 x")):
        lines = [*bash("git log", "c1"), *between, *compaction(), *bash("git log", output)]
        assert after(*lines).commands_repeated.count == 0, (between, output)


def test_times_in_the_output_and_how_much_of_it_is_shown_do_not_matter_for_checks() -> None:
    lines = [
        *bash("pytest -q 2>&1 | tail -30", "....\n3 passed in 0.12s"),
        *compaction(),
        *bash("cd /srv/app && pytest -q 2>&1 | tail -5", "3 passed in 4.01s"),
    ]
    assert items(after(*lines).commands_repeated) == [("pytest -q", 5, 1)]


def test_commands_that_wait_or_change_something_are_meant_to_be_repeated() -> None:
    for command in ("sleep 5 && gh run view", "git stash", "rm -f a.txt"):
        lines = [*bash(command), *compaction(), *bash(command)]
        assert after(*lines).commands_repeated.reason == "no command was run", command


def test_commands_are_cited_without_secrets() -> None:
    secret = "ghp_" + "a1B2" * 9
    command = bash(f"curl -H 'Authorization: token {secret}' https://api.github.com", "ok")
    (item,) = after(*command, *compaction(), *command).commands_repeated.items
    assert secret not in item.text
    assert item.text.startswith("curl")


def test_a_search_can_be_repeated() -> None:
    search = tool_use("Grep", {"pattern": "def f", "path": "src"}, "src/a.py")
    assert after(*search, *compaction(), *search).commands_repeated.count == 1


def test_a_question_that_the_user_answered_is_asked_again() -> None:
    lines = [
        *ask("Which database should the queue use?"),
        *edit("a.py"),
        *compaction(),
        *ask("Which database should the queue use?"),
        *ask("What is the name of the branch?"),
    ]
    figure = after(*lines).questions_asked_again
    assert brief(figure) == (1, 2)
    assert items(figure) == [("Which database should the queue use?", 7, 1)]


def test_a_question_at_the_end_of_a_reply_counts_only_if_nothing_changed_in_between() -> None:
    question = [reply("Tests pass. Should I push the branch to origin now?"), user("not yet")]
    again = after(*question, *work(1), *compaction(), *work(1, 5), *question)
    assert brief(again.questions_asked_again) == (1, 1)
    changed = after(*question, *edit("a.py"), *compaction(), *work(1, 5), *question)
    assert brief(changed.questions_asked_again) == (0, 1)


def test_a_question_that_the_agent_answers_itself_is_none() -> None:
    lines = [reply("Why does it fail?"), *work(1), *compaction(), reply("Why does it fail?")]
    figure = after(*lines, *work(2, 5)).questions_asked_again
    assert figure.reason == "no question was asked"


def test_the_first_edit_is_counted_in_actions() -> None:
    lines = [*work(1), *compaction(), *read("a.py"), *work(2, 5), *edit("a.py"), *edit("b.py")]
    figure = after(*lines).first_edit
    assert brief(figure) == (4, 5)
    assert items(figure) == [("a.py", 11, 0)]


def test_an_edit_that_failed_or_is_outside_the_project_is_not_the_first() -> None:
    failed = tool_use("Edit", {"file_path": "/srv/app/a.py"}, "no match", ok=False)
    lines = [*work(1), *compaction(), *failed, *bash("echo x > /tmp/x"), *bash("echo x > b.py")]
    assert items(after(*lines).first_edit) == [("b.py", 9, 0)]


def test_the_first_edit_of_a_known_sub_agent_counts_and_that_of_an_unknown_one_is_undecided() -> (
    None
):
    start = call("Task", {"prompt": "fix", "subagent_type": "worker"}, "toolu_9")
    inside = {
        "type": "progress", "parentToolUseID": "toolu_9", "timestamp": "2026-01-05T10:00:00.000Z",
        "data": {"type": "agent_progress", "agentId": "a1", "message": edit("a.py")[0]},
    }  # fmt: skip
    ended = {**inside, "data": {**inside["data"], "message": edit("a.py")[1]}}
    done = result("done", call_id="toolu_9")
    known = after(*work(1), *compaction(), start, inside, ended, done, *work(1, 5)).first_edit
    assert brief(known) == (1, 2)
    unknown = after(*work(1), *compaction(), start, done, *edit("b.py")).first_edit
    assert (unknown.count, unknown.is_decided) == (None, False)
    assert "a sub-agent started at L5" in unknown.reason


def test_nothing_is_told_without_an_action_after_the_compaction() -> None:
    cost = cost_of(*read("a.py"), *compaction(), reply("Done."))
    figures = (
        cost.after.first_edit,
        cost.after.files_read_again,
        cost.after.commands_repeated,
        cost.after.questions_asked_again,
    )
    assert [(figure.count, figure.reason) for figure in figures] == [
        (None, "no action followed")
    ] * 4
    assert (cost.before, cost.no_before_reason) == (None, "no action followed")


def test_nothing_is_told_of_a_log_that_starts_with_the_compaction() -> None:
    figures = after(*compaction(), *read("a.py"), *bash("ls"), *ask("Which one is it now?"))
    for figure in (
        figures.files_read_again,
        figures.commands_repeated,
        figures.questions_asked_again,
    ):
        assert (figure.count, figure.is_decided) == (None, False)
        assert figure.reason == "the log has no action from before"


def test_damaged_lines_never_give_a_zero() -> None:
    damaged = b'{"type":"assistant","mess'
    lines = [*read("a.py"), damaged, *compaction(), *read("b.py"), damaged, *edit("b.py")]
    figures = after(*lines)
    assert (figures.files_read_again.count, figures.files_read_again.is_decided) == (None, False)
    assert figures.first_edit.reason == "line L8 could not be read"
    figure = after(*lines, *read("a.py")).files_read_again
    assert (figure.count, figure.is_minimum) == (1, True)


def test_a_call_without_a_result_read_nothing() -> None:
    unfinished = read("a.py")[:1]
    assert after(*read("a.py"), *compaction(), *unfinished).files_read_again.reason == (
        "no file was read"
    )


def test_the_window_ends_after_forty_actions_or_at_the_next_compaction() -> None:
    lines = [*read("a.py"), *compaction(), *work(WINDOW_ACTIONS), *read("a.py")]
    figures = after(*lines)
    assert (figures.actions, figures.files_read_again.reason) == (40, "no file was read")
    lines = [*read("a.py"), *compaction(), *work(3), *compaction(), *read("a.py")]
    assert after(*lines).actions == 3
    assert after(*lines, number=2).files_read_again.count == 1


def test_as_many_actions_before_the_compaction_are_measured_for_comparison() -> None:
    lines = [*read("a.py"), *read("b.py"), *read("a.py"), *edit("b.py")]
    cost = cost_of(*lines, *compaction(), *work(1), *edit("c.py"))
    assert cost.before is not None
    assert cost.before.actions == cost.after.actions == 2
    assert (cost.before.first_line, cost.before.last_line) == (5, 7)
    assert items(cost.before.files_read_again) == [("a.py", 5, 1)]
    assert brief(cost.before.first_edit) == (2, 2)


def test_calls_that_share_a_line_are_counted_one_by_one() -> None:
    def both(first: str, second: str) -> list[Line]:
        calls = [read(name)[0]["message"]["content"][0] for name in (first, second)]
        blocks = [{**block, "id": f"t{number}"} for number, block in enumerate(calls)]
        return [assistant(*blocks), result("x", call_id="t0"), result("x", call_id="t1")]

    lines = [
        *work(4),
        *both("a.py", "b.py"),
        *compaction(),
        *work(1, 9),
        *work(1, 10),
        *work(1, 11),
    ]
    cost = cost_of(*lines)
    assert cost.before is not None
    assert cost.before.actions == cost.after.actions == 3
    lines = [*both("a.py", "b.py"), *compaction(), *both("a.py", "b.py")]
    assert brief(after(*lines).files_read_again) == (2, 2)
    many = [line for number in range(30) for line in both(f"a{number}.py", f"b{number}.py")]
    assert after(*work(1), *compaction(), *many).actions == WINDOW_ACTIONS


def test_a_stretch_that_is_too_short_is_not_compared() -> None:
    lines = [*work(9), *compaction(), *work(3), *compaction(), *work(2, 20)]
    cost = cost_of(*lines, number=2)
    assert (cost.before, cost.no_before_reason) == (None, "only 3 actions came before it")
    assert cost_of(*lines).before is not None


def test_files_that_the_host_shows_again_are_counted_apart() -> None:
    shown = [
        attachment("file", filename="/srv/app/a.py", content={}),
        attachment("compact_file_reference", filename="/srv/app/b.py"),
    ]
    later = attachment("file", filename="/srv/app/c.py", content={})
    cost = cost_of(*read("a.py"), *compaction(), *shown, *read("d.py"), later)
    assert items(cost.files_shown_by_host) == [("a.py", 5, 0), ("b.py", 6, 0)]
    assert brief(cost.after.files_read_again) == (0, 1)
    silent = [*read("a.py"), *compaction(), *read("a.py")]
    assert cost_of(*silent).files_shown_by_host.reason == "no file is logged"
    figure = cost_of(*silent, logs_attachments=False).files_shown_by_host
    assert (figure.count, figure.is_decided) == (None, False)


def test_an_interrupted_edit_leaves_undecided_whether_the_file_changed() -> None:
    interrupted = call("Edit", {"file_path": "/srv/app/a.py"}, "toolu_9")
    lines = [*read("a.py", offset=1, limit=9), interrupted, *compaction(), *read("a.py")]
    figure = after(*lines).files_read_again
    assert (figure.count, figure.is_decided) == (None, False)
    same_text = [*read("a.py"), interrupted, *compaction(), *read("a.py")]
    assert after(*same_text).files_read_again.count == 1


def test_tools_of_other_servers_may_have_edited_files() -> None:
    drawing = tool_use("mcp__pencil__batch_design", {"operations": "x"}, "ok")
    figure = after(*work(1), *compaction(), *drawing).first_edit
    assert (figure.count, figure.is_decided) == (None, False)
    assert after(*work(1), *compaction(), *drawing, *edit("a.py")).first_edit.count == 2


def test_a_script_of_codex_counts_as_the_calls_inside_it() -> None:
    script = codex.custom("exec", "await tools.apply_patch(patch)", "call_9")
    change = {"type": "patch_apply_end", "call_id": "exec-1", "success": True, "stdout": "done",
              "changes": {f"{codex.ROOT}/a.py": {"type": "update"}}}  # fmt: skip
    lines = [codex.meta(), script, codex.line("event_msg", change), codex.output("{}", "call_9")]
    assert [(action.tool, action.edits) for action in activity_of(*lines).actions] == [
        ("apply_patch", "a.py")
    ]
