"""The position in git: branch, commits made, uncommitted files, pull requests."""

from __future__ import annotations

from holdfast.state.text import redact_and_clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("tool", "place", "pull_request")
TOOLS = ("Bash",)
MAX_COMMITS = 100
MAX_UNCOMMITTED_FILES = 60
HEX = frozenset("0123456789abcdef")
# The two columns of `git status --short`.
STATUS_COLUMNS = frozenset(" MADRCUT?!")
CLEAN_PREFIXES = (
    "nothing to commit, working tree clean", "nothing to commit, working directory clean",
)  # fmt: skip
EMPTY_OUTPUTS = ("", "(Bash completed with no output)")
CHANGE_LABELS = ("modified:", "new file:", "deleted:", "renamed:", "copied:", "typechange:")
# The git commands whose output shows the position.
GIT_COMMANDS = ("commit", "status", "checkout", "switch", "push", "rebase", "log", "reset")
REBASED = "Successfully rebased"
MAX_BODY_CHARS = 1200
SWITCHED_PREFIXES = (
    "Switched to a new branch '", "Switched to branch '", "Switched to and reset branch '",
)  # fmt: skip


def apply(state: State, event: Event) -> None:
    if event["kind"] == "place":
        state["branch"] = event["place"].get("branch") or state["branch"]
    elif event["kind"] == "pull_request":
        _add_pull_request(state, redact_and_clip(event["text"], 500), event["line"])
    elif event["name"] == "Bash" and "git" in str(event["input"].get("command")):
        _apply_git(state, event)


def _apply_git(state: State, event: Event) -> None:
    command = str(event["input"].get("command"))
    if not any(name in command for name in GIT_COMMANDS) or _is_outside(state, command):
        return
    lines = event.get("text", "").splitlines()
    if "checkout" in command or "switch" in command:
        for line in lines:
            if line.startswith(SWITCHED_PREFIXES):
                state["branch"] = redact_and_clip(line.partition("'")[2].rpartition("'")[0], 200)
    if "commit" in command:
        if "--amend" in command and event["ok"]:
            del state["commits"][-1:]
        _add_commits(state, lines, event["line"])
        _add_body(state, command, event["line"])
    if "rebase" in command and REBASED in event.get("text", ""):
        _forget_hashes(state)
    if "log" in command:
        _update_hashes(state, lines)
    if "git reset" in command and event["ok"]:
        _undo_commits(state, command)
    if "push" in command and event["ok"] and "git push" in command:
        state["pushed"] = event["line"]
    if "status" in command and event["ok"]:
        _read_status(state, lines, event["line"])
        if _is_short_status(command) and "".join(lines).strip() in EMPTY_OUTPUTS:
            state["dirty"] = {"files": [], "line": event["line"]}


def _is_outside(state: State, command: str) -> bool:
    """Whether a command first changes to a folder outside the project."""
    words = command.split()
    target = words[1].strip("\"'") if words[:1] == ["cd"] and len(words) > 1 else ""
    root = state["place"].get("root", "")
    return target.startswith("/") and bool(root) and not f"{target}/".startswith(f"{root}/")


def _is_short_status(command: str) -> bool:
    """Whether this is `git status --short` alone, whose empty output means a clean tree."""
    words = command.split()
    is_alone = words[:2] == ["git", "status"] and not set("|&;<>").intersection(command)
    return is_alone and any(word.startswith(("-s", "--short", "--porcelain")) for word in words[2:])


def _add_pull_request(state: State, url: str, line: int) -> None:
    pull_requests = state["pull_requests"]
    if url and all(known["text"] != url for known in pull_requests):
        pull_requests.append({"text": url, "line": line})
        del pull_requests[:-MAX_COMMITS]


