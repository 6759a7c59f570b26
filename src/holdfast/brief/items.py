"""Everything in a state that a brief could say, each with its value and its shorter forms."""

from __future__ import annotations

from holdfast.redact import redact
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.model import Check, FileTrail, PlanItem, Request, State

SECTIONS = (
    ("asked", "What the user asked for"),
    ("rules", "Rules the user set"),
    ("failing", "Failing now"),
    ("plan", "Plan"),
    ("now", "What was being done"),
    ("decided", "Decided, and ruled out"),
    ("files", "Files"),
    ("git", "Git and commands"),
    ("agents", "Sub-agents"),
)
OPEN = ("in_progress", "pending")
MOST_FILES = 400
SHORTEST_REQUEST = 12


class Item:
    """One thing worth saying. `forms` go from full to short; `quote` is what must survive."""

    __slots__ = ("floor", "forms", "kind", "line", "names", "quote", "section", "value")

    def __init__(
        self,
        section: str,
        kind: str,
        value: float,
        line: int,
        forms: tuple[str, ...],
        *,
        quote: str = "",
        names: tuple[str, ...] = (),
        floor: bool = False,
    ) -> None:
        self.section = section
        self.kind = kind
        self.value = value
        self.line = line
        self.forms = forms
        self.quote = quote
        self.names = names
        self.floor = floor


def items(state: State) -> list[Item]:
    """In the order in which they stand in a brief. The same words are said once."""
    quoted: set[str] = set()
    found = []
    for item in _everything(state):
        if item.quote and item.quote in quoted:
            continue
        quoted.add(item.quote)
        found.append(item)
    return found


def _everything(state: State) -> list[Item]:
    return [
        *_requests(state),
        *_rules(state),
        *_failing(state),
        *_plan(state),
        *_now(state),
        *_decisions(state),
        *_files(state),
        *_git(state),
        *_agents(state),
    ]


def ref(line: int) -> str:
    return f"(L{line})"


def _quoted(text: str, most: int) -> str:
    return f"“{short(text, most)}”"


def _requests(state: State) -> Iterator[Item]:
    requests = state["requests"]
    last = len(requests) - 1
    for number, request in enumerate(requests):
        latest, first = number == last, number == 0
        label = "first: " if first and last else "latest: " if latest else ""
        value = 100.0 if latest else 95.0 if first else 40.0 + 20 * number / (last or 1)
        sizes = (1200, 500, 240) if latest or first else (300, 120)
        text = request["text"] if latest or first else _without_rules(state, request)
        if len(text) < SHORTEST_REQUEST and not latest and not first:
            continue
        yield Item(
            "asked",
            "request",
            value,
            request["line"],
            tuple(f"- {label}{_quoted(text, size)} {ref(request['line'])}" for size in sizes),
            quote=request["text"],
            floor=latest or first,
        )


def _without_rules(state: State, request: Request) -> str:
    """A request between the first and the latest, less the sentences that stand as rules."""
    text = request["text"]
    for rule in state["rules"]:
        if rule["line"] == request["line"] and not rule["superseded"]:
            text = text.replace(rule["text"], "…")
    while "… …" in text:
        text = text.replace("… …", "…")
    return text


def _rules(state: State) -> Iterator[Item]:
    rules = [rule for rule in state["rules"] if not rule["superseded"]]
    for number, rule in enumerate(rules):
        prohibition = rule["kind"] == "prohibition"
        yield Item(
            "rules",
            rule["kind"],
            (90.0 if prohibition else 72.0) + 5 * number / len(rules),
            rule["line"],
            (f"- {_quoted(rule['text'], 400)} {ref(rule['line'])}",),
            quote=rule["text"],
            floor=prohibition,
        )


def _failing(state: State) -> Iterator[Item]:
    failing = [check for check in state["checks"] if not check["ok"]][-4:]
    for check in reversed(failing):
        newest = check is failing[-1]
        command = f"`{short(check['command'], 300)}`"
        where = f" at {check['where']}" if check["where"] else ""
        lines = [f"  `{line}`" for line in check["error"]]
        full = "\n".join([f"- {command} fails{where} {ref(check['line'])}", *lines])
        brief = "\n".join([f"- {command} fails{where} {ref(check['line'])}", *lines[:2]])
        value = {"test": 88.0, "build": 80.0, "lint": 74.0}.get(check["kind"], 50.0)
        yield Item(
            "failing",
            "error",
            value if newest else value - 15,
            check["line"],
            (full, brief),
            quote=check["error"][0] if check["error"] else check["command"],
            names=(check["command"],),
            floor=newest and check["kind"] != "run",
        )


def _plan(state: State) -> Iterator[Item]:
    for item in state["plan"]:
        if item["status"] not in OPEN:
            continue
        running = item["status"] == "in_progress"
        status = "in progress" if running else "pending"
        yield Item(
            "plan",
            "plan",
            86.0 if running else 66.0,
            item["line"],
            (f"- {status}: {short(item['text'], 240)}{_waits(state, item)} {ref(item['line'])}",),
            quote=item["text"],
            floor=running,
        )
    done = [item for item in state["plan"] if item["status"] == "completed"]
    if done:
        names = "; ".join(short(item["text"], 90) for item in done[-8:])
        count = f"- done ({len(done)})"
        last = ref(done[-1]["line"])
        yield Item(
            "plan", "done", 48.0, done[-1]["line"], (f"{count}: {names} {last}", f"{count} {last}")
        )


