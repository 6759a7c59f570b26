"""Show how an example session is saved, compacted and restored by the real hooks.

It reads and writes only a temporary folder, and needs no agent, model or network.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.rule import Rule

from holdfast.brief.items import Item
from holdfast.cli.console import format_count
from holdfast.errors import InvalidInput
from holdfast.hosts import claude_code
from holdfast.reports.loss import build_loss_report
from holdfast.services.doctor.self_test import SelfTest, SelfTestStep, run_self_test
from holdfast.services.recall.lookup import look_up_in_file
from holdfast.tokens.estimate import Estimator, utf16_units

KINDS = {
    "prohibition": "rule",
    "requirement": "rule",
    "rejected": "ruled out",
    "chosen": "decision",
    "error": "failure",
    "file": "file",
    "request": "request",
    "question": "open question",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", metavar="DIR", help="keep the files in this new folder, to look at them"
    )


def run(args: argparse.Namespace) -> int:
    screen = Console(highlight=False, emoji=False)
    if args.keep:
        return _run_demo(screen, _create_folder(args.keep))
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        return _run_demo(screen, folder)


def _create_folder(path: str) -> str:
    try:
        os.makedirs(path)
    except OSError as problem:
        raise InvalidInput(
            f"--keep: cannot create {path} ({problem.strerror})", hint="give a new folder"
        ) from None
    return os.path.abspath(path)


def _run_demo(screen: Console, folder: str) -> int:
    screen.print(Rule("[bold]Holdfast: save → compact → restore[/bold]"))
    screen.print(
        "A two-hour session on a small job queue is replayed. Its host runs out of context and "
        "compacts. Each line below is a real hook process.\n"
    )
    result = run_self_test(folder, time.time(), lambda step: _print_step(screen, step))
    if not result.ok:
        screen.print("\n[red]The loop failed.[/red] `holdfast doctor` may show why.")
        return 1
    _print_saved(screen, result)
    _print_lost(screen, result)
    _print_brief(screen, result)
    _print_receipt(screen, result)
    _print_lookup(screen, result)
    _print_next_steps(screen)
    return 0


def _print_step(screen: Console, step: SelfTestStep) -> None:
    mark = "[green]✓[/green]" if step.ok else "[red]✗[/red]"
    duration = f"{step.milliseconds:5.0f} ms" if step.milliseconds else " " * 8
    screen.print(f"{mark} {step.name:<22}[dim]{duration}  {escape(step.detail)}[/dim]")


def _print_title(screen: Console, text: str) -> None:
    screen.print()
    screen.print(Rule(f"[bold]{text}[/bold]", align="left"))


def _print_saved(screen: Console, result: SelfTest) -> None:
    assert result.snapshot is not None
    state = result.snapshot["state"]
    _print_title(screen, "1  What was saved before the compaction")
    numbers = (
        (len(state["requests"]), "request"),
        (len(state["rules"]), "rule"),
        (len(state["decisions"]), "decision"),
        (len(state["plan"]), "plan item"),
        (len(state["files"]), "file"),
        (len(state["checks"]), "command"),
        (len(state["commits"]), "commit"),
    )
    counts = [f"{number} {noun}{'s' * (number != 1)}" for number, noun in numbers]
    counts.append(f"{format_count(state['usage']['context'])} tokens of context")
    screen.print(" · ".join(counts))
    screen.print(f"[dim]snapshot {result.snapshot['id']}, written, read back and compared[/dim]")


def _print_lost(screen: Console, result: SelfTest) -> None:
    assert result.snapshot is not None
    losses = build_loss_report(result.snapshot["state"], result.demo.summary, result.brief)
    _print_title(screen, "2  What the host's summary lost")
    lost = [item for item in losses.restored if item.kind in KINDS and item.kind != "request"]
    for item in sorted(lost, key=lambda item: -item.value)[:9]:
        screen.print(f"[red]–[/red] {KINDS[item.kind]}: {escape(_quote(item))}", no_wrap=True,
                     overflow="ellipsis")  # fmt: skip
    screen.print(
        f"[dim]of {sum(map(len, losses))} saved items, the summary kept {len(losses.kept)} "
        f"and contradicts {len(losses.differs)}; the brief restores {len(losses.restored)}; "
        f"{len(losses.to_recall)} can be looked up[/dim]"
    )


def _quote(item: Item) -> str:
    return " ".join((item.quote or item.names[0]).split())


def _print_brief(screen: Console, result: SelfTest) -> None:
    _print_title(screen, "3  The brief that was restored")
    screen.print(Panel(escape(result.brief.strip()), border_style="green"))
    size, limit = utf16_units(result.brief), claude_code.MAX_BRIEF_UNITS
    assert result.snapshot is not None
    estimator = Estimator.for_model(result.snapshot["state"]["usage"]["model"])
    bar = "█" * round(30 * size / limit)
    screen.print(
        f"[green]{bar}[/green][dim]{'░' * (30 - len(bar))}[/dim] "
        f"{format_count(size)} of {format_count(limit)} characters, "
        f"about {format_count(estimator.estimate(result.brief))} tokens"
    )


def _print_receipt(screen: Console, result: SelfTest) -> None:
    assert result.compaction is not None
    _print_title(screen, "4  The delivery receipt")
    screen.print(
        f"[green]✓[/green] brief {result.compaction['brief_id']} arrived "
        f"[bold]{result.compaction['receipt']}[/bold], once: the host recorded it at transcript "
        f"line {result.compaction['receipt_line']}"
    )


def _print_lookup(screen: Console, result: SelfTest) -> None:
    _print_title(screen, "5  What is not in the brief can be looked up")
    query = "busiest second"
    hits = look_up_in_file(result.transcript, query, 120).hits
    screen.print(f'[bold]$ holdfast recall "{query}"[/bold]')
    for hit in hits[:2]:
        screen.print(f"[bold]L{hit.line}[/bold] [dim]{hit.kind}[/dim] {escape(hit.text)}")


def _print_next_steps(screen: Console) -> None:
    program = _program_name()
    _print_title(screen, "Set it up for real")
    for options, text in (
        ("install       ", "registers the hooks with Claude Code"),
        ("doctor --loop ", "runs this loop on your installation"),
    ):
        screen.print(f"  [bold]{escape(program)} {options}[/bold] {text}", soft_wrap=True)


def _program_name() -> str:
    """Return the command to type for this program, as short as possible."""
    path = sys.argv[0]
    if os.path.basename(path) != "holdfast":
        return f"{shlex.quote(sys.executable)} -P -m holdfast"
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
