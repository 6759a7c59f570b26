"""Secrets in requests are neither stored nor logged."""

from __future__ import annotations

import json
from typing import Any

from litestar.testing import TestClient

from holdfast.server.app import create_app
from holdfast.server.auth import accept_all
from holdfast.server.databases import Databases
from tests.contract.server.conftest import BASE_URL, ApiClient

POSTGRES_IS_SLOW = True

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
# Values under names that say that they are secret.
SECRETS = [
    {"Authorization": "Bearer abc123def456ghi789zq13"}, {"Authorization": "Basic dXNlcjpodW50ZXIy"},
    {"headers": {"authorization": "token 9f8e7d6c5b4a3f2e1d0c"}}, {"password": 12345678901},
    {"password": ["hunter2abc"]}, {"password": {"value": "hunter2abc"}},
    {"password": "correct horse battery staple"}, {"passphrase": "Tr0ub4dor and three"},
    {"password": 'ab"cdefgh12'}, {"a": [{"db": {"password": "horse value"}}]},
]  # fmt: skip


def test_secrets_in_request_bodies_are_redacted(api: ApiClient) -> None:
    api.post("/api/actions", tool_name="Bash", input={"command": f"export GH_TOKEN={TOKEN}"})
    api.post("/api/compact/save", session_id="s1", context_summary=f"use {TOKEN}")
    assert TOKEN not in str(api.get("/api/actions"))
    brief = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert "[redacted" in brief
    assert TOKEN not in brief


def test_values_of_fields_with_secret_names_are_redacted(api: ApiClient) -> None:
    # None of these can be part of a generated id.
    fragments = [
        "ghi789", "dXNl", "9f8e7d6c5b4a", "12345678901", "hunter2", "horse", "Tr0ub", "cdefgh",
    ]  # fmt: skip
    for secret in SECRETS:
        action = api.post("/api/actions", tool_name="Bash", input=secret, output={"stdout": secret})
        assert "[redacted:" in json.dumps(action["input"]), secret
        assert action["output"] == {"stdout": action["input"]}, secret
        stored = json.dumps(api.get(f"/api/actions/{action['id']}"))
        assert "[redacted:" in stored, secret
        assert not [fragment for fragment in fragments if fragment in stored], secret


def test_values_that_only_look_like_secrets_are_kept(api: ApiClient) -> None:
    value = {
        "max_tokens": 2000, "token": 5, "password": {"type": "string", "minLength": 8},
        "note": "the password is asked for: see login.py", "authorization": "required",
    }  # fmt: skip
    assert api.post("/api/actions", tool_name="Bash", input=value)["input"] == value


def test_a_secret_in_a_path_is_redacted_in_the_access_log(databases: Databases) -> None:
    logged: list[dict[str, Any]] = []
    app, *_ = create_app(databases, log=logged.append, identify=accept_all)
    with TestClient(app, base_url=BASE_URL) as client:  # type: ignore[arg-type]
        client.get(f"/api/requests/{TOKEN}")
    assert logged[-1]["path"] == "/api/requests/[redacted:github-token]"
