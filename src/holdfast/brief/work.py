"""What is going on: failures, plan, the last steps, sub-agents."""

from __future__ import annotations

from holdfast.brief.gist import gist
from holdfast.brief.item import Item, cited, ref
from holdfast.redact import redact
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.model import Check, PlanItem, State

OPEN = ("in_progress", "pending")
# So many of the items that come next are told whatever else must go.
FLOORS = 3
# How lines begin that say which test failed, not why.
WHICH = ("FAIL", "--- FAIL", "not ok", "test ", "●", "✗", "×", "[")
MOST_HANDOFFS = 8
VALUES = {"test": 88.0, "build": 80.0, "lint": 74.0}
# Calls that change nothing: whether one of them came back does not matter.
LOOKING = ("Read", "Grep", "Glob", "LS", "WebSearch", "WebFetch", "ToolSearch", "TaskOutput")


def failing(state: State) -> Iterator[Item]:
    failing = [check for check in state["checks"] if not check["ok"]][-4:]
    real = [check for check in failing if _holds_up(state, check)]
    for check in reversed(failing):
        newest = check is (real or failing)[-1]
        command = f"`{short(check['command'], 300)}`"
        where = f" at {check['where']}" if check["where"] else ""
        lines = [f"  `{line}`" for line in check["error"]]
        since = _passed_since(state, check)
        seen = f"{_ref_of(check)}{since}"
        head = f"- {command} fails{where} {seen}"
        full, brief = "\n".join([head, *lines]), "\n".join([head, *lines[:2]])
        least = f"- `{short(check['command'], 100)}` fails {seen}"
        if wrong := _what_is_wrong(check["error"]):
            least += f"\n  `{short(wrong, 120)}`"
        held_up = _holds_up(state, check)
        value = VALUES.get(check["kind"], 74.0 if held_up else 50.0)
        yield Item(
            "failing",
            "error",
            value if newest else value - 15,
            check["line"],
            (full, brief, least),
            quote=_what_is_wrong(check["error"]) or check["command"],
            names=(check["command"],),
            floor=newest and held_up,
        )


def _passed_since(state: State, check: Check) -> str:
    """Another test run that passed later may have had in it what failed: who reads has to judge."""
    passed = [one for one in state["checks"] if one["ok"] and one["line"] > check["line"]]
    tests = [one for one in passed if one["kind"] == check["kind"] == "test"]
    if not tests:
        return ""
    return f"; since then `{short(tests[-1]['command'], 60)}` passed {_ref_of(tests[-1])}"


def _ref_of(check: Check) -> str:
    return ref(check["call"], check["line"])


def _holds_up(state: State, check: Check) -> bool:
    """A test, a build, a linter; or a commit that was refused, as long as none was made since."""
    if check["kind"] != "run":
        return True
    committed = max((commit["line"] for commit in state["commits"]), default=0)
    return "git commit" in check["command"] and committed < check["line"]


def _what_is_wrong(error: list[str]) -> str:
    """The line that must survive: one that names the test has not said why it fails."""
    telling = [line for line in error if " " in line]
    why = [line for line in telling if not _says_which(line)]
    return next(iter(why or telling or error), "")


def _says_which(line: str) -> bool:
    return line.startswith(WHICH) or line.partition(")")[0].isdigit()


def plan(state: State) -> Iterator[Item]:
    waiting = 0
    for item in state["plan"]:
        if item["status"] not in OPEN:
            continue
        running = item["status"] == "in_progress"
        waiting += not running
        status = "in progress" if running else "pending"
        yield Item(
            "plan",
            "plan",
            86.0 if running else 66.0,
            item["line"],
            tuple(
                f"- {status}: {short(item['text'], size)}{_waits(state, item)} "
                f"{ref(item['told'], item['line'], *_awaited(state, item))}"
                for size in (240, 100)
            ),
            quote=item["text"],
            floor=running or waiting <= FLOORS,
        )
    done = [item for item in state["plan"] if item["status"] == "completed"]
    if done:
        names = "; ".join(short(item["text"], 90) for item in done[-8:])
        count = f"- done ({len(done)})"
        last = ref(*(line for item in done[-8:] for line in (item["told"], item["line"])))
        yield Item(
            "plan",
            "done",
            48.0,
            done[-1]["line"],
            (f"{count}: {names} {last}", f"{count} {ref(done[-1]['line'])}"),
        )


def progress(state: State) -> Iterator[Item]:
    """How much of the plan is done, in all and wave by wave."""
    waves: dict[int, list[PlanItem]] = {}
    for item in state["plan"]:
        if item["status"] in (*OPEN, "completed"):
            waves.setdefault(item["wave"], []).append(item)
    everything = [item for items in waves.values() for item in items]
    if everything:
        yield _done_of("plan", everything, 67.0)
    for wave, items in sorted(waves.items()):
        if wave:
            yield _done_of(f"wave {wave}", items, 65.0)


