"""The hosts that Holdfast knows: which are here, where it is installed, and what works there.

A cell says how it was tested: with the real client, on recorded payloads, or from the host's
documentation alone; a dash is something that the host does not offer.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from holdfast.actions.host_survey import Survey, survey
from holdfast.surfaces.cli.output import ago, console, print_json, say, stamp, table
from holdfast.surfaces.cli.sessions import here, open_store

COLUMNS = ("save", "restore", "summariser", "replace")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    with open_store() as (store, chosen):
        known = survey(os.environ, here(), chosen.home, store)
    if args.json:
        print_json(
            {"hosts": [{**asdict(one), "last_fired": stamp(one.last_fired)} for one in known]}
        )
        return 0
    console().print(
        table(("host", "found", "version", "installed", *COLUMNS, "fired"), [*map(_row, known)])
    )
    for one in known:
        if one.program and not one.installed:
            say(f"{one.title} is here: `holdfast install --host {one.name}` registers the hooks.")
    return 0


def _row(one: Survey) -> tuple[str, ...]:
    return (
        one.title,
        "yes" if one.found else "no",
        one.version or "–",
        "yes" if one.installed else "no",
        *(one.support.get(column) or "–" for column in COLUMNS),
        ago(one.last_fired),
    )
