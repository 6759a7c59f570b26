"""Check the installation: hooks registered and running, briefs delivered, errors in the log.

With --loop it also runs the whole save → compact → restore loop on a temporary session.
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
from holdfast.cli.console import make_console, print_json, strip_control_chars
from holdfast.services.doctor.checks import Finding, run_checks
from holdfast.services.doctor.self_test import SelfTestStep, run_self_test
from holdfast.services.sessions import current_folder

MARKS = {
    "ok": ("✓", "green"),
    "warn": ("!", "yellow"),
    "fail": ("✗", "red"),
    "info": ("·", "dim"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--loop", action="store_true", help="also run the whole loop, step by step")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    # With --json, only the JSON is printed.
    screen = Console(quiet=True) if args.json else make_console()
    folder = current_folder()
    config = settings.load(os.environ, folder)
    findings = run_checks(os.environ, folder, config, time.time())
    for finding in findings:
        _print_finding(screen, finding)
    steps = _run_loop(screen) if args.loop else []
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


def _run_loop(screen: Console) -> list[SelfTestStep]:
    screen.print("\n[bold]save → compact → restore on a temporary session[/bold]")
    with tempfile.TemporaryDirectory(prefix="holdfast-loop-") as folder:
        result = run_self_test(folder, time.time(), lambda step: _print_step(screen, step))
    screen.print("[green]pass[/green]" if result.ok else "[red]fail[/red]")
    return result.steps


def _print_finding(screen: Console, finding: Finding) -> None:
    detail = strip_control_chars(finding.detail)
    screen.print(Text.assemble(MARKS[finding.status], " ", (finding.name, "bold"), " ", detail))
    for line in finding.hint.splitlines():
        screen.print(Text(f"    {strip_control_chars(line)}", "dim"))


def _print_step(screen: Console, step: SelfTestStep) -> None:
    mark, verdict = (MARKS["ok"], "pass") if step.ok else (MARKS["fail"], "FAIL")
    screen.print(
        Text.assemble(mark, f" {verdict}  {step.name}: {strip_control_chars(step.detail)}")
    )
