"""Hooks and a server on a disk that gets full, and after it has room again."""

from __future__ import annotations

import os
import signal
import subprocess
import urllib.error
from pathlib import Path

from tests.process.hook_session import HookSession
from tests.process.serving import Server
from tests.torture.damage import COMPACTION
from tests.torture.kills import _list_action_ids
from tests.torture.report import Run

MIN_DISK_KB, MAX_DISK_KB = 64, 900


def run(run: Run, folder: Path) -> None:
    hooks, server = run.split(2)
    fill_disk_under_hooks(hooks, folder / "hooks")
    fill_disk_under_servers(server, folder / "serve")


def fill_disk_under_hooks(run: Run, folder: Path) -> None:
    """Hooks exit 0 and print brief and guidance; with room again, the session is saved whole."""
    number = 0
    while run.has_time():
        number += 1
        session = HookSession(root=folder / str(number))
        session.home.mkdir(parents=True)
        session.write(session.demo.before)
        size = run.random.randint(MIN_DISK_KB, MAX_DISK_KB)
        if not _mount(session.home, size):
            run.row("small disks", "mounts").check(False, "this user may not mount a small disk")
            return
        try:
            if run.random.random() < 0.5:
                session.run_hook("Stop")
            _fill(session.home)
            row = run.row("hooks on a full disk", "hooks")
            results = {event: session.run_hook(event, **fields) for event, fields in COMPACTION}
            for event, result in results.items():
                row.check((result.exit_code, result.stderr) == (0, ""), f"{event}: {result}"[:300])
            printed = bool(results["PreCompact"].stdout and results["SessionStart"].stdout)
            run.row("compactions on a full disk", "briefs").check(printed, f"{size} KB")
            subprocess.run(["mount", "-o", "remount,size=64m", str(session.home)], check=True)
            (session.home / "filler").unlink(missing_ok=True)
            session.run_hook("Stop")
            is_whole = session.read_row()["state"] == session.fold_transcript()
            run.row("sessions after a full disk", "sessions").check(is_whole, f"{size} KB")
        finally:
            subprocess.run(["umount", "--lazy", str(session.home)], check=True)


def fill_disk_under_servers(run: Run, folder: Path) -> None:
    """Writes that a server acknowledged on a disk that gets full are there after a restart."""
    number = 0
    while run.has_time():
        number += 1
        home = folder / str(number)
        home.mkdir(parents=True)
        if not _mount(home, run.random.randint(2000, 4000)):
            return
        try:
            server = Server(home)
            acknowledged, refused = [], 0
            while refused < 5 and len(acknowledged) < 2000 and run.has_time():
                if len(acknowledged) == 100:
                    _fill(home)
                try:
                    acknowledged.append(server.post_action())
                except urllib.error.HTTPError as error:
                    refused += 1
                    run.row("refused writes on a full disk", "answers").check(
                        error.code in (503, 507), f"status {error.code}"
                    )
                    error.close()
            server.stop_with(signal.SIGKILL)
            (home / "filler").unlink(missing_ok=True)
            Server(home).stop_with(signal.SIGKILL)
            known = _list_action_ids(home)
            for ident in acknowledged:
                run.row("acknowledged writes on a full disk", "writes").check(ident in known, ident)
        finally:
            subprocess.run(["umount", "--lazy", str(home)], check=True)


def _mount(folder: Path, kilobytes: int) -> bool:
    options = f"size={kilobytes}k,mode=0700"
    process = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True,
        check=False,
    )  # fmt: skip
    return process.returncode == 0


def _fill(folder: Path) -> None:
    """Write until the disk is full."""
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(os.urandom(4096))
        except OSError:
            return
