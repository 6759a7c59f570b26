"""Generates the page of settings: settings, variables, limits, and files in Holdfast's home."""

from __future__ import annotations

import json
from unittest import mock

from docs.reference.markdown import render_table, render_title, render_value
from holdfast import diagnostics, settings
from holdfast.hooks import main
from holdfast.hosts import claude_code
from holdfast.services.compaction import summarizer_guidance
from holdfast.services.install import client_version

VARIABLES = {
    "HOLDFAST_HOME": "the folder with the store, the log and the user's settings",
    "HOLDFAST_DATABASE": "a team's PostgreSQL database (`postgresql://user@host/database`; needs "
    "`holdfast[team]`): commands that show what was saved read from it; hooks and "
    "conversations of `SessionManager` never use it",
    "HOLDFAST_CLAUDE": "the Claude Code program whose version is used, instead of the `claude` on "
    "the PATH",
    "HOLDFAST_CODEX": "the same for Codex, instead of the `codex` on the PATH",
    "CODEX_SESSION_ID": "set by Codex for the programs that it runs: the same as "
    "`CLAUDE_CODE_SESSION_ID`",
    "CODEX_HOME": "a variable of Codex: the folder of its settings and logs, instead of `~/.codex`",
    "CLAUDE_CONFIG_DIR": "a variable of Claude Code: the folder of its user settings, instead of "
    "`~/.claude`",
    "CLAUDE_CODE_SESSION_ID": "set by Claude Code for the programs that it runs: the session that "
    "commands use by default",
    "CLAUDE_PROJECT_DIR": "set by Claude Code: the folder whose project the MCP server searches",
    "NO_COLOR": "if set, no colours are printed",
    "TMPDIR": "the folder of the log if the home cannot be written",
}


def build_page() -> str:
    """Return the page as Markdown."""
    return "\n".join(
        [
            render_title("Settings"),
            "Each setting can be given in three places. The first that has it is used:\n",
            "1. the environment variable,",
            "2. the project's `.holdfast/settings.json`,",
            "3. the user's `settings.json` in Holdfast's home (below).\n",
            *render_table(
                ("setting", "variable", "default", "meaning"),
                [
                    (f"`{name}`", f"`HOLDFAST_{name.upper()}`", render_value(value), description)
                    for (name, value), description in zip(
                        settings.DEFAULTS.items(), settings.DESCRIPTIONS.values(), strict=True
                    )
                ],
            ),
            "\nA settings file holds one JSON object:\n",
            "```json",
            "{" + ", ".join(f'"{n}": {json.dumps(v)}' for n, v in settings.DEFAULTS.items()) + "}",
            "```\n",
            "Switches can also be written as `on`, `yes`, `1` and `off`, `no`, `0`. A value that "
            "cannot be\nused is ignored, and `holdfast doctor` reports it.\n",
            "## Variables\n",
            *render_table(
                ("variable", "meaning"), [(f"`{n}`", text) for n, text in VARIABLES.items()]
            ),
            "\n## Holdfast's home\n",
            "`HOLDFAST_HOME`, else by platform:\n",
            *render_table(
                ("platform", "folder"), [(name, f"`{_find_home(key)}`") for name, key in PLATFORMS]
            ),
            "\nOnly its owner can read it. It contains:\n",
            *render_table(("file", "what it is"), _list_files()),
            "\n## Limits\n",
            *render_table(("what", "limit"), _list_limits()),
            "",
        ]
    )


PLATFORMS = (("Linux and others", "linux"), ("macOS", "darwin"), ("Windows", "win32"))


def _find_home(platform: str) -> str:
    environ = {"HOME": "~", "LOCALAPPDATA": "%LOCALAPPDATA%"}
    with mock.patch("holdfast.settings.sys.platform", platform):
        folder = settings.find_home(environ)
    if platform == "win32":
        return folder.replace("/", "\\")
    return folder.replace("~/.local/state", "${XDG_STATE_HOME:-~/.local/state}")


def _list_files() -> list[tuple[str, str]]:
    chosen = settings.Settings("", settings.DEFAULTS, ())
    return [
        (
            f"`{chosen.database}`",
            "the store: sessions, snapshots, compactions, briefs",
        ),
        (f"`{chosen.ledger}`", "the ledger: requests, tasks, actions, messages"),
        (f"`{chosen.index}`", "the index that `recall` searches; it can be deleted at any time"),
        (
            "`….damaged-TIME`",
            "a damaged store or ledger that was replaced; `….json` beside it counts its rows",
        ),
        (
            f"`{chosen.log}`",
            "the log: problems of hooks and of the status line; at "
            f"{diagnostics.MAX_LOG_BYTES >> 20} MB it is renamed to `{chosen.log}.1`",
        ),
        ("`settings.json`", "the user's settings"),
        ("`installed/`", "records that `holdfast uninstall` needs to restore each settings file"),
    ]


def _list_limits() -> list[tuple[str, str]]:
    return [
        (
            "a brief, in tokens",
            f"`brief_tokens` ({render_value(settings.DEFAULTS['brief_tokens'])})",
        ),
        (
            f"a brief, in characters (UTF-16 units), on {claude_code.TITLE}",
            render_value(claude_code.MAX_BRIEF_UNITS),
        ),
        (
            "guidance for the summarizer, in characters (UTF-16 units)",
            render_value(summarizer_guidance.MAX_GUIDANCE_UNITS),
        ),
        ("a hook's payload", f"{main.MAX_PAYLOAD_BYTES >> 20} MB"),
        (
            "the time that `claude --version` may take",
            f"{client_version.VERSION_TIMEOUT_SECONDS:g} s",
        ),
    ]
