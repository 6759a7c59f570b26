"""Write the reference pages anew from the code: `make docs`.

A page that differs from what this would write fails tests/unit/test_reference_docs.py.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import holdfast
from docs.reference import hosts_page
from holdfast import log, settings
from holdfast.actions import client, guidance
from holdfast.handoff.model import Handoff
from holdfast.hosts import claude_code
from holdfast.session import checkpoint, events
from holdfast.session.budget import PRESETS
from holdfast.session.conversation import Conversation
from holdfast.session.manager import SessionManager
from holdfast.surfaces import cli, hook

HERE = Path(__file__).parent
MADE = "<!-- Made from the code by `make docs`: a change made here is lost. -->"
WIDTH = 88

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
VARIABLES = {
    "HOLDFAST_HOME": "the folder that holds the store, the log and the user's settings",
    "HOLDFAST_DATABASE": "a team's PostgreSQL (`postgresql://user@host/database`; needs "
    "`holdfast[team]`): commands that show what was saved look there; hooks and "
    "conversations of `SessionManager` never do",
    "HOLDFAST_CLAUDE": "the Claude Code program to ask for its version, instead of the `claude` "
    "on the PATH",
    "HOLDFAST_CODEX": "the same for Codex, instead of the `codex` on the PATH",
    "CODEX_SESSION_ID": "set by Codex in what it runs: the same as `CLAUDE_CODE_SESSION_ID`",
    "CODEX_HOME": "Codex's own: where its settings and logs are, instead of `~/.codex`",
    "CLAUDE_CONFIG_DIR": "Claude Code's own: where its user settings are, instead of `~/.claude`",
    "CLAUDE_CODE_SESSION_ID": "set by Claude Code in what it runs: the session that commands are "
    "about unless told otherwise",
    "CLAUDE_PROJECT_DIR": "set by Claude Code: the folder whose project the MCP server looks into",
    "NO_COLOR": "no colours, whatever the terminal can do",
    "TMPDIR": "where the log goes when the home cannot be written",
}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {
        "commands.md": commands(),
        "settings.md": settings_page(),
        "hooks.md": hooks(),
        "session.md": session(),
        "hosts.md": "\n".join([f"{MADE}\n\n# Hosts\n", *hosts_page.lines()]),
    }


def commands() -> str:
    """Every command's help, at a width of its own."""
    parts = [
        f"{MADE}\n\n# Commands\n",
        "Data goes to stdout, words about it to stderr. Exit codes: 0 done, 1 an explained "
        "error\n(or nothing found), 2 an option that does not exist, 3 a bug. Hooks always exit "
        "0.\n",
        f"```text\n{cli.usage()}```\n",
    ]
    for name in cli.COMMANDS:
        parser = cli.parser_of(name)
        # The terminal's width must not show in the page.
        parser.formatter_class = _fixed_width
        parts.append(f"## holdfast {name}\n\n```text\n{parser.format_help()}```\n")
    return "\n".join(parts)


def _fixed_width(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH)


def settings_page() -> str:
    return "\n".join(
        [
            f"{MADE}\n\n# Settings\n",
            "Each setting can be given in three places. The first that names it counts:\n",
            "1. the environment variable,",
            "2. the project's `.holdfast/settings.json`,",
            "3. the user's `settings.json` in Holdfast's home (below).\n",
            *_table(
                ("setting", "variable", "default", "meaning"),
                [
                    (f"`{name}`", f"`HOLDFAST_{name.upper()}`", _shown(value), explained)
                    for (name, value), explained in zip(
                        settings.DEFAULTS.items(), settings.EXPLAINED.values(), strict=True
                    )
                ],
            ),
            "\nA settings file holds one JSON object:\n",
            "```json",
            "{" + ", ".join(f'"{n}": {_json(v)}' for n, v in settings.DEFAULTS.items()) + "}",
            "```\n",
            "Switches can also be written as `on`, `yes`, `1` and `off`, `no`, `0`. A value that "
            "cannot be\nused is skipped, and `holdfast doctor` tells so; a hook goes on without "
            "it.\n",
            "## Variables\n",
            *_table(("variable", "meaning"), [(f"`{n}`", text) for n, text in VARIABLES.items()]),
            "\n## Holdfast's home\n",
            "`HOLDFAST_HOME`, else by platform:\n",
            *_table(("platform", "folder"), [(name, f"`{_home(key)}`") for name, key in PLATFORMS]),
            "\nIt can be read by its owner only, and holds:\n",
            *_table(("file", "what it is"), _files()),
            "\n## Limits\n",
            *_table(("what", "limit"), _limits()),
            "",
        ]
    )


PLATFORMS = (("Linux and others", "linux"), ("macOS", "darwin"), ("Windows", "win32"))