def _add_commits(state: State, lines: list[str], number: int) -> None:
    for line in lines:
        inside, bracket, subject = line[1:].partition("] ")
        words = inside.split()
        # `[main 3f2c1ab] Subject`, `[main (root-commit) 3f2c1ab] Subject`
        if not line.startswith("[") or not bracket or len(words) < 2 or not _is_sha(words[-1]):
            continue
        state["branch"] = words[0] if words[0] != "detached" else state["branch"]
        # What is left uncommitted is unknown until the next `git status`.
        state["dirty"] = None
        state["commits"].append(
            {"sha": words[-1], "subject": redact_and_clip(subject.strip(), 200), "line": number}
        )
    del state["commits"][:-MAX_COMMITS]


def _forget_hashes(state: State) -> None:
    """A rebase gives new hashes to the commits that were not pushed."""
    for commit in state["commits"]:
        if commit["line"] > state["pushed"]:
            commit["sha"] = ""


def _update_hashes(state: State, lines: list[str]) -> None:
    """Read the hashes of known commits from the lines of `git log --oneline`."""
    for line in lines:
        sha, _, subject = line.partition(" ")
        for commit in state["commits"] if _is_sha(sha) else ():
            if commit["subject"] == subject.strip():
                commit["sha"] = sha


def _undo_commits(state: State, command: str) -> None:
    """Remove the commits that `git reset HEAD~2` or `git reset HEAD^` took back."""
    for word in command.partition("git reset")[2].split():
        name, tilde, count = word.partition("~")
        if name == "HEAD" and tilde:
            number = int(count) if count.isdigit() else 1
        elif word in ("HEAD^", "@^"):
            number = 1
        else:
            continue
        del state["commits"][max(0, len(state["commits"]) - number) :]
        return


def _add_body(state: State, command: str, line: int) -> None:
    """Add the message's text after the subject to the commit that was just made."""
    if not state["commits"] or state["commits"][-1]["line"] != line:
        return
    from holdfast.state.rules.shell_history import find_record_texts, without_trailers

    text = without_trailers("\n\n".join(find_record_texts(command)))
    body = text.partition("\n")[2].strip()
    if body:
        state["commits"][-1]["body"] = redact_and_clip(body, MAX_BODY_CHARS)


def _is_sha(word: str) -> bool:
    return 7 <= len(word) <= 40 and HEX.issuperset(word)


def _read_status(state: State, lines: list[str], number: int) -> None:
    """Read branch and uncommitted files from `git status`, in its short or its long form."""
    files: list[str] = []
    in_untracked = is_status = False
    for line in lines:
        if line.startswith("On branch "):
            state["branch"], is_status = redact_and_clip(line[10:].strip(), 200), True
        elif line.startswith("## "):
            # `## main...origin/main [ahead 1]`, `## HEAD (no branch)`
            rest, is_status = line[3:].removeprefix("No commits yet on "), True
            name = rest.partition("...")[0].split(" ")[0]
            state["branch"] = redact_and_clip(name, 200) if name != "HEAD" else state["branch"]
        is_status = is_status or line.startswith(CLEAN_PREFIXES)
        in_untracked = line.startswith("Untracked files") or (in_untracked and line[:1] in "\t ")
        if name := _find_changed_file(line, in_untracked):
            files.append(redact_and_clip(name, 300))
    if files or is_status:
        unique = list(dict.fromkeys(files))[:MAX_UNCOMMITTED_FILES]
        state["dirty"] = {"files": unique, "line": number}


def _find_changed_file(line: str, in_untracked: bool) -> str:
    """Return the file that a line of `git status` names, or ""."""
    stripped = line.strip()
    if line.startswith("\t"):
        for label in CHANGE_LABELS:
            if stripped.startswith(label):
                return stripped[len(label) :].rpartition(" -> ")[2].strip()
        return stripped if in_untracked else ""
    is_short = (
        len(line) > 3
        and line[2] == " "
        and line[:2].strip()
        and STATUS_COLUMNS.issuperset(line[:2])
    )
    return line[3:].rpartition(" -> ")[2].strip().strip('"') if is_short else ""
