"""The server as people start it: known requests by curl, live events, and a clean stop."""

from __future__ import annotations

import fcntl
import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from holdfast.demo import append_lines, load_demo
from holdfast.ledger.connect import open_local_ledger
from tests.postgres import Server as PostgreSQL
from tests.process.serving import PATIENCE, Server, Start, next_line, read_event, wait_until_heard


def shell(server: Server, script: str) -> str:
    for tool in ("bash", "curl", "jq"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "API_URL": server.url},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


COLLECT_AND_SAVE = """
session_id=session-abc123; cwd=/home/user/project; trigger=auto
curl -s -X POST "${API_URL}/api/projects" -H "Content-Type: application/json" \\
  -d '{"path": "/home/user/project", "name": "My Project"}' > /dev/null
curl -s -X POST "${API_URL}/api/actions" -H "Content-Type: application/json" \\
  -d '{"tool_name": "Write", "session_id": "session-abc123", "file_paths": ["/app/User.php"]}' \\
  > /dev/null
curl -s -X POST "${API_URL}/api/actions" -H "Content-Type: application/json" \\
  -d '{"tool_name": "Write", "session_id": "session-abc1", "file_paths": ["/other.php"]}' \\
  > /dev/null
project_id=$(curl -s "${API_URL}/api/projects/by-path?path=${cwd}" | jq -r '.id')
hierarchy=$(curl -s "${API_URL}/api/hierarchy/${project_id}")
agent_contexts=$(curl -s "${API_URL}/api/agent-contexts")
messages=$(curl -s "${API_URL}/api/messages?limit=50")
actions=$(curl -s "${API_URL}/api/actions?limit=100&session_id=${session_id}")
snapshot=$(jq -n --arg sid "$session_id" --arg trigger "$trigger" \\
  --arg summary "Working on authentication" --argjson hierarchy "$hierarchy" \\
  --argjson agents "$agent_contexts" --argjson messages "$messages" --argjson actions "$actions" \\
  --argjson files '["/app/User.php"]' --argjson decisions '["Using JWT"]' \\
  '{session_id: $sid, trigger: $trigger, timestamp: (now | todate), context_summary: $summary,
    hierarchy: $hierarchy, agent_states: $agents, recent_messages: $messages,
    recent_actions: $actions, modified_files: $files, key_decisions: $decisions}')
curl -s -X POST "${API_URL}/api/compact/save" -H "Content-Type: application/json" -d "$snapshot" \\
  | jq -e '.id and .saved_at'
"""
RESTORE = """
agent_type=orchestrator; session_id=session-abc123
brief=$(curl -s -X POST "${API_URL}/api/compact/restore" -H "Content-Type: application/json" -d "{
    \\"session_id\\": \\"${session_id}\\",
    \\"agent_id\\": \\"${agent_type}\\",
    \\"agent_type\\": \\"${agent_type}\\",
    \\"max_tokens\\": 2000
  }")
echo "$brief" | jq -r '.additionalContext'
"""
HISTORY = """
curl -s "${API_URL}/api/agent-contexts?agent_id=session-abc123&agent_type=compact-snapshot" \\
  | jq -c '.contexts | map([.agent_id, .agent_type, .role_context.trigger])'
"""
COUNT = """
curl -s "${API_URL}/api/agent-contexts?agent_type=compact-snapshot" | jq '.contexts | length'
"""


def test_the_known_scripts_save_and_restore_with_curl_and_jq(server: Server) -> None:
    assert shell(server, COLLECT_AND_SAVE) == "true"
    text = shell(server, RESTORE)
    assert text.startswith("# Restored Context")
    for part in ("Working on authentication", "Using JWT", "/app/User.php", "Write"):
        assert part in text
    assert "/other.php" not in text, "another session's work does not get in"
    assert shell(server, HISTORY) == '[["session-abc123","compact-snapshot","auto"]]'
    assert shell(server, COUNT) == "1"


