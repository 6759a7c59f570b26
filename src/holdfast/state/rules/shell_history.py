"""Shell commands that worked, in the form in which they worked, and what had to be changed for it.

Commands that only look at something are not kept. A failed command followed by a variant that
succeeds, with no edit between them, is a workaround. Text that a command writes for the record (a
commit message, the reason an issue was closed) is kept too.
"""

from __future__ import annotations

from itertools import pairwise

from holdfast.lenient_json import as_object
from holdfast.state import shell_parser
from holdfast.state.rules.check_classifier import classify, split_commands, strip_wrapping
from holdfast.state.rules.checks import NOT_RUN_PREFIXES
from holdfast.state.text import one_line, redact_and_clip, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("tool", "agent_done")
TOOLS = (
    "Bash", "KillShell", "KillBash", "TaskStop", "TaskOutput", "BashOutput", "Edit", "MultiEdit",
    "Write", "NotebookEdit", "apply_patch",
)  # fmt: skip
MAX_COMMANDS, MAX_FAILED, MAX_WORKAROUNDS, MAX_RECORDS, MAX_SERVERS = 80, 12, 20, 20, 8
MAX_TASK_CHARS = 2500
MAX_COMMAND_CHARS, MAX_ERROR_CHARS, MAX_RECORD_CHARS = 300, 160, 1500
MIN_RECORD_CHARS, MIN_VIEWER_CHARS, MAX_HEAD_CHARS = 25, 20, 80
# A variant that comes later than this was not tried because of the failure.
MAX_WORKAROUND_LINES = 80
# A variant has at least this share of the failed command's words.
MIN_SHARED_WORD_SHARE = 0.5

# Programs that only look at something or move around.
VIEWERS = frozenset(
    ("ls", "cat", "head", "tail", "grep", "rg", "find", "sed", "awk", "wc", "echo", "pwd", "which",
     "cd", "less", "file", "stat", "tree", "diff", "sort", "uniq", "cut", "true", "sleep", "printf",
     "type", "whoami", "date", "env", "test", "[", "jq", "xargs", "ps", "du", "df", "id", "uname",
     "mkdir", "touch", "export", "set", "for", "while", "if", "do", "done", "then", "fi", "read")
)  # fmt: skip
# Programs that show a file or a folder; that it was looked at is not worth a line.
PLAIN_VIEWERS = frozenset(
    ("ls", "cat", "head", "tail", "sed", "wc", "echo", "pwd", "which", "cd", "less", "file", "stat",
     "tree", "diff", "sort", "true", "sleep", "printf", "type", "mkdir", "touch", "find", "test",
     "[", "for", "while", "if", "do", "done", "then", "fi", "read", "export", "set", "date", "env")
)  # fmt: skip
# Their effect is part of the file history.
FILE_COMMANDS = frozenset(("rm", "mv", "cp", "rmdir", "ln"))
GIT_VIEWERS = frozenset(
    ("status", "diff", "log", "show", "add", "branch", "rev-parse", "ls-files", "blame", "remote",
     "config", "commit", "stash", "fetch", "merge-base", "grep", "describe", "reflog", "rev-list",
     "ls-remote", "ls-tree", "check-ignore", "cat-file", "symbolic-ref", "-C")
)  # fmt: skip
# Options whose value is text for the record.
RECORD_OPTIONS = frozenset(
    ("-m", "--message", "--reason", "--body", "-b", "--title", "-t", "--comment", "--notes",
     "--description", "-d", "--rationale", "--design", "--acceptance")
)  # fmt: skip
# Programs that show issues, and the subcommands that show one.
TRACKERS = frozenset(("gh", "glab", "bd", "jira", "linear", "tea", "br"))
SHOW_COMMANDS = frozenset(("show", "view"))
TRACKER_VIEWS = SHOW_COMMANDS | {"diff", "list", "checks", "status"}
# What `sudo` prints if it cannot ask for a password; the exit code may be that of another command.
NO_PASSWORD = "sudo: a password is required"
ERROR_CUES = ("error", "not found", "no such", "cannot", "can't", "denied", "invalid", "unknown")
TRAILERS = ("co-authored-by:", "🤖", "generated with", "signed-off-by:")
OUTPUT_TOOLS, ENDED = ("TaskOutput", "BashOutput"), "<status>completed"
EDIT_TOOLS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "agent_done":
        state["servers"] = [one for one in state["servers"] if one["id"] != event["id"]]
        return
    name = event["name"]
    if name in EDIT_TOOLS:
        if event["ok"]:
            state["failed_commands"] = []
    elif name == "Bash":
        _apply_shell(state, event)
    elif event["ok"] and (name not in OUTPUT_TOOLS or ENDED in event.get("text", "")):
        arguments = event["input"]
        keys = ("shell_id", "task_id", "bash_id")
        ident = next((to_text(arguments[key]) for key in keys if arguments.get(key)), "")
        state["servers"] = [one for one in state["servers"] if one["id"] != ident]