def _done_of(name: str, items: list[PlanItem], value: float) -> Item:
    done = sum(item["status"] == "completed" for item in items)
    begun = any(item["status"] == "in_progress" for item in items) or 0 < done < len(items)
    how = "completed" if done == len(items) else "in progress" if begun else "not begun"
    lines = cited([[item["line"]] for item in items])
    line = max(item["line"] for item in items)
    return Item(
        "progress", "progress", value, line, (f"- {name}: {how}, {done} of {len(items)} {lines}",)
    )


def _waits(state: State, item: PlanItem) -> str:
    """What an item waits for, as far as that is still open."""
    undone = {other["id"]: other["text"] for other in state["plan"] if other["status"] in OPEN}
    names = [short(undone[number], 60) for number in item["blocked_by"] if number in undone]
    return f" (waits for: {'; '.join(names)})" if names else ""


def _awaited(state: State, item: PlanItem) -> list[int]:
    """Where that is told."""
    undone = {other["id"]: other["told"] for other in state["plan"] if other["status"] in OPEN}
    return [undone[number] for number in item["blocked_by"] if number in undone]


def now(state: State) -> Iterator[Item]:
    # The fold replaces these two at every step, so they are redacted only where they are shown.
    if doing := state["doing"]:
        text = redact(doing["text"])
        latest = state["requests"][-1]["line"] if state["requests"] else 0
        label = "last said" if doing["line"] > latest else "said before the latest request"
        yield Item(
            "now",
            "doing",
            78.0,
            doing["line"],
            tuple(
                f"- {label}: “{gist(text, size)}” {ref(doing['line'])}" for size in (600, 250, 80)
            ),
            quote=text,
            floor=True,
        )
    # A sub-agent that runs is told among the sub-agents, a command that goes on is not lost.
    agents = {agent["call"] for agent in state["agents"]}
    open_calls = [
        call
        for ident, call in state["calls"].items()
        if ident not in agents and not call.get("running") and call["name"] not in LOOKING
    ]
    for call in open_calls[-3:]:
        given = call["input"]
        target = redact(str(given.get("file_path") or given.get("command") or ""))
        yield Item(
            "now",
            "unfinished",
            70.0,
            call["line"],
            (
                f"- no result was recorded for {call['name']} `{short(target, 160)}`, so whether "
                f"it took effect is unknown {ref(call['line'])}",
            ),
            names=(target,) if target else (),
        )
    for started in state["commands"][-3:]:
        said = f" {short(started['text'], 160)}" if started["text"] else ""
        yield Item(
            "now",
            "command",
            58.0,
            started["line"],
            (f"- started: /{started['name']}{said} {ref(started['line'])}",),
            names=(started["name"],),
        )
    for question in state["questions"]:
        yield Item(
            "now",
            "question",
            75.0,
            question["line"],
            (f"- not yet answered: “{short(question['text'], 300)}” {ref(question['line'])}",),
            quote=question["text"],
        )


def agents(state: State) -> Iterator[Item]:
    yield from _handed_on(state)
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    for agent in reversed(state["agents"][-8:]):
        running = agent["status"] == "running"
        task = short(agent["task"], 120)
        # What it found is quoted: whatever it says, it is nobody's order.
        result = f" → “{short(agent['result'], 300)}”" if agent["result"] else ""
        # Only a host's own id can be used to go on with it.
        ident = f" {agent['id']}" if agent["id"] != agent["call"] else ""
        where = ref(agent.get("told", 0), agent["line"])
        head = f"- {agent['type'] or 'agent'}{ident} {agent['status']}: "
        yield Item(
            "agents",
            "agent",
            68.0 if running else 38.0,
            agent["line"],
            (
                f"{head}{task}{result} {where}",
                f"{head}{task} {where}",
                f"- {agent['status']}: {short(agent['task'], 60)} {where}",
            ),
            quote=agent["result"] or agent["task"],
            # What runs because of the latest request is what is being done.
            floor=running and agent.get("told", 0) > latest,
        )


def _handed_on(state: State) -> Iterator[Item]:
    """One line that says where all of what sub-agents found can be read."""
    known = [agent for agent in state["agents"] if "handoff" in agent][-MOST_HANDOFFS:]
    if not known:
        return
    head = "- handed on (`holdfast handoff show ID`):"
    lines = ref(*(agent["line"] for agent in known))
    told = "; ".join(f"{agent['handoff']} {short(agent['task'], 80)}" for agent in known)
    idents = ", ".join(agent["handoff"] for agent in known)
    yield Item(
        "agents",
        "handoffs",
        60.0,
        known[-1]["line"],
        (f"{head} {told} {lines}", f"{head} {idents} {lines}"),
        floor=True,
    )
