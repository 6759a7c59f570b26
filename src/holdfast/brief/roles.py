"""A role changes which sections a brief has and what weighs more, never how a brief is made.

The built-in roles are written as a project would write its own (`template.parse`).
"""

from __future__ import annotations

from holdfast.brief.template import SECTIONS, TITLE, Template, parse
from holdfast.errors import BadUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION = Template(
    "session", TITLE, {key: SECTIONS[key] for key in SECTIONS if key not in ("progress", "code")}
)
TEXTS = {
    "orchestrator": """\
# Where this orchestration stands
for: orchestrator, tech-lead
## Session summary {asked}
## Rules of the user {rules}
## Wave status {progress x1.5}
## Active subtasks {plan x1.2}
## Agent status {agents x1.5}
## Key decisions {decided x1.1}
## Failing now {failing}
## Next steps {now}
## Earlier {earlier}
## Git {git}
## Modified files {files}
## Commands {commands}
## Names {names x0.7}
""",
    "developer": """\
# Where this development stands
for: developer, backend, frontend
## Current task {asked}
## Rules of the user {rules}
## Active issues {failing}
## Recent changes {files}
## Code context {code x1.4}
## Commands used {commands}
## Names {names}
## Decided {decided}
## Earlier {earlier}
## Git {git}
## Sub-agents {agents x0.6}
## Plan {plan}
## Next action {now}
""",
    "specialist": """\
# Where this task stands
for: specialist
## Current task {asked}
## Rules of the user {rules}
## Being done {now}
## Failing now {failing x1.1}
## Plan {plan}
## Decided {decided}
## Files of the task {files}
## Commands {commands}
## Names {names x1.1}
## Earlier {earlier}
## Git {git}
## Sub-agents {agents x0.6}
""",
    "validator": """\
# Where this validation stands
## What is validated {asked}
## Rules to hold it to {rules x1.1}
## Failing now {failing x1.3}
## Changes {git x1.2}
## Files {files}
## Checks and commands {commands}
## Plan {plan}
## Decided {decided}
## Being done {now}
## Names {names x0.85}
## Earlier {earlier}
## Sub-agents {agents x0.6}
""",
}


_READ: dict[str, Template] = {}


def built_in() -> dict[str, Template]:
    """By name; they are read when they are first needed, and once."""
    if not _READ:
        read = {name: parse(name, text) for name, text in TEXTS.items()}
        _READ.update({SESSION.name: SESSION} | read)
    return dict(_READ)


def of_agent(agent_type: str, own: Mapping[str, Template] | None = None) -> str | None:
    """The role of an agent by its type; a project's own templates are asked first."""
    wanted = agent_type.lower()
    if not wanted:
        return None
    for role in (*(own or {}).values(), *built_in().values()):
        if any(word in wanted for word in role.agents):
            return role.name
    return "validator"


def template(role: str | None, own: Mapping[str, Template] | None = None) -> Template:
    """The template of a role; a session that has none is told as a session."""
    known = {**built_in(), **(own or {})}
    try:
        return known[role or SESSION.name]
    except KeyError:
        names = ", ".join(sorted(known))
        raise BadUsage(f"there is no role {role!r}", hint=f"one of: {names}") from None
