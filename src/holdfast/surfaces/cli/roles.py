"""The roles that a brief can be written for, and the template of each."""

from __future__ import annotations

import argparse
import os
import sys

from holdfast import settings
from holdfast.actions.project import project_of
from holdfast.actions.templates import FOLDER, own_templates
from holdfast.brief import roles
from holdfast.surfaces.cli.output import harmless, print_json, say
from holdfast.surfaces.cli.sessions import here


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "role", nargs="?", help="print the template of this one, to start your own from"
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    own, problems = own_templates(project_of(here()), settings.home(os.environ))
    for problem in problems:
        say(f"left out: {harmless(problem)}", style="yellow")
    chosen = [roles.template(args.role, own)] if args.role else {**roles.built_in(), **own}.values()
    if args.json:
        print_json(
            [
                {
                    "name": one.name, "title": one.title, "own": one.name in own,
                    "agent_types": list(one.agents), "sections": one.sections,
                    "weights": one.weights,
                }
                for one in chosen
            ]
        )  # fmt: skip
        return 0
    if args.role:
        sys.stdout.write(harmless(roles.template(args.role, own).text()))
        return 0
    for one in chosen:
        agents = f"agents whose type has {', '.join(one.agents)}" if one.agents else ""
        mark = "yours" if one.name in own else ""
        sys.stdout.write(harmless(f"{one.name:<14} {mark:<6} {agents}".rstrip() + "\n"))
    say(
        f"`holdfast roles NAME > {FOLDER}/NAME.md` starts a template of your own.",
        style="dim",
    )
    return 0