def test_changes_are_told_as_they_happen_and_again_from_where_a_listener_stopped(
    server: Server,
) -> None:
    with server.events() as stream:
        assert next_line(stream, by=time.monotonic() + PATIENCE) == ": listening"
        made = [server.post("/api/actions", tool_name=name)["id"] for name in ("a", "b", "c")]
        first = read_event(stream)
        assert first["event"] == "actions"
        assert json.loads(first["data"])["record_id"] == made[0]
    with server.events(first["id"]) as stream:
        seen = [json.loads(read_event(stream)["data"])["record_id"] for _ in range(2)]
    assert seen == made[1:]


def test_a_stop_waits_for_no_listener_and_keeps_what_was_acknowledged(server: Server) -> None:
    with server.events() as stream:
        wait_until_heard(stream)
        server.post("/api/actions", tool_name="Read")
        code, said = server.stop()
    assert code == 0
    assert "Traceback" not in said


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    made = [server.post("/api/actions", tool_name="Read")["id"] for _ in range(20)]
    server.end(signal.SIGKILL)
    again = start(tmp_path / "home")
    found = {one["id"] for one in again.get("/api/actions?limit=100")["actions"]}
    again.stop()
    assert found == set(made)


def test_what_many_were_told_at_once_is_there_after_a_kill(tmp_path: Path, start: Start) -> None:
    """Their rows are committed together: nobody may be answered before that."""
    server = start(tmp_path / "home")
    acknowledged: list[str] = []

    def load(number: int) -> None:
        try:
            while True:
                done = server.post("/api/actions", tool_name="Read", session_id=f"s{number}")
                acknowledged.append(done["id"])
        except (OSError, http.client.HTTPException):
            return

    with ThreadPoolExecutor(8) as callers:
        for number in range(8):
            callers.submit(load, number)
        by = time.monotonic() + PATIENCE
        while len(acknowledged) < 200 and time.monotonic() < by:
            time.sleep(0.01)
        server.end(signal.SIGKILL)
    assert len(acknowledged) >= 200
    with closing(open_local_ledger(str(tmp_path / "home" / "ledger.db")).database) as database:
        stored = {row["id"] for row in database.run("SELECT id FROM actions")[0]}
    assert set(acknowledged) <= stored
    assert len(stored) <= len(acknowledged) + 8, "nothing was written that nobody asked for"


def test_the_access_log_has_no_bodies_and_no_queries(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    server.post("/api/actions", tool_name="Read", input="words of the user")
    server.get("/api/actions?session_id=private-name")
    _, said = server.stop()
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(one["method"], one["path"], one["status"]) for one in lines] == [
        ("POST", "/api/actions", 201), ("GET", "/api/actions", 200),
    ]  # fmt: skip
    assert "words of the user" not in said
    assert "private-name" not in said


@pytest.mark.parametrize(("options", "logged"), [((), "127.0.0.1"), (("--proxy",), "203.0.113.7")])
def test_only_a_proxy_that_was_named_says_who_asks(
    tmp_path: Path, start: Start, options: tuple[str, ...], logged: str
) -> None:
    server = start(tmp_path / "home", *options)
    asked = urllib.request.Request(
        f"{server.url}/health", headers={"X-Forwarded-For": "203.0.113.7"}
    )
    urllib.request.urlopen(asked, timeout=PATIENCE).close()
    _, said = server.stop()
    assert [json.loads(line)["client"] for line in said.splitlines() if "{" in line] == [logged]


