"""Run the whole save → compact → restore loop on the demo session, with real hook processes.

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

from holdfast.demo import DemoSession, append_lines, load_demo
from holdfast.hosts import claude_code
from holdfast.services.install.registration import hook_command
from holdfast.store.protocols import CompactionRow, SnapshotRow
from holdfast.store.sqlite import SQLiteStore
from holdfast.tokens.estimate import utf16_units

DEMO_SESSION_ID = "5e55a0ce-0000-4000-8000-00000000demo"
# Generous: a compaction takes host and model 16 to 37 s, and a hook a small part of that.
HOOK_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestStep:
    """One hook call, or one check after it."""

    name: str
    ok: bool
    detail: str
    milliseconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class SelfTest:
    """The steps and results of one run."""

    demo: DemoSession
    home: str
    transcript: str
    steps: list[SelfTestStep] = field(default_factory=list)
    guidance: str = ""
    brief: str = ""
    snapshot: SnapshotRow | None = None
    compaction: CompactionRow | None = None

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)


def run_self_test(
    folder: str, now: float, on_step: Callable[[SelfTestStep], None] = lambda _: None
) -> SelfTest:
    """Run the loop in `folder` and return the result; `on_step` is called after each step.

    It stops at the first step that fails.
    """
    project = os.path.join(folder, "courier")
    os.makedirs(os.path.join(project, ".git"))
    demo = load_demo(project, DEMO_SESSION_ID, now - 7200)
    config = os.path.join(folder, "claude")
    transcript = demo.transcript_path(config)
    os.makedirs(os.path.dirname(transcript))
    run = SelfTest(demo=demo, home=os.path.join(folder, "store"), transcript=transcript)
    for step in _steps(run):
        run.steps.append(step)
        on_step(step)
        if not step.ok:
            break
    return run


def _steps(run: SelfTest) -> Iterator[SelfTestStep]:
    """Yield the steps in order; the caller stops at the first failure."""
    demo = run.demo
    yield _run_hook(run, "SessionStart", lambda out: not out, source="startup")
    start = 0
    for turn, end in enumerate(demo.turn_ends, 1):
        append_lines(run.transcript, demo.before[start : end + 1])
        start = end + 1
        yield _run_hook(run, "Stop", lambda out: not out, turn=turn)
    append_lines(run.transcript, demo.before[start:])
    yield _run_hook(run, "PreCompact", lambda out: utf16_units(out) <= 10_000, trigger="auto")
    yield _check_snapshot(run)
    yield _run_hook(run, "SubagentStop", lambda out: not out, text=demo.summary)
    yield _run_hook(run, "SessionStart", lambda out: _is_brief(run, out), source="compact")
    yield _run_hook(run, "PostCompact", lambda out: not out, text=demo.summary, trigger="auto")
    yield _check_facts(run)
    shown = demo.hook_attachment(run.brief)
    append_lines(run.transcript, demo.after(shown, run.transcript))
    yield _run_hook(run, "Stop", lambda out: not out)
    yield _check_receipt(run)


def _run_hook(
    run: SelfTest, event: str, check: Callable[[str], bool], **fields: Any
) -> SelfTestStep:
    """Run one real hook process, as the host would start it, and check its output."""
    payload = run.demo.hook_payload(event, run.transcript, **fields)
    name = " ".join(filter(None, (event, str(fields.get("source", "")))))
    env = {"PATH": os.environ.get("PATH", ""), "HOLDFAST_HOME": run.home}
    # Only the loop: no threshold snapshots, and no suggestions to a user.
    env |= {"HOLDFAST_SUGGEST": "off", "HOLDFAST_SAVE_FROM_TOKENS": "10000000"}
    started = time.perf_counter()
    try:
        done = subprocess.run(
            shlex.split(hook_command()), input=json.dumps(payload).encode(), capture_output=True,
            env=env, timeout=HOOK_TIMEOUT_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        return SelfTestStep(name=name, ok=False, detail=str(problem))
    spent = (time.perf_counter() - started) * 1000
    out = done.stdout.decode("utf-8", "replace")
    if event == "PreCompact":
        run.guidance = out
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        detail = f"exit {done.returncode}: {''.join(last)}"
        return SelfTestStep(name=name, ok=False, detail=detail, milliseconds=spent)
    ok = check(out)
    summary = f"{utf16_units(out)} characters out" if out else "silent"
    detail = summary if ok else f"unexpected output: {out[:200]!r}"
    return SelfTestStep(name=name, ok=ok, detail=detail, milliseconds=spent)


def _is_brief(run: SelfTest, out: str) -> bool:
    try:
        output = json.loads(out)["hookSpecificOutput"]
    except (ValueError, KeyError, TypeError):
        return False
    run.brief = str(output.get("additionalContext") or "")
    return output.get("hookEventName") == "SessionStart" and (
        0 < utf16_units(run.brief) <= claude_code.MAX_BRIEF_UNITS
    )


def _open_store(run: SelfTest) -> closing[SQLiteStore]:
    return closing(SQLiteStore(os.path.join(run.home, "holdfast.db")))


def _check_snapshot(run: SelfTest) -> SelfTestStep:
    with _open_store(run) as store:
        snapshots = store.snapshots(DEMO_SESSION_ID, 1)
    run.snapshot = snapshots[0] if snapshots else None
    items = snapshots[0]["richness"] if snapshots else 0
    return SelfTestStep(name="snapshot", ok=items > 0, detail=f"{items} items saved and read back")


def _check_facts(run: SelfTest) -> SelfTestStep:
    """Check that each planted fact is in the brief or, word for word, in the summary."""
    restored = run.brief + run.demo.summary
    missing = [fact.name for fact in run.demo.facts if fact.text not in restored]
    count = len(run.demo.facts)
    detail = f"{count - len(missing)} of {count} planted facts known again"
    if missing:
        detail += f"; missing: {', '.join(missing)}"
    return SelfTestStep(name="facts", ok=not missing, detail=detail)


def _check_receipt(run: SelfTest) -> SelfTestStep:
    with _open_store(run) as store:
        rows = store.compactions(DEMO_SESSION_ID)
    run.compaction = rows[-1] if rows else None
    receipt = rows[-1]["receipt"] if rows else "no compaction recorded"
    return SelfTestStep(
        name="receipt", ok=receipt == "whole", detail=f"the brief arrived: {receipt}"
    )
