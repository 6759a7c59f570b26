"""The page of hooks: which events are registered with Claude Code, and what each one does."""

from __future__ import annotations

from docs.reference.markdown import shown, table, titled
from holdfast.hosts import claude_code
from holdfast.surfaces import hook

# What Holdfast does when an event fires, and what the host is then shown.
DONE = {
    "SessionStart": (
        "After a compaction, puts back what the summary lost. Opens the session; when it is "
        "resumed, puts back only what the host does not replay.",
        "the brief, or what is new since the session was closed",
    ),
    "UserPromptSubmit": (
        "Delivers a brief that the transcript shows did not arrive, once, and what other agents "
        "said to this one.",
        "the brief, if it had not arrived, and a word to the person; messages, if any wait",
    ),
    "Stop": (
        "Reads on in the transcript and saves the state; a snapshot when a threshold was passed.",
        "now and then, for the person only, that it is a good moment to compact",
    ),
    "SubagentStop": (
        "Keeps what the sub-agent hands on, within 500 tokens; of the fork that compacts, the "
        "summary, so that the brief need not repeat it.",
        "nothing",
    ),
    "PreCompact": (
        "Saves a snapshot, reads it back and compares; tells the summariser what to keep word "
        "for word.",
        "guidance as plain text",
    ),
    "SubagentStart": (
        "Tells a sub-agent which of the user's rules bind it too, within 500 tokens, and what "
        "other agents said to it or its kind, within 500 more.",
        "the rules and the messages, if there are any",
    ),
    "UserPromptExpansion": ("Notes that a slash command is active from now on.", "nothing"),
    "PostCompact": ("Keeps the host's official summary.", "nothing"),
    "SessionEnd": ("Reads the last lines and closes the session.", "nothing"),
}


def page() -> str:
    return "\n".join(
        [
            titled("Hooks"),
            f"`holdfast install` registers these events with {claude_code.TITLE}, each with the "
            "same command:\nthis Python by its absolute path, and the module "
            "`holdfast.surfaces.hook`.\n",
            *table(
                ("event", "client", "what Holdfast does", "prints", "time"),
                [_event(name, since) for name, since in claude_code.EVENTS],
            ),
            f"\nA client that is {_since(claude_code.STEPS_SINCE)} gets `{claude_code.AFTER_TOOL}` "
            f"as well, after\n`{claude_code.STEPS}` and after commits\n"
            f"(`{claude_code.COMMITS['if']}`): it brings the session's notes up to date in the\n"
            "background (`async`), where the project keeps some.\n",
            f"`install --guard-edits` adds `{claude_code.AFTER_TOOL}` after edits "
            f"(`{claude_code.EDITING_TOOLS}`): it does what `Stop`\ndoes. Inside a sub-agent all "
            "of them but `SubagentStart` and `SubagentStop` do nothing.\n",
            "\n## Which client gets which\n",
            *table(("client", "events"), _versions()),
            "\nBefore 2.1.197 one event name that the client does not know silently disables every "
            "hook of\nthe file. So the version is asked for first (`claude --version`), and a "
            "client that does not tell\nit gets only what every version knows. After an upgrade, "
            "`holdfast install` adds the rest.\n",
            "## What the host can rely on\n",
            "- A hook exits 0, whatever happens: with 2 it would block the host. A vanished "
            "package gives 1.",
            "- It prints the answer of its event, or nothing. What went wrong is in the log, and "
            "`holdfast doctor`\n  shows it.",
            f"- An answer has at most {shown(claude_code.CHARACTERS)} characters (UTF-16 units); "
            f"{claude_code.TITLE} cuts at 10,000.",
            "- When its time is up a hook stops reading and saves what it has; a little later its "
            "process\n  ends. The settings file also gives the host a limit of "
            f"{claude_code.TIMEOUT} s, except for\n  SessionEnd, where the host has its own of "
            "1.5 s.",
            "- It never writes to the transcript, never blocks a compaction and never uses the "
            "network.",
            "",
        ]
    )


def _event(name: str, since: tuple[int, ...]) -> tuple[str, ...]:
    does, prints = DONE[name]
    seconds = hook.DEADLINES.get(name, hook.DEADLINE)
    return f"`{name}`", _since(since), does, prints, f"{seconds:g} s"


def _since(version: tuple[int, ...]) -> str:
    return "every" if version == (0,) else f"{'.'.join(map(str, version))} or newer"


def _versions() -> list[tuple[str, str]]:
    steps = sorted({since for _, since in claude_code.EVENTS})
    told = []
    for number, since in enumerate(steps):
        known = claude_code.events_for(since)
        before = claude_code.events_for(steps[number - 1]) if number else []
        new = ", ".join(f"`{event}`" for event in known if event not in before)
        name = "unknown, or any" if since == (0,) else _since(since)
        told.append((name, f"also {new}" if number else new))
    return told
