"""Items of the work in progress: failing checks, plan, current step, sub-agents."""

from __future__ import annotations

from holdfast.brief.excerpt import make_excerpt
from holdfast.brief.findings import select_statements
from holdfast.brief.items import Item, cite_lines, ref
from holdfast.redaction import redact
from holdfast.state.rules.check_classifier import runs_all_tests, split_commands
from holdfast.state.rules.shell_history import is_viewer
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import Check, PlanItem, State

OPEN_STATUSES = ("in_progress", "pending")
# This many of the next pending plan items are required.
MIN_PENDING_SHOWN = 3
# How lines of output begin that say which test failed, but not why.
TEST_NAME_STARTS = ("FAIL", "--- FAIL", "not ok", "test ", "●", "✗", "×", "[")
MAX_HANDOFFS = 8
# A description of which the summary lacks a smaller share of words is not repeated.
MIN_DETAIL_NOVELTY = 0.3
MAX_VERDICTS = 5
VERDICT_VALUE, COMMAND_VALUE, PLAN_FILE_VALUE = 80.0, 52.0, 62.0
CHECK_VALUES = {"test": 88.0, "build": 80.0, "lint": 74.0}
# Tools that change nothing: it does not matter whether such a call finished.
READ_ONLY_TOOLS = (
    "Read", "Grep", "Glob", "LS", "WebSearch", "WebFetch", "ToolSearch", "TaskOutput",
)  # fmt: skip


def failing_check_items(state: State) -> Iterator[Item]:
    """The last four failing checks with their errors, the newest first.

    The newest is required if it is a test, a build, a linter or a refused commit.
    """
    failing = [
        check
        for check in state["checks"]
        if not check["ok"] and (check["kind"] != "run" or _is_current_failure(state, check))
    ][-4:]
    relevant = [check for check in failing if _needs_fixing(state, check)]
    for check in reversed(failing):
        is_newest = check is (relevant or failing)[-1]
        needs_fixing = _needs_fixing(state, check)
        command = f"`{one_line(check['command'].partition('<<')[0], 200)}`"
        where = f" at {check['where']}" if check["where"] else ""
        lines = [f"  `{line}`" for line in check["error"]]
        evidence = f"{_check_ref(check)}{_render_passed_since(state, check)}"
        head = f"- {command} fails{where} {evidence}"
        full, medium = "\n".join([head, *lines]), "\n".join([head, *lines[:2]])
        short = f"- `{one_line(check['command'], 100)}` fails {evidence}"
        if cause := _find_cause(check["error"]):
            short += f"\n  `{one_line(cause, 120)}`"
        value = CHECK_VALUES.get(check["kind"], 74.0 if needs_fixing else 50.0)
        yield Item(
            "failing",
            "error",
            value if is_newest else value - 15,
            check["line"],
            (full, medium, short),
            quote=_find_cause(check["error"]) or check["command"],
            names=(check["command"],),
            is_required=is_newest and needs_fixing,
        )


def verdict_items(state: State) -> Iterator[Item]:
    """The last verdict of each passing check, and which files were edited since."""
    passed = [check for check in state["checks"] if check["ok"] and check["kind"] != "run"]
    passed = [check for at, check in enumerate(passed) if not _is_outdated(check, passed[at + 1 :])]
    for age, check in enumerate(reversed(passed[-MAX_VERDICTS:])):
        edited = [
            path.rpartition("/")[2]
            for path, trail in state["files"].items()
            if trail.get("edits")
            and trail["line"] > check["line"]
            and not path.startswith(("/", "~"))
        ]
        verdict = f": “{check['verdict']}”" if check.get("verdict") else ""
        names = ", ".join(edited[-3:]) + (", …" if len(edited) > 3 else "")
        since = f"; edited since, not run again: {names}" if edited else ""
        text = f"- `{one_line(check['command'], 160)}` passed{verdict} {_check_ref(check)}{since}"
        yield Item(
            "now", "verdict", VERDICT_VALUE - 4 * age, check["line"], (text,),
            quote=f"{check['command']} {check.get('verdict', '')}", names=(check["command"],),
            is_prose=True,
        )  # fmt: skip


def _is_outdated(check: Check, later: list[Check]) -> bool:
    """Whether a later run of all tests makes the verdict of some tests superfluous."""
    return check["kind"] == "test" and any(
        other["kind"] == "test" and any(map(runs_all_tests, split_commands(other["command"])))
        for other in later
    )


def command_items(state: State) -> Iterator[Item]:
    """Commands that worked, in their last form, the most used and the newest first."""
    shell = [one for one in state["shell"] if one["runs"] > 1 or not is_viewer(one["text"])]
    for age, one in enumerate(reversed(shell)):
        value = COMMAND_VALUE - 14 * age / len(shell) + 2 * min(5, one["runs"])
        forms = tuple(
            f"- `{one_line(one['text'], size)}` {ref(one['line'])}" for size in (240, 100)
        )
        yield Item(
            "commands", "shell", value, one["line"], forms, quote=one["text"],
            names=(one["text"],), is_prose=True,
        )  # fmt: skip


