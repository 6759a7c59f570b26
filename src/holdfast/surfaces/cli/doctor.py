"""What is installed where, whether hooks fire and briefs arrive, and what failed silently.

With --loop the whole save → compact → restore loop is run on a scratch session.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import asdict

from rich.markup import escape

from holdfast import settings
from holdfast.actions.checkup import Finding, checkup
from holdfast.actions.rehearse import Step, rehearse
from holdfast.surfaces.cli.output import console, print_json

MARKS = {
    "ok": "[green]✓[/green]",
    "warn": "[yellow]![/yellow]",
    "fail": "[red]✗[/red]",
    "info": "[dim]·[/dim]",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--loop", action="store_true", help="run the whole loop, step by step")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    chosen = settings.load(os.environ, os.getcwd())
    findings = checkup(os.environ, os.getcwd(), chosen, time.time())
    steps: list[Step] = []
    screen = console()
    if not args.json:
        for finding in findings:
            _print(screen.print, finding)
    if args.loop:
        if not args.json:
            screen.print("\n[bold]save → compact → restore on a scratch session[/bold]")
        watch = (lambda _: None) if args.json else (lambda step: _print_step(screen.print, step))
        with tempfile.TemporaryDirectory(prefix="holdfast-loop-") as folder:
            done = rehearse(folder, time.time(), watch)
        steps = done.steps
    ok = all(finding.status != "fail" for finding in findings) and all(step.ok for step in steps)
    if args.json:
        print_json(
            {
                "ok": ok,
                "findings": [asdict(finding) for finding in findings],
                "loop": [asdict(step) for step in steps],
            }
        )
    elif args.loop:
        screen.print("[green]pass[/green]" if all(step.ok for step in steps) else "[red]fail[/red]")
    return 0 if ok else 1


def _print(out: object, finding: Finding) -> None:
    assert callable(out)
    out(f"{MARKS[finding.status]} [bold]{finding.name}[/bold] {escape(finding.detail)}")
    if finding.hint:
        out(f"    [dim]{escape(finding.hint)}[/dim]")


def _print_step(out: object, step: Step) -> None:
    assert callable(out)
    verdict = "pass" if step.ok else "FAIL"
    out(f"{MARKS['ok' if step.ok else 'fail']} {verdict}  {step.name}: {escape(step.detail)}")
