"""`holdfast serve` as users start it: requests with curl, events, durability and shutdown."""

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
from typing import Any

import psycopg
import pytest

from holdfast.demo import append_lines, load_demo
from holdfast.ledger.connect import open_local_ledger
from tests.postgres import PostgresServer
from tests.process.serving import (
    Server,
    Start,
    read_event,
    read_line,
    read_record_id,
    retry_while_unavailable,
    wait_until_subscribed,
)
from tests.process.waiting import TIMEOUT_SECONDS, wait_until

CLIENTS = 8


def run_script(server: Server, script: str) -> str:
    for tool in ("bash", "curl", "jq"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "API_URL": server.url},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


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
LIST_SNAPSHOTS = """
curl -s "${API_URL}/api/agent-contexts?agent_id=session-abc123&agent_type=compact-snapshot" \\
  | jq -c '.contexts | map([.agent_id, .agent_type, .role_context.trigger])'
"""
COUNT_SNAPSHOTS = """
curl -s "${API_URL}/api/agent-contexts?agent_type=compact-snapshot" | jq '.contexts | length'
"""


def test_shell_scripts_with_curl_and_jq_save_and_restore(server: Server) -> None:
    assert run_script(server, COLLECT_AND_SAVE) == "true"
    brief = run_script(server, RESTORE)
    assert brief.startswith("# Restored Context")
    for part in ("Working on authentication", "Using JWT", "/app/User.php", "Write"):
        assert part in brief
    assert "/other.php" not in brief, "the brief contains the work of another session"
    assert run_script(server, LIST_SNAPSHOTS) == '[["session-abc123","compact-snapshot","auto"]]'
    assert run_script(server, COUNT_SNAPSHOTS) == "1"


def test_an_event_stream_resumes_after_the_last_event_that_was_received(server: Server) -> None:
    with server.open_events() as stream:
        assert read_line(stream, deadline=time.monotonic() + TIMEOUT_SECONDS) == ": listening"
        posted = [server.post("/api/actions", tool_name=name)["id"] for name in ("a", "b", "c")]
        first = read_event(stream)
        assert first["event"] == "actions"
        assert json.loads(first["data"])["record_id"] == posted[0]
    with server.open_events(first["id"]) as stream:
        assert [read_record_id(stream) for _ in range(2)] == posted[1:]


def test_an_open_event_stream_does_not_prevent_a_clean_shutdown(server: Server) -> None:
    with server.open_events() as stream:
        wait_until_subscribed(stream)
        server.post_action()
        exit_code, stderr = server.stop()
    assert exit_code == 0
    assert "Traceback" not in stderr


def test_a_killed_server_keeps_acknowledged_writes(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    acknowledged = {server.post_action() for _ in range(20)}
    server.stop_with(signal.SIGKILL)
    restarted = start(tmp_path / "home")
    stored = {action["id"] for action in restarted.get("/api/actions?limit=100")["actions"]}
    restarted.stop()
    assert stored == acknowledged


def test_a_server_killed_under_load_keeps_acknowledged_writes(tmp_path: Path, start: Start) -> None:
    """Concurrent writes share a commit: none may be acknowledged before it."""
    server = start(tmp_path / "home")
    acknowledged: list[str] = []

    def post_until_killed(number: int) -> None:
        try:
            while True:
                action = server.post("/api/actions", tool_name="Read", session_id=f"s{number}")
                acknowledged.append(action["id"])
        except (OSError, http.client.HTTPException):
            return

    with ThreadPoolExecutor(CLIENTS) as clients:
        for number in range(CLIENTS):
            clients.submit(post_until_killed, number)
        try:
            wait_until(lambda: len(acknowledged) >= 200, "too few writes were acknowledged")
        finally:
            server.stop_with(signal.SIGKILL)
    with closing(open_local_ledger(str(tmp_path / "home" / "ledger.db")).database) as database:
        stored = {row["id"] for row in database.run("SELECT id FROM actions")[0]}
    assert set(acknowledged) <= stored
    # Each client may have had one write whose response was lost.
    assert len(stored) <= len(acknowledged) + CLIENTS


def test_the_access_log_has_no_bodies_and_no_queries(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    server.post("/api/actions", tool_name="Read", input="words of the user")
    server.get("/api/actions?session_id=private-name")
    _, stderr = server.stop()
    entries = [json.loads(line) for line in stderr.splitlines()]
    assert [(entry["method"], entry["path"], entry["status"]) for entry in entries] == [
        ("POST", "/api/actions", 201), ("GET", "/api/actions", 200),
    ]  # fmt: skip
    assert "words of the user" not in stderr
    assert "private-name" not in stderr


@pytest.mark.parametrize(
    ("options", "logged_client"), [((), "127.0.0.1"), (("--proxy",), "203.0.113.7")]
)
def test_x_forwarded_for_is_trusted_only_behind_a_proxy(
    tmp_path: Path, start: Start, options: tuple[str, ...], logged_client: str
) -> None:
    server = start(tmp_path / "home", *options)
    request = urllib.request.Request(
        f"{server.url}/health", headers={"X-Forwarded-For": "203.0.113.7"}
    )
    urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS).close()
    _, stderr = server.stop()
    entries = [json.loads(line) for line in stderr.splitlines() if "{" in line]
    assert [entry["client"] for entry in entries] == [logged_client]


def test_behind_a_proxy_every_request_needs_a_token(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home", "--proxy")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.get("/api/actions")


def test_an_access_log_that_is_not_read_does_not_block_requests(tmp_path: Path) -> None:
    """A pipe of 4096 bytes is full after about thirty log lines."""
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--access-log"]
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path / "home"), "HOLDFAST_DATABASE": ""}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environ) as process:
        assert process.stderr is not None
        fcntl.fcntl(process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        url = process.stderr.readline().decode().split(" ")[0]
        try:
            for _ in range(200):
                with urllib.request.urlopen(f"{url}/health", timeout=TIMEOUT_SECONDS) as response:
                    assert response.status == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_SECONDS) == 0
        finally:
            process.kill()