def _apply_shell(state: State, event: Event) -> None:
    command = str(event["input"].get("command") or "")
    line = event.get("call_line") or event["line"]
    if background := to_text(as_object(event.get("detail")).get("backgroundTaskId")):
        text = redact_and_clip(one_line(strip_wrapping(command), MAX_COMMAND_CHARS), 300)
        state["servers"].append({"id": background, "text": text, "line": line})
        del state["servers"][:-MAX_SERVERS]
        return
    if not event.get("text", "").startswith(NOT_RUN_PREFIXES):
        # Also of a command that failed: a commit that a hook refused is tried again.
        _add_records(state, command, line)
    simple = split_commands(command)
    if event["ok"]:
        _set_task_shown(state, simple, event, line)
    significant = [words for words in simple if is_significant(words)]
    if not significant:
        if event["ok"] and simple and len(command) >= MIN_VIEWER_CHARS:
            _add_command(state, command, simple[:1], line)
        return
    if NO_PASSWORD in event.get("text", ""):
        state["shell"] = [one for one in state["shell"] if "sudo " not in one["text"]]
    elif event["ok"]:
        _add_workaround(state, command, significant, line)
        _add_command(state, command, significant, line)
    elif not event.get("text", "").startswith(NOT_RUN_PREFIXES):
        _add_failed(state, command, event, line)


def _set_task_shown(state: State, simple: list[list[str]], event: Event, line: int) -> None:
    """Keep what a tracker printed about an issue or a task."""
    for words in simple:
        names = [word for word in words[:3] if not word.startswith("-")]
        if names and names[0] in TRACKERS and SHOW_COMMANDS.intersection(names[1:]):
            text = redact_and_clip(event.get("text", "").strip(), MAX_TASK_CHARS)
            if len(text) >= MIN_RECORD_CHARS:
                head = " ".join(words[:4])
                state["task_shown"] = {"text": text, "head": head, "line": line}


def is_significant(words: list[str]) -> bool:
    """Whether a simple command does more than look at something."""
    if words[0] in VIEWERS or is_tracker_view(words):
        return False
    return words[0] != "git" or (len(words) > 1 and words[1] not in GIT_VIEWERS)


def is_tracker_view(words: list[str]) -> bool:
    """Whether a command shows an issue or a pull request."""
    return words[0] in TRACKERS and bool(TRACKER_VIEWS.intersection(words[1:3]))


def _viewer_head(words: list[str]) -> str:
    """What a command that looks at something looks for, or "" if it only shows a file."""
    if words[0] in PLAIN_VIEWERS or is_tracker_view(words):
        return ""
    start = 2 if words[0] == "git" else 1
    target = next((word for word in words[start:] if not word.startswith("-")), "")
    head = " ".join([*words[:start], target.partition(":")[0]])
    return redact_and_clip(one_line(head, MAX_HEAD_CHARS), MAX_HEAD_CHARS) if target else ""


def is_viewer(command: str) -> bool:
    """Whether a command only looks at something."""
    return not any(map(is_significant, split_commands(command)))


def _head(words: list[str]) -> str:
    """The program and its subcommand, which identify a command over its variants."""
    return " ".join(word for word in words[:3] if not word.startswith("-") and "/" not in word)


