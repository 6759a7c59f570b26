"""The page of settings: what can be set, where, and what lies in Holdfast's home."""

from __future__ import annotations

import json
from unittest import mock

from docs.reference.markdown import shown, table, titled
from holdfast import diagnostics, settings
from holdfast.hooks import main
from holdfast.hosts import claude_code
from holdfast.services.compaction import summarizer_guidance
from holdfast.services.install import client_version

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


def page() -> str:
    return "\n".join(
        [
            titled("Settings"),
            "Each setting can be given in three places. The first that names it counts:\n",
            "1. the environment variable,",
            "2. the project's `.holdfast/settings.json`,",
            "3. the user's `settings.json` in Holdfast's home (below).\n",
            *table(
                ("setting", "variable", "default", "meaning"),
                [
                    (f"`{name}`", f"`HOLDFAST_{name.upper()}`", shown(value), explained)
                    for (name, value), explained in zip(
                        settings.DEFAULTS.items(), settings.DESCRIPTIONS.values(), strict=True
                    )
                ],
            ),
            "\nA settings file holds one JSON object:\n",
            "```json",
            "{" + ", ".join(f'"{n}": {json.dumps(v)}' for n, v in settings.DEFAULTS.items()) + "}",
            "```\n",
            "Switches can also be written as `on`, `yes`, `1` and `off`, `no`, `0`. A value that "
            "cannot be\nused is skipped, and `holdfast doctor` tells so; a hook goes on without "
            "it.\n",
            "## Variables\n",
            *table(("variable", "meaning"), [(f"`{n}`", text) for n, text in VARIABLES.items()]),
            "\n## Holdfast's home\n",
            "`HOLDFAST_HOME`, else by platform:\n",
            *table(("platform", "folder"), [(name, f"`{_home(key)}`") for name, key in PLATFORMS]),
            "\nIt can be read by its owner only, and holds:\n",
            *table(("file", "what it is"), _files()),
            "\n## Limits\n",
            *table(("what", "limit"), _limits()),
            "",
        ]
    )


PLATFORMS = (("Linux and others", "linux"), ("macOS", "darwin"), ("Windows", "win32"))


def _home(platform: str) -> str:
    environ = {"HOME": "~", "LOCALAPPDATA": "%LOCALAPPDATA%"}
    with mock.patch("holdfast.settings.sys.platform", platform):
        folder = settings.find_home(environ)
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
            f"what went wrong in silence; at {diagnostics.MAX_LOG_BYTES >> 20} MB it becomes "
            f"`{chosen.log}.1`",
        ),
        ("`settings.json`", "the user's settings"),
        ("`installed/`", "how to undo each install exactly"),
    ]


def _limits() -> list[tuple[str, str]]:
    return [
        ("a brief, in tokens", f"`brief_tokens` ({shown(settings.DEFAULTS['brief_tokens'])})"),
        (
            f"a brief, in characters (UTF-16 units), on {claude_code.TITLE}",
            shown(claude_code.MAX_BRIEF_UNITS),
        ),
        (
            "guidance for the summariser, in characters",
            shown(summarizer_guidance.MAX_GUIDANCE_UNITS),
        ),
        ("a hook's payload", f"{main.MAX_PAYLOAD_BYTES >> 20} MB"),
        ("an answer to `claude --version`", f"{client_version.VERSION_TIMEOUT_SECONDS:g} s"),
    ]
