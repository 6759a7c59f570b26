"""List the roles that a brief can be written for, or print the template of one."""

from __future__ import annotations

import argparse
import os
import sys

from holdfast import settings
from holdfast.brief import roles
from holdfast.cli.console import print_json, print_message, strip_control_chars
from holdfast.services.compaction.templates import BRIEFS_FOLDER, load_custom_templates
from holdfast.services.projects import find_project
from holdfast.services.sessions import current_folder


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "role", nargs="?", help="print the template of this role, as a start for your own"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    own, problems = load_custom_templates(
        find_project(current_folder()), settings.find_home(os.environ)
    )
    for problem in problems:
        print_message(f"ignored: {strip_control_chars(problem)}", style="yellow")
    templates = (
        [roles.find_template(args.role, own)]
        if args.role
        else {**roles.built_in_templates(), **own}.values()
    )
    if args.json:
        print_json(
            [
                {
                    "name": template.name, "title": template.title, "own": template.name in own,
                    "agent_types": list(template.agents), "sections": template.sections,
                    "weights": template.weights,
                }
                for template in templates
            ]
        )  # fmt: skip
        return 0
    if args.role:
        sys.stdout.write(strip_control_chars(roles.find_template(args.role, own).render()))
        return 0
    for template in templates:
        agents = f"agents whose type has {', '.join(template.agents)}" if template.agents else ""
        mark = "yours" if template.name in own else ""
        sys.stdout.write(
            strip_control_chars(f"{template.name:<14} {mark:<6} {agents}".rstrip() + "\n")
        )
    print_message(
        f"`holdfast roles NAME > {BRIEFS_FOLDER}/NAME.md` starts a template of your own.",
        style="dim",
    )
    return 0