def test_behind_a_proxy_everybody_needs_a_token(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home", "--proxy")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.get("/api/actions")


def test_a_log_that_nobody_reads_stops_nobody(tmp_path: Path) -> None:
    """A pipe of this size is full after some thirty lines."""
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--access-log"]
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path / "home"), "HOLDFAST_DATABASE": ""}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environ) as process:
        assert process.stderr is not None
        fcntl.fcntl(process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        url = process.stderr.readline().decode().split(" ")[0]
        try:
            for _ in range(200):
                with urllib.request.urlopen(f"{url}/health", timeout=PATIENCE) as answer:
                    assert answer.status == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def test_large_answers_are_packed_for_who_can_unpack_them(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    server.post("/api/actions", tool_name="Read", output="y" * 50_000)
    request = urllib.request.Request(
        f"{server.url}/api/actions", headers={"Accept-Encoding": "gzip"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        packed = answer.read()
    assert len(packed) < 5000
    assert json.loads(gzip.decompress(packed)) == server.get("/api/actions")


def test_a_request_that_is_under_way_is_answered_before_the_server_stops(
    tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home")
    body = b'{"tool_name": "Read"}'
    head = (
        "POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        client.sendall(head.encode() + body[:5])
        # What was asked later is answered, so the first request has been begun.
        server.get("/health")
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        client.sendall(body[5:])
        assert b" 201 " in client.makefile("rb").readline()
    assert server.stop()[0] == 0


def test_a_port_that_is_taken_is_explained(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    port = server.url.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--port", port], capture_output=True,
        text=True, check=False, env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    server.stop()
    assert done.returncode == 1
    assert "cannot be listened on" in done.stderr
    assert "hint:" in done.stderr


def test_a_server_outlives_a_restart_of_its_database(
    postgres: PostgreSQL, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home", database=postgres_url)
    before = server.post("/api/actions", tool_name="before")["id"]
    postgres.restart()
    after = eventually(server)
    found = [one["id"] for one in server.get("/api/actions")["actions"]]
    server.stop()
    assert found == [after, before]


def eventually(server: Server) -> str:
    """A write that is tried again while the server says that it will come back."""
    for _ in range(100):
        try:
            return str(server.post("/api/actions", tool_name="Read")["id"])
        except urllib.error.HTTPError as problem:
            with problem:
                time.sleep(0.2)
    raise AssertionError("the server did not recover")


def test_no_acknowledged_write_is_lost_when_the_database_is_restarted_under_load(
    postgres: PostgreSQL, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    servers = [start(tmp_path / name, database=postgres_url) for name in ("one", "two")]
    stop = threading.Event()

    def load(server: Server) -> tuple[list[str], set[tuple[int, str]]]:
        acknowledged, refused = [], set()
        while not stop.is_set():
            try:
                acknowledged.append(server.post("/api/actions", tool_name="Read")["id"])
            except urllib.error.HTTPError as problem:
                with problem:
                    refused.add((problem.code, problem.headers["Retry-After"]))
        return acknowledged, refused

    with ThreadPoolExecutor(4) as callers:
        loads = [callers.submit(load, server) for server in (*servers, *servers)]
        for _ in range(2):
            time.sleep(0.5)
            postgres.restart()
        time.sleep(0.5)
        stop.set()
        done = [one.result() for one in loads]
    acknowledged = {ident for some, _ in done for ident in some}
    assert set().union(*(codes for _, codes in done)) <= {(503, "2")}
    for server in servers:
        acknowledged.add(eventually(server))
        server.stop()
    with psycopg.connect(postgres_url) as connection:
        stored = {row[0] for row in connection.execute("SELECT id FROM actions")}
    assert acknowledged
    assert acknowledged <= stored


def test_sessions_of_this_machine_reach_the_team_by_themselves(
    postgres_url: str, tmp_path: Path, start: Start
) -> None:
    made = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = tmp_path / "s1.jsonl"
    append_lines(str(transcript), made.before)
    subprocess.run(
        [sys.executable, "-m", "holdfast", "recover", str(transcript)], check=True,
        capture_output=True, env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    server = start(tmp_path / "home", database=postgres_url)
    for _ in range(200):
        found = server.get("/api/actions?limit=1000")["actions"]
        if server.get("/api/sessions")["sessions"] and len(found) > 20:
            break
        time.sleep(0.1)
    requests = server.get("/api/requests")["requests"]
    server.stop()
    assert len(found) > 20
    assert {one["session_id"] for one in (*found, *requests)} == {made.session_id}


def test_from_elsewhere_nobody_gets_in_without_a_token(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home", "--host", "0.0.0.0")
    port = server.url.rpartition(":")[2]
    said = "".join(server.said)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/api/actions", timeout=PATIENCE)
    server.stop()
    with caught.value as refused:
        assert refused.code == 401
    assert "holdfast token new" in said
    assert "--tls-cert" in said