def _add_command(state: State, command: str, significant: list[list[str]], line: int) -> None:
    has_record = any(len(text) > MIN_RECORD_CHARS for text in find_record_texts(command))
    is_file_command = all(words[0] in FILE_COMMANDS for words in significant)
    if classify(significant) or has_record or is_file_command:
        # The checks, the records or the files have it.
        return
    head = _head(significant[-1])
    if not is_significant(significant[-1]):
        # Of commands that look at something, only those that are repeated are shown.
        head = _viewer_head(significant[-1])
        if not head:
            return
    text = redact_and_clip(one_line(strip_wrapping(command), MAX_COMMAND_CHARS), MAX_COMMAND_CHARS)
    known = next((one for one in state["shell"] if one["head"] == head), None)
    if known:
        state["shell"].remove(known)
    runs = known["runs"] + 1 if known else 1
    state["shell"].append({"head": head, "text": text, "line": line, "runs": runs})
    if len(state["shell"]) > MAX_COMMANDS:
        least = min(state["shell"][:-10], key=lambda one: (one["runs"], one["line"]))
        state["shell"].remove(least)


def _add_failed(state: State, command: str, event: Event, line: int) -> None:
    lines = [one.strip() for one in event.get("text", "").splitlines() if one.strip()]
    lines = [one for one in lines if not one.startswith("Exit code ")]
    causes = [one for one in lines if any(cue in one.lower() for cue in ERROR_CUES)]
    error = redact_and_clip(
        one_line((causes or lines or [""])[0], MAX_ERROR_CHARS), MAX_ERROR_CHARS
    )
    text = redact_and_clip(one_line(strip_wrapping(command), MAX_COMMAND_CHARS), MAX_COMMAND_CHARS)
    state["failed_commands"].append({"text": text, "error": error, "line": line})
    del state["failed_commands"][:-MAX_FAILED]


def _add_workaround(state: State, command: str, significant: list[list[str]], line: int) -> None:
    """Record what worked where a similar command has just failed."""
    if not state["failed_commands"]:
        return
    text = redact_and_clip(one_line(strip_wrapping(command), MAX_COMMAND_CHARS), MAX_COMMAND_CHARS)
    words, programs = set(text.split()), {words[0] for words in significant}
    kept = []
    for failed in state["failed_commands"]:
        failed_words = set(failed["text"].split())
        simple = [words for words in split_commands(failed["text"]) if is_significant(words)]
        shared = len(words & failed_words)
        is_variant = (
            line - failed["line"] <= MAX_WORKAROUND_LINES
            and bool(programs & {words[0] for words in simple})
            and shared >= MIN_SHARED_WORD_SHARE * min(len(words), len(failed_words))
        )
        if not is_variant:
            kept.append(failed)
        elif text != failed["text"]:
            state["workarounds"].append(
                {"failed": failed["text"], "error": failed["error"], "text": text,
                 "failed_line": failed["line"], "line": line}
            )  # fmt: skip
    state["failed_commands"] = kept
    del state["workarounds"][:-MAX_WORKAROUNDS]


def _add_records(state: State, command: str, line: int) -> None:
    """Keep the texts that a command wrote for the record."""
    for text in find_record_texts(command):
        text = redact_and_clip(without_trailers(text), MAX_RECORD_CHARS)
        if len(text) < MIN_RECORD_CHARS or any(one["text"] == text for one in state["records"]):
            continue
        words = next(iter(split_commands(command)[-1:]), [])
        state["records"].append({"text": text, "head": _head(words), "line": line})
    del state["records"][:-MAX_RECORDS]


def find_record_texts(command: str) -> list[str]:
    """Return the values of options such as `-m`, also where a here-document gives them."""
    if not any(f" {option}" in command for option in ("-m", "--", "-b", "-t", "-d")):
        return []
    texts = []
    document = _find_here_document(command)
    for parsed in shell_parser.parse_commands(command):
        for word, following in pairwise([*parsed.words, ""]):
            option, equals, attached = (word or "").partition("=")
            # The parser does not know the value of `-m "$(cat <<EOF …)"`.
            value = (attached if equals else following) or document
            if option in RECORD_OPTIONS and value:
                texts.append(value)
    return texts


def _find_here_document(command: str) -> str:
    """Return the text of the first here-document of a command, or ""."""
    first, _, rest = command.partition("<<")[2].partition("\n")
    tag = first.lstrip("-").strip("'\" )").rstrip("'\"")
    return rest.partition(f"\n{tag}")[0] if tag.isalnum() else ""


def without_trailers(text: str) -> str:
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n".join(line for line in lines if not line.lower().startswith(TRAILERS))
