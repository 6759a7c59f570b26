"""Templates of briefs: which sections a brief has, their order, headings and weights.

A project's own template is a Markdown file whose headings name a part of the state each:

    # Where this review stands
    for: reviewer, quality
    ## What is under review {asked}
    ## Failing now {failing x1.5}
"""

from __future__ import annotations

from holdfast.errors import BadTemplate

# Every part of the state that a brief can show, with its default heading.
SECTIONS = {
    "disagree": "Where the log says otherwise than the summary",
    "asked": "Asked",
    "rules": "Rules of the user",
    "force": "Slash commands in force",
    "notes": "Notes by people, which count more than the summary",
    "failing": "Failing now",
    "progress": "Progress",
    "plan": "Plan",
    "now": "Being done",
    "decided": "Decided",
    "found": "Found out",
    "earlier": "Earlier",
    "code": "Code",
    "git": "Git",
    "agents": "Sub-agents",
    "files": "Changed files",
    "commands": "Commands",
}
DEFAULT_TITLE = "Where this session stands"
# Sections that a brief has even if the template leaves them out: requests, and what binds.
REQUIRED_SECTIONS = ("disagree", "asked", "rules", "force", "notes")
# A project's template cannot rename these, nor give them less weight: a cloned repository must not
# speak in the brief's voice, nor silence the user.
FIXED_SECTIONS = ("disagree", "rules", "force", "notes")
MAX_TITLE_CHARS = 80
# The section of names no longer exists; a template that has it is still valid.
RETIRED_SECTION = "names"


class Template:
    """The sections of the brief of one role."""

    __slots__ = ("agents", "name", "sections", "title", "weights")

    def __init__(
        self,
        name: str,
        title: str,
        sections: dict[str, str],
        weights: dict[str, float] | None = None,
        agents: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.title = title
        missing = {key: SECTIONS[key] for key in REQUIRED_SECTIONS if key not in sections}
        self.sections = {**missing, **sections}
        self.weights = weights or {}
        self.agents = agents
        """An agent type that contains one of these words has this role."""

    def heading(self, section: str) -> str:
        return f"## {self.sections[section]}"

    def render(self) -> str:
        """The template as a file that `parse_template` reads."""
        lines = [f"# {self.title}"]
        if self.agents:
            lines.append(f"for: {', '.join(self.agents)}")
        for key, heading in self.sections.items():
            weight = self.weights.get(key, 1.0)
            lines.append(f"## {heading} {{{key}{f' x{weight:g}' if weight != 1.0 else ''}}}")
        return "\n".join([*lines, ""])


def parse_template(name: str, text: str, *, is_project: bool = False) -> Template:
    """Parse the text of a template file. Raises `BadTemplate` with the number of a wrong line.

    The title and the headings of FIXED_SECTIONS in the template of a project are ignored, and so is
    a heading that pretends to be one of those.
    """
    title, agents = DEFAULT_TITLE, tuple[str, ...]()
    sections: dict[str, str] = {}
    weights: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("## "):
            if stripped.rpartition("{")[2].startswith(RETIRED_SECTION):
                continue
            key, heading, weight = _parse_section(name, number, stripped[3:])
            sections[key], weights[key] = heading, weight
        elif stripped.startswith("# "):
            title = stripped[2:].strip()[:MAX_TITLE_CHARS] or DEFAULT_TITLE
        elif stripped.lower().startswith("for:"):
            words = (word.strip().lower() for word in stripped[4:].split(","))
            agents = tuple(word for word in words if word)
        elif stripped:
            raise BadTemplate(
                f"{name}, line {number}: neither a heading nor `for:`",
                hint="a template is headings such as `## Plan {plan}`",
            )
    if not sections:
        raise BadTemplate(f"{name} has no section", hint="write one: `## Plan {plan}`")
    if is_project:
        title = DEFAULT_TITLE
        _fix_sections(sections, weights)
    return Template(name, title, sections, weights, agents)


def _fix_sections(sections: dict[str, str], weights: dict[str, float]) -> None:
    """Restore the headings that a project's template may not change, and their weights."""
    fixed = {SECTIONS[key].casefold() for key in FIXED_SECTIONS}
    for key, heading in sections.items():
        if key in FIXED_SECTIONS or heading.strip("#*_: ").casefold() in fixed:
            sections[key] = SECTIONS[key]
        if key in FIXED_SECTIONS:
            weights[key] = max(1.0, weights[key])


def _parse_section(name: str, number: int, text: str) -> tuple[str, str, float]:
    heading, brace, rest = text.rpartition("{")
    key, _, weight = rest.partition("}")[0].strip().partition(" ")
    if not brace or not rest.rstrip().endswith("}") or key not in SECTIONS:
        raise BadTemplate(
            f"{name}, line {number}: `## {text[:MAX_TITLE_CHARS]}` names no part of the state",
            hint=f"a heading ends with one of: {', '.join(f'{{{one}}}' for one in SECTIONS)}",
        )
    return (
        key,
        heading.strip()[:MAX_TITLE_CHARS] or SECTIONS[key],
        _parse_weight(name, number, weight.strip()),
    )


def _parse_weight(name: str, number: int, text: str) -> float:
    if not text:
        return 1.0
    try:
        value = float(text.removeprefix("x"))
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 10.0:
        raise BadTemplate(
            f"{name}, line {number}: {text[:MAX_TITLE_CHARS]!r} is no weight",
            hint="`{plan x1.5}` weighs the plan half as much again; 0 leaves it out if it can",
        )
    return value
