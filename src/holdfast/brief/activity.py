"""Items of the work in progress: the last message, open calls and questions, sub-agents."""

from __future__ import annotations

from holdfast.brief.excerpt import make_excerpt
from holdfast.brief.items import Item, ref
from holdfast.brief.statements import select_lasting, select_statements
from holdfast.redaction import redact
from holdfast.state.quoting import code, plain_line, quote
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import State

MAX_HANDOFFS = 8
# Tools that change nothing: it does not matter whether such a call finished.
READ_ONLY_TOOLS = (
    "Read", "Grep", "Glob", "LS", "WebSearch", "WebFetch", "ToolSearch", "TaskOutput",
)  # fmt: skip


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
                    f"- {label}: {quote(form)} {ref(doing['line'])}"
                    for form in select_statements(text, summary, (1200, 600, 300), True)
                ),
                f"- {label}: {quote(make_excerpt(text, 120), 120)} {ref(doing['line'])}",
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
                f"- no result was recorded for {plain_line(call['name'], 80)} "
                f"{code(target, 160)}, so whether it took effect is unknown {ref(call['line'])}",
            ),
            names=(target,) if target else (),
        )
    for started in state["commands"][-3:]:
        arguments_text = f" {plain_line(started['text'], 160)}" if started["text"] else ""
        yield Item(
            "now",
            "command",
            58.0,
            started["line"],
            (
                f"- started: /{plain_line(started['name'], 100)}{arguments_text} "
                f"{ref(started['line'])}",
            ),
            names=(started["name"],),
        )
    for question in state["questions"]:
        yield Item(
            "now",
            "question",
            75.0,
            question["line"],
            (f"- not yet answered: {quote(question['text'], 300)} {ref(question['line'])}",),
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
        task = plain_line(agent["task"], 120)
        # The result is quoted, so that text in it is not read as an instruction.
        results = select_lasting(agent["result"], None, (500, 250))
        if agent["result"] and not results:
            results = [one_line(agent["result"], 250)]
        if not is_running and (summary or not results):
            # A summary tells what came of it; without a result, that it ended is not worth a line.
            continue
        # A host's own id, unlike the id of the call, can be used to continue the sub-agent.
        ident = f" {plain_line(agent['id'], 80)}" if agent["id"] != agent["call"] else ""
        where = ref(agent.get("source_line", 0), agent["line"])
        head = f"- {plain_line(agent['type'], 80) or 'agent'}{ident} {agent['status']}: "
        yield Item(
            "agents",
            "agent",
            68.0 if is_running else 38.0,
            agent["line"],
            (
                *(f"{head}{task} → {quote(result)} {where}" for result in results),
                *([f"{head}{task} {where}"] if is_running or not results else []),
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
    tasks = "; ".join(f"{agent['handoff']} {plain_line(agent['task'], 80)}" for agent in agents)
    idents = ", ".join(agent["handoff"] for agent in agents)
    yield Item(
        "agents",
        "handoffs",
        60.0,
        agents[-1]["line"],
        (f"{head} {tasks} {where}", f"{head} {idents} {where}"),
        is_required=True,
    )
