"""Roles: a role changes which sections a brief has and how they are weighted, nothing else.

The built-in roles are written like a project's own templates (`template.parse_template`).
"""

from __future__ import annotations

from holdfast.brief.template import DEFAULT_TITLE, SECTIONS, Template, parse_template
from holdfast.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION_TEMPLATE = Template(
    "session",
    DEFAULT_TITLE,
    {key: SECTIONS[key] for key in SECTIONS if key not in ("progress", "code")},
)
TEMPLATE_SOURCES = {
    "orchestrator": """\
# Where this orchestration stands
for: orchestrator, tech-lead
## Session summary {asked}
## Rules of the user {rules}
## Wave status {progress x1.5}
## Active subtasks {plan x1.2}
## Agent status {agents x1.5}
## Key decisions {decided x1.1}
## Found out {found}
## Failing now {failing}
## Next steps {now}
## Earlier {earlier}
## Git {git}
## Modified files {files}
## Commands {commands}
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
## Decided {decided}
## Found out {found}
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
## Found out {found}
## Files of the task {files}
## Commands {commands}
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
## Found out {found}
## Being done {now}
## Earlier {earlier}
## Sub-agents {agents x0.6}
""",
}


_PARSED: dict[str, Template] = {}


def built_in_templates() -> dict[str, Template]:
    """The built-in templates by role; they are parsed once, when they are first needed."""
    if not _PARSED:
        parsed = {name: parse_template(name, text) for name, text in TEMPLATE_SOURCES.items()}
        _PARSED.update({SESSION_TEMPLATE.name: SESSION_TEMPLATE} | parsed)
    return dict(_PARSED)


def find_role(agent_type: str, own: Mapping[str, Template] | None = None) -> str | None:
    """The role for an agent type, None if the type is empty. A project's `own` templates win over
    the built-in ones; an agent type that no template claims is a validator."""
    lower = agent_type.lower()
    if not lower:
        return None
    for role in (*(own or {}).values(), *built_in_templates().values()):
        if any(word in lower for word in role.agents):
            return role.name
    return "validator"


def find_template(role: str | None, own: Mapping[str, Template] | None = None) -> Template:
    """The template of a role, or the session's without one. Raises if there is no such role."""
    known = {**built_in_templates(), **(own or {})}
    try:
        return known[role or SESSION_TEMPLATE.name]
    except KeyError:
        names = ", ".join(sorted(known))
        raise InvalidInput(f"There is no role {role!r}", hint=f"one of: {names}") from None