def test_large_responses_are_compressed_for_clients_that_accept_gzip(
    tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home")
    server.post("/api/actions", tool_name="Read", output="y" * 50_000)
    request = urllib.request.Request(
        f"{server.url}/api/actions", headers={"Accept-Encoding": "gzip"}
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        compressed = response.read()
    assert len(compressed) < 5000
    assert json.loads(gzip.decompress(compressed)) == server.get("/api/actions")


def test_a_request_in_progress_is_answered_before_the_server_stops(
    tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home")
    body = b'{"tool_name": "Read"}'
    head = (
        "POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS) as client:
        client.sendall(head.encode() + body[:5])
        # This later request is answered, so the server has begun to read the first one.
        server.get("/health")
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not accepts_connections(server), "the server did not begin to stop")
        client.sendall(body[5:])
        assert b" 201 " in client.makefile("rb").readline()
    assert server.stop()[0] == 0


def accepts_connections(server: Server) -> bool:
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


def test_a_port_in_use_is_reported_with_a_hint(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    result = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--port", str(server.port)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    server.stop()
    assert result.returncode == 1
    assert "cannot be listened on" in result.stderr
    assert "hint:" in result.stderr


def test_a_server_reconnects_after_a_restart_of_its_database(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home", database=postgres_url)
    before = server.post("/api/actions", tool_name="before")["id"]
    postgres.restart()
    after = retry_while_unavailable(server.post_action)
    stored = [action["id"] for action in server.get("/api/actions")["actions"]]
    server.stop()
    assert stored == [after, before]


def test_no_acknowledged_write_is_lost_when_the_database_is_restarted_under_load(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    servers = [start(tmp_path / name, database=postgres_url) for name in ("one", "two")]
    stop = threading.Event()
    acknowledged: list[str] = []
    errors: set[tuple[int, str]] = set()

    def post_until_stopped(server: Server) -> None:
        while not stop.is_set():
            try:
                acknowledged.append(server.post_action())
            except urllib.error.HTTPError as error:
                with error:
                    errors.add((error.code, error.headers["Retry-After"]))

    def wait_for_more_writes() -> None:
        before = len(acknowledged)
        wait_until(lambda: len(acknowledged) >= before + 20, "no more writes are acknowledged")

    with ThreadPoolExecutor(4) as clients:
        loads = [clients.submit(post_until_stopped, server) for server in (*servers, *servers)]
        try:
            for _ in range(2):
                wait_for_more_writes()
                postgres.restart()
            wait_for_more_writes()
        finally:
            stop.set()
        for load in loads:
            load.result()
    assert errors <= {(503, "2")}
    for server in servers:
        acknowledged.append(retry_while_unavailable(server.post_action))
        server.stop()
    with psycopg.connect(postgres_url) as connection:
        stored = {row[0] for row in connection.execute("SELECT id FROM actions")}
    assert acknowledged
    assert set(acknowledged) <= stored


def test_local_sessions_are_imported_into_the_team_database(
    postgres_url: str, tmp_path: Path, start: Start
) -> None:
    demo = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = tmp_path / "s1.jsonl"
    append_lines(str(transcript), demo.before)
    subprocess.run(
        [sys.executable, "-m", "holdfast", "recover", str(transcript)], check=True,
        capture_output=True, env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    server = start(tmp_path / "home", database=postgres_url)

    def list_actions() -> list[dict[str, Any]]:
        actions: list[dict[str, Any]] = server.get("/api/actions?limit=1000")["actions"]
        is_imported = len(actions) > 20 and server.get("/api/sessions")["sessions"]
        return actions if is_imported else []

    actions = wait_until(list_actions, "the session was not imported")
    requests = server.get("/api/requests")["requests"]
    server.stop()
    assert {row["session_id"] for row in (*actions, *requests)} == {demo.session_id}


def test_on_a_public_address_every_request_needs_a_token(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home", "--host", "0.0.0.0")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(
            f"http://127.0.0.1:{server.port}/api/actions", timeout=TIMEOUT_SECONDS
        )
    server.stop()
    with caught.value as error:
        assert error.code == 401
    assert "holdfast token new" in server.startup_stderr
    assert "--tls-cert" in server.startup_stderr