def _render_passed_since(state: State, check: Check) -> str:
    """The last test run that passed after a failed one, or nothing. It may have covered the failed
    test; the reader has to judge."""
    passed = [one for one in state["checks"] if one["ok"] and one["line"] > check["line"]]
    tests = [one for one in passed if one["kind"] == check["kind"] == "test"]
    if not tests:
        return ""
    return f"; since then `{one_line(tests[-1]['command'], 60)}` passed {_check_ref(tests[-1])}"


def _check_ref(check: Check) -> str:
    return ref(check["call"], check["line"])


def _is_current_failure(state: State, check: Check) -> bool:
    """Whether a command that is no check failed since the latest request; an older failure was
    dealt with or given up, unless it is a refused commit."""
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    is_recent = check["line"] > latest and not is_viewer(check["command"])
    return is_recent or _needs_fixing(state, check)


def _needs_fixing(state: State, check: Check) -> bool:
    """Whether this is a test, a build or a linter, or a commit that was refused with no commit
    made since; other failed commands may not matter."""
    if check["kind"] != "run":
        return True
    last_commit = max((commit["line"] for commit in state["commits"]), default=0)
    return "git commit" in check["command"] and last_commit < check["line"]


def _find_cause(error: list[str]) -> str:
    """The line of an error that must be shown: the first that says why, rather than which test."""
    sentences = [line for line in error if " " in line]
    causes = [line for line in sentences if not _names_a_test(line)]
    return next(iter(causes or sentences or error), "")


def _names_a_test(line: str) -> bool:
    return line.startswith(TEST_NAME_STARTS) or line.partition(")")[0].isdigit()


def plan_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The open items of the plan, and one item for those that are done."""
    pending_count = 0
    for item in state["plan"]:
        if item["status"] not in OPEN_STATUSES:
            continue
        is_running = item["status"] == "in_progress"
        pending_count += not is_running
        status = "in progress" if is_running else "pending"
        detail = item.get("detail", "")
        if summary and summary.novelty(detail) < MIN_DETAIL_NOVELTY:
            detail = ""
        yield Item(
            "plan",
            "plan",
            86.0 if is_running else 66.0,
            item["line"],
            tuple(
                f"- {status}: {one_line(item['text'], size)}{_render_dependencies(state, item)}"
                f"{_render_detail(detail, detail_chars)} "
                f"{ref(item['source_line'], item['line'], *_dependency_lines(state, item))}"
                for size, detail_chars in ((240, 240), (240, 0), (100, 0))
            ),
            quote=item["text"],
            names=(detail,) if detail else (),
            is_required=is_running or pending_count <= MIN_PENDING_SHOWN,
        )
    done = [item for item in state["plan"] if item["status"] == "completed"]
    if done:
        yield Item(
            "plan",
            "done",
            48.0,
            done[-1]["line"],
            tuple(_render_done(done, count, chars) for count, chars in ((8, 90), (3, 60))),
        )


def _render_done(done: list[PlanItem], count: int, max_chars: int) -> str:
    """The titles of the items that were finished last."""
    shown = done[-count:]
    titles = "; ".join(one_line(item["text"], max_chars) for item in shown)
    lines = ref(*(line for item in shown for line in (item["source_line"], item["line"])))
    return f"- done ({len(done)}): {titles}{'; …' if len(done) > count else ''} {lines}"


def _render_detail(detail: str, max_chars: int) -> str:
    return f": “{one_line(detail, max_chars)}”" if detail and max_chars else ""


def plan_file_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The most important statements of the plan that the host keeps in a file."""
    plan = state["plan_file"]
    if plan and plan["text"]:
        forms = [
            f"- plan in {plan['path']}: “{form}” {ref(plan['line'])}"
            for form in select_statements(plan["text"], summary, (900, 450, 200))
        ]
        if forms:
            yield Item(
                "plan", "plan file", PLAN_FILE_VALUE, plan["line"], tuple(forms),
                quote=plan["text"], is_prose=True,
            )  # fmt: skip


def progress_items(state: State) -> Iterator[Item]:
    """How many items of the plan are done, in total and for each wave."""
    waves: dict[int, list[PlanItem]] = {}
    for item in state["plan"]:
        if item["status"] in (*OPEN_STATUSES, "completed"):
            waves.setdefault(item["wave"], []).append(item)
    all_items = [item for items in waves.values() for item in items]
    if all_items:
        yield _progress_item("plan", all_items, 67.0)
    for wave, items in sorted(waves.items()):
        if wave:
            yield _progress_item(f"wave {wave}", items, 65.0)


def _progress_item(name: str, items: list[PlanItem], value: float) -> Item:
    done = sum(item["status"] == "completed" for item in items)
    is_begun = any(item["status"] == "in_progress" for item in items) or 0 < done < len(items)
    status = "completed" if done == len(items) else "in progress" if is_begun else "not begun"
    where = cite_lines([[item["line"]] for item in items])
    line = max(item["line"] for item in items)
    text = f"- {name}: {status}, {done} of {len(items)} {where}"
    return Item("progress", "progress", value, line, (text,))


