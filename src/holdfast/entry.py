"""The permanent entry points of hooks and of the status line.

`holdfast install` writes commands that import this module into the users' settings files. Those
files outlive any release, so this module and its two functions keep their names and arguments;
what they call may move. See docs/why/hooks.md.
"""

from __future__ import annotations


def hook(origin: str = "", host: str = "") -> None:
    """Run one hook with the payload on stdin, and exit 0.

    `origin` is "plugin" for a hook that the Claude Code plugin registers. `host` names the coding
    agent; without it the agent is detected from the payload.
    """
    from holdfast.hooks.main import main

    main(origin, host)


def status_line(chained_command: str = "") -> None:
    """Print the status line; `chained_command` is the user's own, which is shown first."""
    from holdfast.statusline.main import main

    main(chained_command)
