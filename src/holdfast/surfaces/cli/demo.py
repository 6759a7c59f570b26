"""See the main job done: an example session is saved, compacted and restored by real hooks.

Nothing outside a scratch folder is read or written, and no agent, model or network is needed.
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

from holdfast.actions.lookup import look_up_in_file
from holdfast.actions.rehearse import Rehearsal, Step, rehearse
from holdfast.brief.item import Item
from holdfast.brief.tokens import Estimator, units
from holdfast.errors import BadUsage
from holdfast.hosts import claude_code
from holdfast.surfaces.cli.output import count
from holdfast.views.loss import losses

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
        "--keep", metavar="DIR", help="leave the scratch home in this (new) folder to look around"
    )


def run(args: argparse.Namespace) -> int:
    screen = Console(highlight=False, emoji=False)
    if args.keep:
        return _show(screen, _new_folder(args.keep))
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        return _show(screen, folder)


def _new_folder(path: str) -> str:
    try:
        os.makedirs(path)
    except OSError as problem:
        raise BadUsage(
            f"--keep {path} ({problem.strerror})", hint="it takes a folder to be made"
        ) from None
    return os.path.abspath(path)


def _show(screen: Console, folder: str) -> int:
    screen.print(Rule("[bold]Holdfast: save → compact → restore[/bold]"))
    screen.print(
        "A two-hour session on a small job queue is replayed. Its host runs out of context and "
        "compacts. Each line below is a real hook process.\n"
    )
    done = rehearse(folder, time.time(), lambda step: _step(screen, step))
    if not done.ok:
        screen.print("\n[red]The loop broke.[/red] `holdfast doctor` may know why.")
        return 1
    _saved(screen, done)
    _lost(screen, done)
    _brief(screen, done)
    _receipt(screen, done)
    _recall(screen, done)
    _next(screen)
    return 0


def _step(screen: Console, step: Step) -> None:
    mark = "[green]✓[/green]" if step.ok else "[red]✗[/red]"
    spent = f"{step.milliseconds:5.0f} ms" if step.milliseconds else " " * 8
    screen.print(f"{mark} {step.name:<22}[dim]{spent}  {escape(step.detail)}[/dim]")


def _title(screen: Console, text: str) -> None:
    screen.print()
    screen.print(Rule(f"[bold]{text}[/bold]", align="left"))


def _saved(screen: Console, done: Rehearsal) -> None:
    assert done.snapshot is not None
    state = done.snapshot["state"]
    _title(screen, "1  What was saved before the compaction")
    counted = (
        (len(state["requests"]), "request"),
        (len(state["rules"]), "rule"),
        (len(state["decisions"]), "decision"),
        (len(state["plan"]), "plan item"),
        (len(state["files"]), "file"),
        (len(state["checks"]), "command"),
        (len(state["commits"]), "commit"),
    )
    told = [f"{number} {noun}{'s' * (number != 1)}" for number, noun in counted]
    told.append(f"{count(state['usage']['context'])} tokens of context")
    screen.print(" · ".join(told))
    screen.print(f"[dim]snapshot {done.snapshot['id']}, written, read back and compared[/dim]")


def _lost(screen: Console, done: Rehearsal) -> None:
    assert done.snapshot is not None
    found = losses(done.snapshot["state"], done.example.summary, done.brief)
    _title(screen, "2  What the host's summary lost")
    gone = [item for item in found.restored if item.kind in KINDS and item.kind != "request"]
    for item in sorted(gone, key=lambda item: -item.value)[:9]:
        screen.print(f"[red]–[/red] {KINDS[item.kind]}: {escape(_words(item))}", no_wrap=True,
                     overflow="ellipsis")  # fmt: skip
    screen.print(
        f"[dim]of {sum(map(len, found))} things worth knowing the summary kept {len(found.kept)}; "
        f"the brief restores {len(found.restored)}; {len(found.to_recall)} are left to lookup[/dim]"
    )


def _words(item: Item) -> str:
    return " ".join((item.quote or item.names[0]).split())


def _brief(screen: Console, done: Rehearsal) -> None:
    _title(screen, "3  The brief that was put back")
    screen.print(Panel(escape(done.brief.strip()), border_style="green"))
    size, cap = units(done.brief), claude_code.CHARACTERS
    assert done.snapshot is not None
    estimator = Estimator.for_model(done.snapshot["state"]["usage"]["model"])
    bar = "█" * round(30 * size / cap)
    screen.print(
        f"[green]{bar}[/green][dim]{'░' * (30 - len(bar))}[/dim] {count(size)} of {count(cap)} "
        f"characters, about {count(estimator.estimate(done.brief))} tokens"
    )


def _receipt(screen: Console, done: Rehearsal) -> None:
    assert done.compaction is not None
    _title(screen, "4  The delivery receipt")
    screen.print(
        f"[green]✓[/green] brief {done.compaction['brief_id']} arrived "
        f"[bold]{done.compaction['receipt']}[/bold], once: the host wrote it down at transcript "
        f"line {done.compaction['receipt_line']}"
    )


def _recall(screen: Console, done: Rehearsal) -> None:
    _title(screen, "5  What is not in the brief is one lookup away")
    query = "busiest second"
    hits = look_up_in_file(done.transcript, query, 120).hits
    screen.print(f'[bold]$ holdfast recall "{query}"[/bold]')
    for hit in hits[:2]:
        screen.print(f"[bold]L{hit.line}[/bold] [dim]{hit.kind}[/dim] {escape(hit.text)}")


def _next(screen: Console) -> None:
    program = _program()
    _title(screen, "Set it up for real")
    for rest, what in (
        ("install       ", "registers the hooks with Claude Code"),
        ("doctor --loop ", "runs this loop on your installation"),
    ):
        screen.print(f"  [bold]{escape(program)} {rest}[/bold] {what}", soft_wrap=True)


def _program() -> str:
    """How this very program was called, as short as it can be typed."""
    called = sys.argv[0]
    if os.path.basename(called) != "holdfast":
        return f"{shlex.quote(sys.executable)} -m holdfast"
    relative = os.path.relpath(called)
    return relative if len(relative) < len(called) else called
