"""Load the brief templates of a project and of the user, beside the built-in roles."""

from __future__ import annotations

import os
import stat

from holdfast import trust
from holdfast.brief import roles
from holdfast.brief.template import Template, parse_template
from holdfast.errors import BadTemplate

BRIEFS_FOLDER = os.path.join(".holdfast", "briefs")
UNTRUSTED = "the templates in .holdfast/briefs are not trusted; `holdfast trust` shows them"
MAX_TEMPLATES, MAX_TEMPLATE_BYTES = 50, 64 << 10
_SEPARATORS = str.maketrans("", "", "-_")


def load_custom_templates(project: str, home: str) -> tuple[dict[str, Template], list[str]]:
    """Return templates by role, and the problems of those that could not be used.

    A project's template replaces the user's of the same role. It counts only if the user has
    trusted it.
    """
    templates: dict[str, Template] = {}
    problems: list[str] = []
    files = [(name, path, False) for name, path in _list_files(os.path.join(home, "briefs"))]
    of_project = _list_files(os.path.join(project, BRIEFS_FOLDER)) if project else []
    if of_project and trust.is_trusted(home, project):
        files += [(name, path, True) for name, path in of_project]
    elif of_project:
        problems.append(f"{project}: {UNTRUSTED}")
    for name, path, is_project in files:
        try:
            templates[name] = parse_template(name, _read_text(path), is_project=is_project)
        except (BadTemplate, OSError, ValueError) as problem:
            problems.append(f"{path}: {getattr(problem, 'detail', '') or problem}")
    return templates, problems


def choose_template(
    project: str, home: str, *, role: str = "", agent_type: str = ""
) -> tuple[Template, list[str]]:
    """Return the template of a role, or else of the agent's type, and any problems.

    For an unknown role it is the session's template, so that a hook still builds a brief.
    """
    custom, problems = load_custom_templates(project, home)
    name = role or roles.find_role(agent_type, custom) or roles.SESSION_TEMPLATE.name
    known = {**roles.built_in_templates(), **custom}
    if name not in known:
        problems.append(f"there is no role {name!r}")
    return known.get(name, roles.SESSION_TEMPLATE), problems


def _list_files(folder: str) -> list[tuple[str, str]]:
    """Return role and path of each template with a plain name, which is safe in messages."""
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    parts = [(name.removesuffix(".md"), name) for name in names if name.endswith(".md")]
    plain = [
        (role, name)
        for role, name in parts
        if role.translate(_SEPARATORS).isalnum() and len(role) <= 60
    ]
    return [(role, os.path.join(folder, name)) for role, name in plain[:MAX_TEMPLATES]]


def _read_text(path: str) -> str:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_TEMPLATE_BYTES:
        # A repository may contain a link to anything; reading a device would never end.
        raise BadTemplate("not a small regular file")
    with open(path, encoding="utf-8") as file:
        return file.read()
