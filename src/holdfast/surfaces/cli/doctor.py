"""What is installed where, whether hooks fire and briefs arrive, and what failed silently.

With --loop the whole save → compact → restore loop is run on a scratch session.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from holdfast import settings
from holdfast.actions.checkup import Finding, checkup
from holdfast.actions.rehearse import Step, rehearse
from holdfast.surfaces.cli.output import console, harmless, print_json
from holdfast.surfaces.cli.sessions import here

MARKS = {
    "ok": ("✓", "green"),
    "warn": ("!", "yellow"),
    "fail": ("✗", "red"),
    "info": ("·", "dim"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--loop", action="store_true", help="run the whole loop, step by step")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    # In a program's hands only the JSON is printed.
    screen = Console(quiet=True) if args.json else console()
    folder = here()
    chosen = settings.load(os.environ, folder)
    findings = checkup(os.environ, folder, chosen, time.time())
    for finding in findings:
        _print(screen, finding)
    steps = _loop(screen) if args.loop else []
    ok = all(finding.status != "fail" for finding in findings) and all(step.ok for step in steps)
    if args.json:
        print_json(
            {
                "ok": ok,
                "findings": [asdict(finding) for finding in findings],
                "loop": [asdict(step) for step in steps],
            }
        )
    return 0 if ok else 1


def _loop(screen: Console) -> list[Step]:
    screen.print("\n[bold]save → compact → restore on a scratch session[/bold]")
    with tempfile.TemporaryDirectory(prefix="holdfast-loop-") as folder:
        done = rehearse(folder, time.time(), lambda step: _print_step(screen, step))
    screen.print("[green]pass[/green]" if done.ok else "[red]fail[/red]")
    return done.steps


def _print(screen: Console, finding: Finding) -> None:
    detail = harmless(finding.detail)
    screen.print(Text.assemble(MARKS[finding.status], " ", (finding.name, "bold"), " ", detail))
    for line in finding.hint.splitlines():
        screen.print(Text(f"    {harmless(line)}", "dim"))


def _print_step(screen: Console, step: Step) -> None:
    mark, verdict = (MARKS["ok"], "pass") if step.ok else (MARKS["fail"], "FAIL")
    screen.print(Text.assemble(mark, f" {verdict}  {step.name}: {harmless(step.detail)}"))
