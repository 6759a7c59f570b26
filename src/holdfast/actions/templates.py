"""Find the templates of a project and of the user, beside the roles that Holdfast brings."""

from __future__ import annotations

import os
import stat

from holdfast.brief import roles
from holdfast.brief.template import Template, parse
from holdfast.errors import BadTemplate

FOLDER = os.path.join(".holdfast", "briefs")
MOST, LARGEST = 50, 64 << 10
_SIGNS = str.maketrans("", "", "-_")


def own_templates(project: str, home: str) -> tuple[dict[str, Template], list[str]]:
    """Templates by role, a project's over the user's, and what is wrong with those left out."""
    found: dict[str, Template] = {}
    problems: list[str] = []
    for folder in (os.path.join(home, "briefs"), os.path.join(project, FOLDER) if project else ""):
        for name, path in _files(folder):
            try:
                found[name] = parse(name, _text(path))
            except (BadTemplate, OSError, ValueError) as problem:
                problems.append(f"{path}: {getattr(problem, 'detail', '') or problem}")
    return found, problems


def template_for(
    project: str, home: str, *, role: str = "", agent_type: str = ""
) -> tuple[Template, list[str]]:
    """The template of a role, else of the agent's type; a hook goes on with a session's."""
    own, problems = own_templates(project, home)
    wanted = role or roles.of_agent(agent_type, own) or roles.SESSION.name
    known = {**roles.built_in(), **own}
    if wanted not in known:
        problems.append(f"there is no role {wanted!r}")
    return known.get(wanted, roles.SESSION), problems


def _files(folder: str) -> list[tuple[str, str]]:
    """Role and file, of plain names only: the name of a role is told in messages."""
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    parts = [(name.removesuffix(".md"), name) for name in names if name.endswith(".md")]
    plain = [one for one in parts if one[0].translate(_SIGNS).isalnum() and len(one[0]) <= 60]
    return [(role, os.path.join(folder, name)) for role, name in plain[:MOST]]


def _text(path: str) -> str:
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
        # A repository may bring a link to anything: a device would never end.
        raise BadTemplate("not a small regular file")
    with open(path, encoding="utf-8") as file:
        return file.read()
