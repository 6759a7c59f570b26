"""Run all parts within a time limit and print what was tried and what was lost.

Exits with 1 if anything was lost. The same seed tries the same things, as far as time allows.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.torture import damage, full_disk, kills, repositories, secrets
from tests.torture.report import Run

# Each part and its share of the time.
PARTS = {
    "kills": (kills.run, 5),
    "damage": (damage.run, 4),
    "full disk": (full_disk.run, 2),
    "repositories": (repositories.run, 2),
    "secrets": (secrets.run, 2),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0, help="for all parts (default: 15)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="for random choices")
    parser.add_argument("--only", choices=PARTS, help="run one part for the whole time")
    args = parser.parse_args()
    parts = {name: part for name, part in PARTS.items() if args.only in (None, name)}
    total = sum(weight for _, weight in parts.values())
    console = Console()
    console.print(f"seed {args.seed}, at most about {args.minutes:g} minutes")
    table = Table("part", "what", "tried", "lost", title="What was tried and lost")
    details: list[str] = []
    for name, (run_part, weight) in parts.items():
        seconds = 60 * args.minutes * weight / total
        console.print(f"{name}: {seconds:.0f} seconds …")
        run = Run(random.Random(args.seed), time.monotonic() + seconds)
        # Background processes of hooks may still write there.
        with tempfile.TemporaryDirectory(
            prefix="holdfast-torture-", ignore_cleanup_errors=True
        ) as folder:
            run_part(run, Path(folder))
        for row in run.rows:
            table.add_row(name, row.name, f"{row.tried} {row.unit}", str(row.lost))
            details += [f"{name}, {row.name}: {detail}" for detail in row.details]
    console.print(table)
    for detail in details:
        console.print(f"lost: {detail}", markup=False, style="red")
    return 1 if details else 0


if __name__ == "__main__":
    sys.exit(main())
