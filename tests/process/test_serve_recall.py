"""A running server keeps the search index up to date and answers searches from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.parse
from pathlib import Path

from holdfast.demo import append_lines, load_demo
from tests.process.serving import Server, Start
from tests.process.waiting import wait_until

SESSION_ID = "5e55a0ce-0000-4000-8000-000000000001"
STARTED_AT = 1_760_000_000.0
NEW_PROMPT = "busiest second of the courier"


def write_session(home: Path, root: Path) -> Path:
    """Write the demo's transcript, store its session, and return the transcript's path."""
    transcript = root / f"{SESSION_ID}.jsonl"
    append_lines(str(transcript), load_demo(str(root / "courier"), SESSION_ID, STARTED_AT).before)
    store_session(home, transcript)
    return transcript


def store_session(home: Path, transcript: Path) -> None:
    """Read the transcript into the store, as hooks do."""
    run_holdfast(home, "recover", str(transcript))


def run_holdfast(home: Path, *arguments: str) -> bytes:
    environ = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": ""}
    command = [sys.executable, "-m", "holdfast", *arguments]
    result = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


def wait_for_hits(server: Server, query: str) -> list[dict[str, object]]:
    """Search until there are hits, because the index is filled in the background."""
    parameters = urllib.parse.urlencode({"q": query, "all_projects": "true"})

    def search() -> list[dict[str, object]]:
        hits: list[dict[str, object]] = server.get(f"/api/recall?{parameters}")["hits"]
        return hits

    return wait_until(search, f"{query!r} was not found")


def test_new_transcript_lines_are_found(server: Server, tmp_path: Path) -> None:
    transcript = write_session(tmp_path / "home", tmp_path)
    hits = wait_for_hits(server, "we tried a global lock")
    assert hits[0]["session_id"] == SESSION_ID
    opened = server.get(f"/api/recall/{hits[0]['ref']}")["hits"]
    assert opened[0]["line"] == hits[0]["line"]
    line = {"type": "user", "message": {"role": "user", "content": NEW_PROMPT}}
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    store_session(tmp_path / "home", transcript)
    assert wait_for_hits(server, NEW_PROMPT)


def test_the_index_is_filled_before_the_first_search(tmp_path: Path, start: Start) -> None:
    home = tmp_path / "home"
    write_session(home, tmp_path)
    server = start(home)

    def is_indexed() -> bool:
        status = json.loads(run_holdfast(home, "index", "status", "--all", "--json"))
        return bool(status["sessions"][0]["indexed"])

    wait_until(is_indexed, "the session was not indexed")
    exit_code, stderr = server.stop()
    assert (exit_code, "Traceback" in stderr) == (0, False)
