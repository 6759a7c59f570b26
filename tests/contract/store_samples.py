"""Creates example states, sessions, briefs and handoffs for the tests of the store."""

from __future__ import annotations

from typing import Any

from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store.protocols import Store
from holdfast.transcript.types import Cursor

CURSOR: Cursor = {"offset": 812, "line": 7, "inode": 3, "device": 5, "head_checksum": 99}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LONE_SURROGATES = "half \ud83d a pair \udca9 and 日本語 \U0001f9ed é"


def make_state(*requests: str, lines: int = 0, **parts: Any) -> State:
    state = new_state()
    state["requests"] = [{"text": text, "line": n, "at": ""} for n, text in enumerate(requests, 1)]
    state["lines"] = lines or len(requests)
    return {**state, **parts}  # type: ignore[typeddict-item]


def save_session(store: Store, session: str = "s1", revision: int = 0, **fields: Any) -> bool:
    values: dict[str, Any] = {"host": "claude-code", "project": "/srv/courier", "now": 100.0}
    values |= {"transcript": f"/logs/{session}.jsonl", "cursor": CURSOR, "state": make_state("go")}
    return store.save_session(session=session, revision=revision, **{**values, **fields})


def send_brief(store: Store, text: str, *, line: int = 1, by: str = "SessionStart") -> None:
    store.note_brief("s1", 1, brief_id="0badcafe", brief=text, line=line, delivered_by=by, now=5.0)


def request_texts(state: State) -> list[str]:
    return [request["text"] for request in state["requests"]]


def add_handoff(store: Store, agent: str, text: str, now: float = 1.0) -> str:
    return store.add_handoff(
        "s1", agent=agent, agent_type="Explore", task="look", line=3, status="complete",
        decision="PROCEED", content={"context_summary": text}, raw=text * 2, tokens_before=9,
        tokens_after=4, now=now,
    )  # fmt: skip