def _waits(state: State, item: PlanItem) -> str:
    """What an item waits for, as far as that is still open."""
    undone = {other["id"]: other["text"] for other in state["plan"] if other["status"] in OPEN}
    names = [short(undone[number], 60) for number in item["blocked_by"] if number in undone]
    return f" (waits for: {'; '.join(names)})" if names else ""


def _now(state: State) -> Iterator[Item]:
    # The fold replaces these two at every step, so they are redacted only where they are shown.
    if doing := state["doing"]:
        text = redact(doing["text"])
        yield Item(
            "now",
            "doing",
            78.0,
            doing["line"],
            tuple(
                f"- last said: “{short(text, size)}” {ref(doing['line'])}" for size in (600, 250)
            ),
            quote=text,
            floor=True,
        )
    for call in list(state["calls"].values())[-3:]:
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
    if question := state["question"]:
        yield Item(
            "now",
            "question",
            75.0,
            question["line"],
            (f"- not yet answered: “{short(question['text'], 300)}” {ref(question['line'])}",),
            quote=question["text"],
        )


def _decisions(state: State) -> Iterator[Item]:
    count = len(state["decisions"]) or 1
    for number, decision in enumerate(state["decisions"]):
        rejected, user = decision["kind"] == "rejected", decision["by"] == "user"
        value = (70.0 if rejected else 60.0) + (6 if user else -12) + 6 * number / count
        who = "the user" if user else "the agent"
        label = "ruled out" if rejected else "decided"
        yield Item(
            "decided",
            decision["kind"],
            value,
            decision["line"],
            tuple(
                f"- {label} by {who}: “{short(decision['text'], size)}” {ref(decision['line'])}"
                for size in (300, 140)
            ),
            quote=decision["text"],
        )


def _files(state: State) -> Iterator[Item]:
    # More than this never fits; the latest are last.
    paths = list(state["files"].items())[-MOST_FILES:]
    for number, (path, trail) in enumerate(reversed(paths)):
        age = number / (len(paths) or 1)
        touched = any(trail.get(fate) for fate in ("edits", "created", "deleted", "unknown"))
        value = 62.0 - 12 * age if touched else 34.0 - 20 * age
        yield Item(
            "files",
            "file" if touched else "read",
            value,
            trail["line"],
            (f"- {path} — {_happened(trail)} {ref(trail['line'])}",),
            names=(path,),
        )


def _happened(trail: FileTrail) -> str:
    if trail.get("deleted"):
        return "deleted"
    told = []
    if trail.get("created"):
        told.append("created here")
    if edits := trail.get("edits", 0):
        told.append(f"edited {edits}×" if edits > 1 or not trail.get("created") else "written")
    if symbol := trail.get("symbol"):
        told.append(f"last: {symbol}")
    if trail.get("unknown"):
        told.append(f"whether the edit at L{trail['unknown']} took effect is unknown")
    if not told:
        told.append("read")
    return " · ".join(told)


def _git(state: State) -> Iterator[Item]:
    line = state["usage"]["line"] or state["lines"]
    if state["branch"]:
        yield Item(
            "git", "branch", 64.0, line, (f"- branch {state['branch']} {ref(line)}",),
            names=(state["branch"],),
        )  # fmt: skip
    for number, commit in enumerate(reversed(state["commits"][-12:])):
        subject = short(commit["subject"], 120)
        yield Item(
            "git",
            "commit",
            50.0 - 2 * number,
            commit["line"],
            (f"- commit {commit['sha'][:9]} {subject} {ref(commit['line'])}",),
            names=(commit["sha"][:7],),
        )
    for link in state["pull_requests"][-3:]:
        yield Item("git", "link", 52.0, link["line"], (f"- {link['text']} {ref(link['line'])}",),
                   names=(link["text"],))  # fmt: skip
    for check in reversed(_passing(state)):
        yield Item(
            "git",
            "command",
            54.0,
            check["line"],
            (f"- `{short(check['command'], 200)}` passed last {ref(check['line'])}",),
            names=(check["command"],),
        )


def _passing(state: State) -> list[Check]:
    return [check for check in state["checks"] if check["ok"] and check["kind"] != "run"][-6:]


def _agents(state: State) -> Iterator[Item]:
    for agent in reversed(state["agents"][-8:]):
        running = agent["status"] == "running"
        task = short(agent["task"], 120)
        result = f" → {short(agent['result'], 300)}" if agent["result"] else ""
        head = f"- {agent['type'] or 'agent'} {agent['id'][-9:]} {agent['status']}: "
        yield Item(
            "agents",
            "agent",
            68.0 if running else 38.0,
            agent["line"],
            (f"{head}{task}{result} {ref(agent['line'])}", f"{head}{task} {ref(agent['line'])}"),
            quote=agent["result"] or agent["task"],
        )
