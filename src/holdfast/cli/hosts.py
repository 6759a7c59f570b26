"""List the coding agents (hosts) that Holdfast supports: found here, installed, what works.

A cell says how a feature was tested: with the real client, with recorded payloads, or only from the
host's documentation. A dash means that the host does not offer it.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from holdfast.cli.console import (
    format_age,
    make_console,
    make_table,
    print_json,
    print_message,
    to_iso_time,
)
from holdfast.services.install.host_survey import HostSurvey, survey_hosts
from holdfast.services.sessions import current_folder, open_store

COLUMNS = ("save", "restore", "summariser", "replace")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    with open_store() as (store, config):
        surveys = survey_hosts(os.environ, current_folder(), config.home, store)
    if args.json:
        print_json(
            {
                "hosts": [
                    {**asdict(host), "last_fired": to_iso_time(host.last_fired)} for host in surveys
                ]
            }
        )
        return 0
    make_console().print(
        make_table(
            ("host", "found", "version", "installed", *COLUMNS, "fired"),
            [*map(_to_row, surveys)],
        )
    )
    for host in surveys:
        if host.program and not host.installed:
            command = f"holdfast install --host {host.name}"
            print_message(f"{host.title} was found: `{command}` registers the hooks.")
    return 0


def _to_row(host: HostSurvey) -> tuple[str, ...]:
    return (
        host.title,
        "yes" if host.found else "no",
        host.version or "–",
        "yes" if host.installed else "no",
        *(host.support.get(column) or "–" for column in COLUMNS),
        format_age(host.last_fired),
    )
