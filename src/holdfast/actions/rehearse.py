"""Run the whole save → compact → restore loop on an example session, with real hook processes.

Everything happens in a scratch folder; the user's own store and settings are not touched.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from holdfast import example
from holdfast.actions.install import hook_command
from holdfast.brief.tokens import units
from holdfast.example import Example
from holdfast.hosts import claude_code
from holdfast.store.base import CompactionRow, SnapshotRow
from holdfast.store.sqlite import SQLiteStore

SESSION = "5e55a0ce-0000-4000-8000-00000000demo"
# Host and model need 16 to 37 s for a compaction; a hook is given a tenth of that.
PATIENCE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One firing, or one thing checked afterwards."""

    name: str
    ok: bool
    detail: str
    milliseconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Rehearsal:
    """What there is to show when the loop has run."""

    example: Example
    home: str
    transcript: str
    steps: list[Step] = field(default_factory=list)
    guidance: str = ""
    brief: str = ""
    snapshot: SnapshotRow | None = None
    compaction: CompactionRow | None = None

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)


def rehearse(folder: str, now: float, watch: Callable[[Step], None] = lambda _: None) -> Rehearsal:
    """The loop in `folder`; `watch` is told of each step as it happens."""
    project = os.path.join(folder, "courier")
    os.makedirs(os.path.join(project, ".git"))
    made = example.build(project, SESSION, now - 7200)
    config = os.path.join(folder, "claude")
    transcript = made.session.transcript_path(config)
    os.makedirs(os.path.dirname(transcript))
    run = Rehearsal(example=made, home=os.path.join(folder, "store"), transcript=transcript)
    for step in _steps(run):
        run.steps.append(step)
        watch(step)
        if not step.ok:
            break
    return run


def _steps(run: Rehearsal) -> Iterator[Step]:
    """Each step only if those before it went well."""
    made = run.example
    yield _fire(run, "SessionStart", lambda out: not out, source="startup")
    start = 0
    for turn, end in enumerate(made.turn_ends, 1):
        example.write(run.transcript, made.before[start : end + 1])
        start = end + 1
        yield _fire(run, "Stop", lambda out: not out, turn=turn)
    example.write(run.transcript, made.before[start:])
    yield _fire(run, "PreCompact", lambda out: units(out) <= 10_000, trigger="auto")
    yield _saved(run)
    yield _fire(run, "SubagentStop", lambda out: not out, text=made.summary)
    yield _fire(run, "SessionStart", lambda out: _is_brief(run, out), source="compact")
    yield _fire(run, "PostCompact", lambda out: not out, text=made.summary, trigger="auto")
    yield _facts(run)
    shown = example.hook_attachment(made.session, run.brief)
    example.write(run.transcript, made.after(shown, run.transcript))
    yield _fire(run, "Stop", lambda out: not out)
    yield _receipt(run)


def _fire(run: Rehearsal, event: str, check: Callable[[str], bool], **fields: Any) -> Step:
    """One real hook process, as the host would start it."""
    told = example.payload(event, run.example.session, run.transcript, **fields)
    name = " ".join(filter(None, (event, str(fields.get("source", "")))))
    env = {"PATH": os.environ.get("PATH", ""), "HOLDFAST_HOME": run.home}
    # The loop itself: one save, and nobody there to be told anything.
    env |= {"HOLDFAST_SUGGEST": "off", "HOLDFAST_SAVE_FROM_TOKENS": "10000000"}
    started = time.perf_counter()
    try:
        done = subprocess.run(
            shlex.split(hook_command()), input=json.dumps(told).encode(), capture_output=True,
            env=env, timeout=PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Step(name=name, ok=False, detail=str(problem))
    spent = (time.perf_counter() - started) * 1000
    out = done.stdout.decode("utf-8", "replace")
    if event == "PreCompact":
        run.guidance = out
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        detail = f"exit {done.returncode}: {''.join(last)}"
        return Step(name=name, ok=False, detail=detail, milliseconds=spent)
    ok = check(out)
    words = f"{units(out)} characters out" if out else "silent"
    detail = words if ok else f"unexpected output: {out[:200]!r}"
    return Step(name=name, ok=ok, detail=detail, milliseconds=spent)


def _is_brief(run: Rehearsal, out: str) -> bool:
    try:
        told = json.loads(out)["hookSpecificOutput"]
    except (ValueError, KeyError, TypeError):
        return False
    run.brief = str(told.get("additionalContext") or "")
    return told.get("hookEventName") == "SessionStart" and (
        0 < units(run.brief) <= claude_code.CHARACTERS
    )


def _store(run: Rehearsal) -> closing[SQLiteStore]:
    return closing(SQLiteStore(os.path.join(run.home, "holdfast.db")))


def _saved(run: Rehearsal) -> Step:
    with _store(run) as store:
        found = store.snapshots(SESSION, 1)
    run.snapshot = found[0] if found else None
    items = found[0]["richness"] if found else 0
    return Step(name="snapshot", ok=items > 0, detail=f"{items} items saved and read back")


def _facts(run: Rehearsal) -> Step:
    """What was planted must stand in the brief or, word for word, in the summary."""
    there = run.brief + run.example.summary
    missing = [fact.name for fact in run.example.planted if fact.text not in there]
    count = len(run.example.planted)
    detail = f"{count - len(missing)} of {count} planted facts known again"
    if missing:
        detail += f"; missing: {', '.join(missing)}"
    return Step(name="facts", ok=not missing, detail=detail)


def _receipt(run: Rehearsal) -> Step:
    with _store(run) as store:
        rows = store.compactions(SESSION)
    run.compaction = rows[-1] if rows else None
    receipt = rows[-1]["receipt"] if rows else "no compaction recorded"
    return Step(name="receipt", ok=receipt == "whole", detail=f"the brief arrived: {receipt}")
