"""`status` and `doctor` report a compaction that is in the log and got no brief."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from holdfast.demo import Line

from .compaction_lines import (
    make_attachment,
    make_lines_after_compaction,
    take_before_reply,
    with_new_uuids,
)
from .hook_session import HookSession

WEEKS_SECONDS = 30 * 86400


def run_holdfast(session: HookSession, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments], cwd=session.root, text=True,
        env={**session.environment, "HOME": str(session.root)}, capture_output=True, check=False,
        timeout=60,
    )  # fmt: skip


def list_in_status(session: HookSession) -> list[tuple[int, str | None]]:
    """Ordinal and receipt of each compaction, as `status --json` has them."""
    output = json.loads(run_holdfast(session, "status", "--all", "--json").stdout)
    (listed,) = output["sessions"]
    return [(entry["ordinal"], entry["receipt"]) for entry in listed["compactions"]]


def read_briefs_column(session: HookSession) -> str:
    _, line = run_holdfast(session, "status", "--all").stdout.splitlines()
    return line.rstrip().rpartition("  ")[2]


def find_in_doctor(session: HookSession) -> dict[str, Any]:
    """The finding about briefs; `doctor` exits with 1 if it is a failure."""
    process = run_holdfast(session, "doctor", "--json")
    output = json.loads(process.stdout)
    (finding,) = [finding for finding in output["findings"] if finding["name"] == "briefs"]
    if finding["status"] == "fail":
        assert (process.returncode, output["ok"]) == (1, False)
    return dict(finding)


def compact_without_hooks(session: HookSession, *, replied: bool = True) -> list[Line]:
    """Write what the host writes at a compaction while no hook runs."""
    lines = make_lines_after_compaction(session)
    lines = lines if replied else take_before_reply(lines)
    session.write(lines)
    return lines


def find_boundary_line(session: HookSession, ordinal: int = 1) -> int:
    lines = session.transcript.read_text(encoding="utf-8").splitlines()
    found = [n for n, line in enumerate(lines, 1) if json.loads(line).get("compactMetadata")]
    return found[ordinal - 1]


@pytest.mark.parametrize("replied", [True, False], ids=["replied", "no-reply"])
def test_a_compaction_without_a_brief_is_a_failure(session: HookSession, replied: bool) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    compact_without_hooks(session, replied=replied)
    finding = find_in_doctor(session)
    assert finding["status"] == "fail"
    line = find_boundary_line(session)
    assert finding["detail"] == (
        "0 of 1 arrived whole; none for compaction 1 of session s1 "
        f"(line {line} of {session.transcript})"
    )
    assert "holdfast brief --session s1" in finding["hint"]
    assert "holdfast doctor --loop" in finding["hint"]
    assert list_in_status(session) == [(1, "none")]
    assert read_briefs_column(session) == "1: none"
    output = json.loads(run_holdfast(session, "status", "--all", "--json").stdout)
    assert output["sessions"][0]["alarm"] == "the last compaction got no brief"


def test_a_compaction_that_was_announced_but_got_no_brief_is_a_failure(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    assert list_in_status(session) == [], "it may still be cancelled"
    assert find_in_doctor(session)["status"] == "info"
    compact_without_hooks(session)
    assert find_in_doctor(session)["status"] == "fail"
    assert list_in_status(session) == [(1, "none")]


def test_a_brief_that_the_next_prompt_delivers_ends_the_failure(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    compact_without_hooks(session, replied=False)
    assert find_in_doctor(session)["status"] == "fail"
    brief = session.run_hook("UserPromptSubmit", text="go on").brief
    session.write(make_attachment(session, brief, event="UserPromptSubmit"))
    session.write(session.demo.after([], str(session.transcript))[-1:])
    assert find_in_doctor(session)["status"] == "ok"
    assert list_in_status(session) == [(1, "whole")]


def test_a_later_brief_does_not_hide_an_earlier_compaction_without_one(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    compact_without_hooks(session)
    session.run_hook("PreCompact")
    brief = session.run_hook("SessionStart", source="compact").brief
    lines = make_lines_after_compaction(session, make_attachment(session, brief))
    session.write(with_new_uuids(lines))
    session.run_hook("Stop")
    assert read_briefs_column(session) == "1: none, 2: whole"
    finding = find_in_doctor(session)
    assert finding["status"] == "fail"
    assert finding["detail"].startswith("1 of 2 arrived whole; none for compaction 1 of session s1")


def test_a_compaction_from_before_the_first_hook_does_not_count(session: HookSession) -> None:
    """Holdfast was installed later, during the session."""
    session.write(session.demo.before)
    compact_without_hooks(session)
    session.run_hook("Stop")
    assert find_in_doctor(session)["detail"] == "none sent yet"
    assert list_in_status(session) == [(1, None)]
    session.write(with_new_uuids(make_lines_after_compaction(session)))
    finding = find_in_doctor(session)
    assert finding["status"] == "fail"
    assert (
        f"compaction 2 of session s1 (line {find_boundary_line(session, 2)} " in finding["detail"]
    )
    assert list_in_status(session) == [(1, None), (2, "none")]


def test_a_session_that_was_recovered_and_never_had_hooks_does_not_count(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    assert run_holdfast(session, "recover", str(session.transcript)).returncode == 0
    compact_without_hooks(session)
    assert find_in_doctor(session)["detail"] == "none sent yet"
    assert list_in_status(session) == [(1, None)]
    session.run_hook("PreCompact")
    session.write(with_new_uuids(make_lines_after_compaction(session)))
    assert list_in_status(session) == [(1, None), (2, "none")]


def test_a_compaction_that_a_fork_copied_does_not_count(session: HookSession) -> None:
    """The first hook of a fork runs before its log exists; it starts with the last compaction."""
    session.run_hook("SessionStart", source="fork")
    compact_without_hooks(session)
    session.run_hook("Stop")
    assert find_in_doctor(session)["detail"] == "none sent yet"
    assert list_in_status(session) == [(1, None)]
    session.write(with_new_uuids(make_lines_after_compaction(session)))
    assert list_in_status(session) == [(1, None), (2, "none")]


def test_the_compaction_of_a_sub_agent_does_not_count(session: HookSession) -> None:
    session.write(session.demo.before)
    agent: dict[str, Any] = {"agent_id": "a1", "agent_type": "Explore"}
    session.run_hook("PreCompact", **agent)
    session.run_hook("SessionStart", source="compact", **agent)
    session.run_hook("Stop")
    assert find_in_doctor(session)["detail"] == "none sent yet"
    assert list_in_status(session) == []


def test_a_session_that_ended_weeks_ago_is_only_a_warning(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    compact_without_hooks(session)
    ended_at = os.path.getmtime(session.transcript) - WEEKS_SECONDS
    os.utime(session.transcript, (ended_at, ended_at))
    finding = find_in_doctor(session)
    assert finding["status"] == "warn"
    assert "none for compaction 1 of session s1" in finding["detail"]


def test_a_brief_that_is_not_proven_gets_no_tick(session: HookSession) -> None:
    session.run_until_compacted()
    finding = find_in_doctor(session)
    assert finding["status"] == "info"
    assert finding["detail"] == "0 of 1 arrived whole; the model has not answered since"
    assert list_in_status(session) == [(1, "pending")]
