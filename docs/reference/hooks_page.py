"""Generates the page of hooks: which events are registered with Claude Code, what each one does."""

from __future__ import annotations

from docs.reference.markdown import render_table, render_title, render_value
from holdfast.hooks import main
from holdfast.hosts import claude_code

# Event -> what Holdfast does when the event fires, and what the hook prints.
ACTIONS = {
    "SessionStart": (
        "After a compaction, puts back what the summary lost. Opens the session; when it is "
        "resumed, puts back only what the host does not replay.",
        "the brief, or what is new since the session was closed",
    ),
    "UserPromptSubmit": (
        "Delivers a brief that did not arrive according to the transcript, once, and messages "
        "from other agents.",
        "the brief, if it had not arrived, with a notice to the user; waiting messages",
    ),
    "Stop": (
        "Reads new transcript lines and saves the state; takes a snapshot at a threshold.",
        "sometimes a suggestion to compact now, for the user only",
    ),
    "SubagentStop": (
        "Stores the sub-agent's handoff, at most 500 tokens; for the sub-agent that summarizes, "
        "stores the summary, so that the brief does not repeat it.",
        "nothing",
    ),
    "PreCompact": (
        "Saves a snapshot, reads it back and compares; tells the summarizer what to keep verbatim.",
        "guidance as plain text",
    ),
    "SubagentStart": (
        "Gives a sub-agent the user's rules that apply to it, at most 500 tokens, and messages "
        "to it or to its type, at most 500 more.",
        "the rules and the messages, if there are any",
    ),
    "UserPromptExpansion": ("Records that a slash command is active from now on.", "nothing"),
    "PostCompact": ("Stores the host's summary.", "nothing"),
    "SessionEnd": ("Reads the last lines and closes the session.", "nothing"),
}


def build_page() -> str:
    """Return the page as Markdown."""
    progress_since = _render_since(claude_code.PROGRESS_TOOLS_SINCE)
    commits = claude_code.GIT_COMMIT_FILTER["if"]
    return "\n".join(
        [
            render_title("Hooks"),
            f"`holdfast install` registers these events with {claude_code.TITLE}, each with the "
            "same command:\nthis Python by its absolute path, and the module "
            "`holdfast.entry`.\n",
            *render_table(
                ("event", "client", "what Holdfast does", "prints", "time"),
                [_build_event_row(name, since) for name, since in claude_code.EVENTS],
            ),
            f"\nA client that is {progress_since} gets `{claude_code.TOOL_EVENT}` as well, after\n"
            f"`{claude_code.PROGRESS_TOOLS}` and after commits\n"
            f"(`{commits}`): it updates the session's notes in the\n"
            "background (`async`), if the project keeps notes.\n",
            f"`install --guard-edits` adds `{claude_code.TOOL_EVENT}` after edits "
            f"(`{claude_code.EDITING_TOOLS}`): it does what `Stop`\ndoes. Inside a sub-agent all "
            "hooks except `SubagentStart` and `SubagentStop` do nothing.\n",
            "\n## Which client gets which\n",
            *render_table(("client", "events"), _list_versions()),
            "\nBefore 2.1.197 one event name that the client does not know silently disables every "
            "hook of\nthe file. So the installer asks for the version first (`claude --version`), "
            "and a client whose\nversion is unknown gets only what every version knows. After an "
            "upgrade, run `holdfast install`\nagain: it adds the rest.\n",
            "## What the host can rely on\n",
            "- A hook always exits 0, because exit code 2 would block the host. If the package "
            "was removed,\n  Python exits 1.",
            "- It prints the output of its event, or nothing. Failures go to the log, and "
            "`holdfast doctor`\n  shows them.",
            f"- The output has at most {render_value(claude_code.MAX_BRIEF_UNITS)} characters "
            f"(UTF-16 units); {claude_code.TITLE} truncates it at 10,000.",
            "- At its deadline a hook stops reading and saves what it has; a little later its "
            "process\n  ends. The settings file also gives the host a limit of "
            f"{claude_code.HOOK_TIMEOUT_SECONDS} s, except for\n  SessionEnd, where the host has "
            "its own limit of 1.5 s.",
            "- It never writes to the transcript, never blocks a compaction and never uses the "
            "network.",
            "",
        ]
    )


def _build_event_row(name: str, since: tuple[int, ...]) -> tuple[str, ...]:
    action, prints = ACTIONS[name]
    seconds = main.DEADLINE_SECONDS.get(name, main.DEFAULT_DEADLINE_SECONDS)
    return f"`{name}`", _render_since(since), action, prints, f"{seconds:g} s"


def _render_since(version: tuple[int, ...]) -> str:
    return "every" if version == (0,) else f"{'.'.join(map(str, version))} or newer"


def _list_versions() -> list[tuple[str, str]]:
    """Return a row for each version that brings new events."""
    versions = sorted({since for _, since in claude_code.EVENTS})
    rows = []
    for number, since in enumerate(versions):
        known = claude_code.events_for(since)
        before = claude_code.events_for(versions[number - 1]) if number else []
        new = ", ".join(f"`{event}`" for event in known if event not in before)
        name = "unknown, or any" if since == (0,) else _render_since(since)
        rows.append((name, f"also {new}" if number else new))
    return rows
