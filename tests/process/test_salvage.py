"""A damaged database under a running server and under hooks: nothing that can be read is lost."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import urllib.error
from contextlib import closing
from pathlib import Path
from typing import Any

from holdfast.store import salvage
from holdfast.store.database_pages import TABLE_LEAF, DatabasePages

from .hook_session import HookSession, list_files
from .serving import Server, Start, retry_while_unavailable
from .waiting import wait_until

PAGE_BYTES = 4096
PAGE_ROWS = 100


def damage_leaf(database: Path, table: str) -> set[str]:
    """Overwrite a page with rows of a table; return the ids of the rows on it.

    The file is changed behind SQLite's back, as by a failing disk: what is in the write-ahead log
    is moved to the file first.
    """
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    pages = DatabasePages(str(database))
    leaves = [page for page in pages.walk(root, set()) if pages.get_type(page) == TABLE_LEAF]
    leaf = leaves[len(leaves) // 2]
    ids = {record.values[0] for record in pages.read_records(leaf) if record}
    pages.close()
    with database.open("r+b") as file:
        file.seek((leaf - 1) * PAGE_BYTES)
        file.write(b"\xa5" * PAGE_BYTES)
    return ids


def list_actions(server: Server) -> set[str]:
    """Return the ids of all actions, which reads every page of the table."""
    found: set[str] = set()
    after = ""
    while True:
        page = server.get(f"/api/actions?limit={PAGE_ROWS}{after}")
        found.update(row["id"] for row in page["actions"])
        if not page["next"]:
            return found
        after = f"&page={page['next']}"


def find_set_aside(home: Path) -> Path:
    (aside,) = [
        home / name
        for name in list_files(home)
        if salvage.ASIDE in name and not name.endswith(("-wal", "-shm", ".json"))
    ]
    return aside


def test_a_server_answers_503_until_a_damaged_ledger_is_salvaged(
    tmp_path: Path, start: Start
) -> None:
    home = tmp_path / "home"
    server = start(home)
    acknowledged = {server.post("/api/actions", tool_name="Read", input={"a": "x" * 400})["id"]
                    for _ in range(60)}  # fmt: skip
    lost = damage_leaf(home / "ledger.db", "actions")
    assert 0 < len(lost) < 60
    answers: list[tuple[int, dict[str, Any]]] = []

    def read() -> set[str]:
        try:
            return list_actions(server)
        except urllib.error.HTTPError as error:
            answers.append((error.code, json.loads(error.read())))
            if error.code != 503:
                raise
            return set()

    found = wait_until(read, "the server never answered again")
    assert found == acknowledged - lost
    assert answers[0][0] == 503
    assert "doctor" in answers[0][1]["hint"]
    more = retry_while_unavailable(server.post_action)
    assert retry_while_unavailable(lambda: list_actions(server)) == {*found, more}
    assert find_set_aside(home).exists()
    report = json.loads(Path(f"{find_set_aside(home)}.json").read_text())
    assert report["lost"] == {"actions": len(lost)}


def test_writes_that_are_acknowledged_during_the_salvage_are_kept(
    tmp_path: Path, start: Start
) -> None:
    home = tmp_path / "home"
    server = start(home)
    for _ in range(60):
        server.post("/api/actions", tool_name="Read", input={"a": "x" * 400})
    damage_leaf(home / "ledger.db", "actions")
    acknowledged: list[str] = []
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            acknowledged.append(retry_while_unavailable(server.post_action))

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    wait_until(lambda: len(acknowledged) > 20, "nothing is written")
    assert not any(salvage.ASIDE in name for name in list_files(home)), "not found yet"
    retry_while_unavailable(lambda: list_actions(server))
    count = len(acknowledged)
    wait_until(lambda: len(acknowledged) > count + 20, "nothing is written after the salvage")
    is_over.set()
    for writer in writers:
        writer.join()
    assert find_set_aside(home).exists()
    assert set(acknowledged) <= list_actions(server)


def test_a_damaged_store_is_salvaged_while_hooks_run(session: HookSession) -> None:
    others = [HookSession(root=session.root, session_id=f"other-{n}") for n in range(12)]
    for other in others:
        other.write(other.demo.before)
        other.run_hook("PreCompact")
    session.run_until_compacted()
    compactions = session.list_compactions()
    damage_leaf(session.database, "snapshots")
    results = session.run_hooks_concurrently(*["PreCompact"] * 4)
    assert all(result.exit_code == 0 and result.stdout for result in results)
    wait_until(lambda: not (session.home / "holdfast.db.salvage").exists(), "it was not salvaged")
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert [row["brief_id"] for row in session.list_compactions()][: len(compactions)] == [
        row["brief_id"] for row in compactions
    ]
    for other in others:
        with session.open_store() as store:
            assert store.session(other.session_id) is not None


def test_a_salvage_that_is_killed_again_and_again_is_completed(
    tmp_path: Path, start: Start
) -> None:
    home = tmp_path / "home"
    server = start(home)
    for _ in range(300):
        server.post("/api/actions", tool_name="Read", input={"a": "x" * 400})
    acknowledged = list_actions(server)
    server.stop()
    database = home / "ledger.db"
    lost = damage_leaf(database, "actions")
    inode = os.stat(database).st_ino
    program = (
        "import sys; from holdfast import processes; from holdfast.store import salvage;"
        "processes.start_process = lambda *_: 2 ** 30;"
        "salvage.begin(sys.argv[1], int(sys.argv[2]), 'ledger', 'malformed')"
    )
    subprocess.run([sys.executable, "-c", program, str(database), str(inode)], check=True)
    run = "import sys; from holdfast.store import salvage; salvage.main()"
    killed = 0
    for number in range(12):
        process = subprocess.Popen([sys.executable, "-c", run, str(database), "ledger"])
        try:
            process.wait(0.02 * (number + 1))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    assert killed > 0
    server = start(home)
    found = retry_while_unavailable(lambda: list_actions(server))
    assert found == acknowledged - lost
