"""Where the work stands in git: branch, commits made, what is not committed, pull requests."""

from __future__ import annotations

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool", "place", "pull_request")
TOOLS = ("Bash",)
MOST = 100
MOST_DIRTY = 60
HEX = frozenset("0123456789abcdef")
# The two columns of `git status --short`.
COLUMNS = frozenset(" MADRCUT?!")
CLEAN = ("nothing to commit, working tree clean", "nothing to commit, working directory clean")
NOTHING = ("", "(Bash completed with no output)")
CHANGES = ("modified:", "new file:", "deleted:", "renamed:", "copied:", "typechange:")
# What git is asked to do that tells where the work stands.
VERBS = ("commit", "status", "checkout", "switch")
SWITCHED = ("Switched to a new branch '", "Switched to branch '", "Switched to and reset branch '")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "place":
        state["branch"] = event["place"].get("branch") or state["branch"]
    elif event["kind"] == "pull_request":
        _linked(state, keep(event["text"], 500), event["line"])
    elif event["name"] == "Bash" and "git" in str(event["input"].get("command")):
        _git(state, event)


def _git(state: State, event: Event) -> None:
    command = str(event["input"].get("command"))
    if not any(verb in command for verb in VERBS) or _elsewhere(state, command):
        return
    lines = event.get("text", "").splitlines()
    if "checkout" in command or "switch" in command:
        for line in lines:
            if line.startswith(SWITCHED):
                state["branch"] = keep(line.partition("'")[2].rpartition("'")[0], 200)
    if "commit" in command:
        _committed(state, lines, event["line"])
    if "status" in command and event["ok"]:
        _not_committed(state, lines, event["line"])
        if _is_bare_status(command) and "".join(lines).strip() in NOTHING:
            state["dirty"] = {"files": [], "line": event["line"]}


def _elsewhere(state: State, command: str) -> bool:
    """Whether a command goes to a folder outside of the project first."""
    words = command.split()
    target = words[1].strip("\"'") if words[:1] == ["cd"] and len(words) > 1 else ""
    root = state["place"].get("root", "")
    return target.startswith("/") and bool(root) and not f"{target}/".startswith(f"{root}/")


def _is_bare_status(command: str) -> bool:
    """`git status --short` alone, of which no output says that nothing is left to commit."""
    words = command.split()
    alone = words[:2] == ["git", "status"] and not set("|&;<>").intersection(command)
    return alone and any(word.startswith(("-s", "--short", "--porcelain")) for word in words[2:])


def _linked(state: State, address: str, line: int) -> None:
    links = state["pull_requests"]
    if address and all(known["text"] != address for known in links):
        links.append({"text": address, "line": line})
        del links[:-MOST]


def _committed(state: State, lines: list[str], number: int) -> None:
    for line in lines:
        inside, found, subject = line[1:].partition("] ")
        words = inside.split()
        # `[main 3f2c1ab] Subject`, `[main (root-commit) 3f2c1ab] Subject`
        if not line.startswith("[") or not found or len(words) < 2 or not _is_sha(words[-1]):
            continue
        state["branch"] = words[0] if words[0] != "detached" else state["branch"]
        # What is left is not known until git is asked again.
        state["dirty"] = None
        state["commits"].append(
            {"sha": words[-1], "subject": keep(subject.strip(), 200), "line": number}
        )
    del state["commits"][:-MOST]


def _is_sha(word: str) -> bool:
    return 7 <= len(word) <= 40 and HEX.issuperset(word)


def _not_committed(state: State, lines: list[str], number: int) -> None:
    """The files that `git status` tells, in its short form or in its long one."""
    found: list[str] = []
    untracked = told = False
    for line in lines:
        if line.startswith("On branch "):
            state["branch"], told = keep(line[10:].strip(), 200), True
        elif line.startswith("## "):
            # `## main...origin/main [ahead 1]`, `## HEAD (no branch)`
            rest, told = line[3:].removeprefix("No commits yet on "), True
            name = rest.partition("...")[0].split(" ")[0]
            state["branch"] = keep(name, 200) if name != "HEAD" else state["branch"]
        told = told or line.startswith(CLEAN)
        untracked = line.startswith("Untracked files") or (untracked and line[:1] in "\t ")
        if name := _changed(line, untracked):
            found.append(keep(name, 300))
    if found or told:
        state["dirty"] = {"files": list(dict.fromkeys(found))[:MOST_DIRTY], "line": number}


def _changed(line: str, untracked: bool) -> str:
    """The file that a line of `git status` names."""
    stripped = line.strip()
    if line.startswith("\t"):
        for change in CHANGES:
            if stripped.startswith(change):
                return stripped[len(change) :].rpartition(" -> ")[2].strip()
        return stripped if untracked else ""
    short = len(line) > 3 and line[2] == " " and line[:2].strip() and COLUMNS.issuperset(line[:2])
    return line[3:].rpartition(" -> ")[2].strip().strip('"') if short else ""
