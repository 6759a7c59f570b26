"""A server fills the index while it runs, and answers lookups from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

from holdfast.demo import append_lines, load_demo
from tests.process.serving import PATIENCE, Server, Start

SESSION = "5e55a0ce-0000-4000-8000-000000000001"
STARTED = 1_760_000_000.0
TOLD = "busiest second of the courier"


def remembered(home: Path, root: Path) -> Path:
    """A session of a project, and its transcript."""
    path = root / f"{SESSION}.jsonl"
    append_lines(str(path), load_demo(str(root / "courier"), SESSION, STARTED).before)
    fold(home, path)
    return path


def fold(home: Path, path: Path) -> None:
    """What hooks do."""
    holdfast(home, "recover", str(path))


def holdfast(home: Path, *words: str) -> bytes:
    environ = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": ""}
    command = [sys.executable, "-m", "holdfast", *words]
    return subprocess.run(command, env=environ, capture_output=True, check=True).stdout


def looked_up(server: Server, query: str) -> list[dict[str, object]]:
    """What is found, once it is."""
    asked = urllib.parse.urlencode({"q": query, "all_projects": "true"})
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        hits: list[dict[str, object]] = server.get(f"/api/recall?{asked}")["hits"]
        if hits:
            return hits
        time.sleep(0.1)
    return []


def test_what_sessions_said_is_found_here_or_at_the_team(server: Server, tmp_path: Path) -> None:
    path = remembered(tmp_path / "home", tmp_path)
    hits = looked_up(server, "we tried a global lock")
    assert hits
    assert hits[0]["session_id"] == SESSION
    opened = server.get(f"/api/recall/{hits[0]['ref']}")["hits"]
    assert opened[0]["line"] == hits[0]["line"]
    line = {"type": "user", "message": {"role": "user", "content": TOLD}}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    fold(tmp_path / "home", path)
    assert looked_up(server, TOLD)


def test_the_index_is_filled_without_a_question_and_by_nobody_after_a_stop(
    tmp_path: Path, start: Start
) -> None:
    home = tmp_path / "home"
    remembered(home, tmp_path)
    server = start(home)
    end = time.monotonic() + PATIENCE
    indexed = 0
    while not indexed and time.monotonic() < end:
        told = json.loads(holdfast(home, "index", "status", "--all", "--json"))
        indexed = told["sessions"][0]["indexed"]
    assert indexed
    code, said = server.stop()
    assert (code, "Traceback" in said) == (0, False)