def _render_dependencies(state: State, item: PlanItem) -> str:
    """The open plan items that this one waits for."""
    open_texts = {
        other["id"]: other["text"] for other in state["plan"] if other["status"] in OPEN_STATUSES
    }
    texts = [one_line(open_texts[ident], 60) for ident in item["blocked_by"] if ident in open_texts]
    return f" (waits for: {'; '.join(texts)})" if texts else ""


def _dependency_lines(state: State, item: PlanItem) -> list[int]:
    """The transcript lines of the open plan items that this one waits for."""
    open_lines = {
        other["id"]: other["source_line"]
        for other in state["plan"]
        if other["status"] in OPEN_STATUSES
    }
    return [open_lines[ident] for ident in item["blocked_by"] if ident in open_lines]


def current_work_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The agent's last message, calls without a result, slash commands and open questions."""
    # The fold replaces the last message and the open calls at every step, so they are redacted
    # only where they are shown.
    if doing := state["doing"]:
        text = redact(doing["text"])
        latest = state["requests"][-1]["line"] if state["requests"] else 0
        label = "last said" if doing["line"] > latest else "said before the latest request"
        yield Item(
            "now",
            "doing",
            92.0,
            doing["line"],
            (
                *(
                    f"- {label}: “{form}” {ref(doing['line'])}"
                    for form in select_statements(text, summary, (1200, 600, 300), True)
                ),
                f"- {label}: “{make_excerpt(text, 120)}” {ref(doing['line'])}",
            ),
            quote=text,
            is_required=True,
        )
    # A running sub-agent is listed among the sub-agents, and a running command is not lost.
    agents = {agent["call"] for agent in state["agents"]}
    open_calls = [
        call
        for ident, call in state["calls"].items()
        if ident not in agents and not call.get("running") and call["name"] not in READ_ONLY_TOOLS
    ]
    for call in open_calls[-3:]:
        arguments = call["input"]
        target = redact(str(arguments.get("file_path") or arguments.get("command") or ""))
        yield Item(
            "now",
            "unfinished",
            70.0,
            call["line"],
            (
                f"- no result was recorded for {call['name']} `{one_line(target, 160)}`, so "
                f"whether it took effect is unknown {ref(call['line'])}",
            ),
            names=(target,) if target else (),
        )
    for started in state["commands"][-3:]:
        arguments_text = f" {one_line(started['text'], 160)}" if started["text"] else ""
        yield Item(
            "now",
            "command",
            58.0,
            started["line"],
            (f"- started: /{started['name']}{arguments_text} {ref(started['line'])}",),
            names=(started["name"],),
        )
    for question in state["questions"]:
        yield Item(
            "now",
            "question",
            75.0,
            question["line"],
            (f"- not yet answered: “{one_line(question['text'], 300)}” {ref(question['line'])}",),
            quote=question["text"],
        )


def subagent_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The last eight sub-agents, the newest first, and where their handoffs are.

    One that was started by the latest request and still runs is required.
    """
    yield from _handoff_items(state)
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    for agent in reversed(state["agents"][-8:]):
        is_running = agent["status"] == "running"
        task = one_line(agent["task"], 120)
        # The result is quoted, so that text in it is not read as an instruction.
        results = select_statements(agent["result"], summary, (600, 250))
        if agent["result"] and not results and not summary:
            results = [one_line(agent["result"], 250)]
        # A host's own id, unlike the id of the call, can be used to continue the sub-agent.
        ident = f" {agent['id']}" if agent["id"] != agent["call"] else ""
        where = ref(agent.get("source_line", 0), agent["line"])
        head = f"- {agent['type'] or 'agent'}{ident} {agent['status']}: "
        yield Item(
            "agents",
            "agent",
            68.0 if is_running else 38.0,
            agent["line"],
            (
                *(f"{head}{task} → “{result}” {where}" for result in results),
                f"{head}{task} {where}",
                f"- {agent['status']}: {one_line(agent['task'], 60)} {where}",
            ),
            quote=agent["result"] or agent["task"],
            is_prose=True,
            is_required=is_running and agent.get("source_line", 0) > latest,
        )


def _handoff_items(state: State) -> Iterator[Item]:
    """One required item that lists the ids of the handoffs, if there are any."""
    agents = [agent for agent in state["agents"] if "handoff" in agent][-MAX_HANDOFFS:]
    if not agents:
        return
    head = "- handed on (`holdfast handoff show ID`):"
    where = ref(*(agent["line"] for agent in agents))
    tasks = "; ".join(f"{agent['handoff']} {one_line(agent['task'], 80)}" for agent in agents)
    idents = ", ".join(agent["handoff"] for agent in agents)
    yield Item(
        "agents",
        "handoffs",
        60.0,
        agents[-1]["line"],
        (f"{head} {tasks} {where}", f"{head} {idents} {where}"),
        is_required=True,
    )