def _home(platform: str) -> str:
    environ = {"HOME": "~", "LOCALAPPDATA": "%LOCALAPPDATA%"}
    with mock.patch("holdfast.settings.sys.platform", platform):
        folder = settings.home(environ)
    if platform == "win32":
        return folder.replace("/", "\\")
    return folder.replace("~/.local/state", "${XDG_STATE_HOME:-~/.local/state}")


def _files() -> list[tuple[str, str]]:
    chosen = settings.Settings("", settings.DEFAULTS, ())
    return [
        (f"`{chosen.database}`", "the store; a damaged one is set aside beside it"),
        (f"`{chosen.ledger}`", "what agents share: requests, tasks, actions, messages"),
        (f"`{chosen.index}`", "the index that `recall` searches; it can be deleted at any time"),
        (
            f"`{chosen.log}`",
            f"what went wrong in silence; at {log.LARGEST >> 20} MB it becomes `{chosen.log}.1`",
        ),
        ("`settings.json`", "the user's settings"),
        ("`installed/`", "how to undo each install exactly"),
    ]


def _limits() -> list[tuple[str, str]]:
    return [
        ("a brief, in tokens", f"`brief_tokens` ({_shown(settings.DEFAULTS['brief_tokens'])})"),
        (
            f"a brief, in characters (UTF-16 units), on {claude_code.TITLE}",
            _shown(claude_code.CHARACTERS),
        ),
        ("guidance for the summariser, in characters", _shown(guidance.MOST_UNITS)),
        ("a hook's payload", f"{hook.LARGEST_PAYLOAD >> 20} MB"),
        ("an answer to `claude --version`", f"{client.PATIENCE:g} s"),
    ]


def hooks() -> str:
    return "\n".join(
        [
            f"{MADE}\n\n# Hooks\n",
            f"`holdfast install` registers these events with {claude_code.TITLE}, each with the "
            "same command:\nthis Python by its absolute path, and the module "
            "`holdfast.surfaces.hook`.\n",
            *_table(
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
            *_table(("client", "events"), _versions()),
            "\nBefore 2.1.197 one event name that the client does not know silently disables every "
            "hook of\nthe file. So the version is asked for first (`claude --version`), and a "
            "client that does not tell\nit gets only what every version knows. After an upgrade, "
            "`holdfast install` adds the rest.\n",
            "## What the host can rely on\n",
            "- A hook exits 0, whatever happens: with 2 it would block the host. A vanished "
            "package gives 1.",
            "- It prints the answer of its event, or nothing. What went wrong is in the log, and "
            "`holdfast doctor`\n  shows it.",
            f"- An answer has at most {_shown(claude_code.CHARACTERS)} characters (UTF-16 units); "
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


def session() -> str:
    """The library for people who build agents."""
    return "\n".join(
        [
            f"{MADE}\n\n# SessionManager\n",
            f"`from holdfast import {', '.join(n for n in holdfast.__all__ if n[0] != '_')}`. "
            "How they are\nused: [build an agent](../how-to/build-an-agent.md), "
            "[hand work on](../how-to/handoffs.md).\n",
            *(_members(kind) for kind in (SessionManager, Conversation, Handoff)),
            "## Presets\n",
            *_table(
                ("preset", "window", "compacts at"),
                [
                    (f"`{name}`", _shown(one.limit), f"{_shown(one.trigger)} ({one.threshold:.1%})")
                    for name, one in PRESETS.items()
                ],
            ),
            "\n## Events\n",
            *_table(("event", "detail"), [(f"`{kind}`", text) for kind, text in TOLD.items()]),
            "\n## The checkpoint, as a JSON schema\n",
            f"```json\n{json.dumps(checkpoint.schema(), indent=2)}\n```\n",
            "Also understood: " + ", ".join(f"`{old}`" for old in checkpoint.ALIASES) + ".\n",
        ]
    )


TOLD = {
    events.START: "`messages`, `estimated_tokens`",
    events.PROGRESS: "`attempt`, `summarizer`",
    events.COMPLETE: "`messages_compacted`, `tokens_reclaimed`, `checkpoint_version`, `made_by`",
    events.ERROR: "`error`; with `fallback` if rules took over",
    events.SPEND_REFUSED: "`error`, `fallback`",
}


def _members(kind: type) -> str:
    """What a class offers, as its own docstrings say it."""
    rows = []
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        about = inspect.getdoc(member)
        if about and (callable(member) or isinstance(member, classmethod | property)):
            first = about.partition("\n\n")[0]
            rows.append((f"`{name}`", " ".join(first.split())))
    about = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return "\n".join([f"## {kind.__name__}\n", f"{about}\n", *_table(("name", ""), rows), ""])


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


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [columns, ("---",) * len(columns), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _shown(value: settings.Value) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, str):
        return value
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:,}"


def _json(value: settings.Value) -> str:
    return json.dumps(value)


def main() -> None:
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
