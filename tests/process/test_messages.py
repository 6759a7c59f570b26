"""Hooks deliver messages of other agents once, with a prompt or at the start of a sub-agent."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import closing
from typing import Any

from holdfast.ledger import messages
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.schema import READS
from holdfast.tokens.estimate import utf16_units

from .hook_session import HookSession
from .serving import Start

MAX_CONTEXT_UTF16_UNITS = 10_000
TITLE = "Messages from other agents"


def send_message(session: HookSession, text: str, to: str = "", **fields: Any) -> None:
    ledger = open_local_ledger(str(session.home / "ledger.db"))
    with closing(ledger.database):
        messages.send(
            ledger, time.time(), ident=str(uuid.uuid4()), from_agent_id="reviewer", to_agent_id=to,
            payload={"text": text}, **fields,
        )  # fmt: skip


def begin_session(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")


def test_a_message_is_delivered_once_with_the_next_prompt_and_marked_read(
    session: HookSession,
) -> None:
    begin_session(session)
    send_message(session, "the schema is frozen", session.session_id)
    context = session.run_hook("UserPromptSubmit", text="go on").brief
    assert context.startswith(TITLE)
    assert "“the schema is frozen”" in context
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
    ledger = open_local_ledger(str(session.home / "ledger.db"))
    with closing(ledger.database):
        assert [row["agent_id"] for row in ledger.find(READS)] == [session.session_id]


def test_concurrent_hooks_deliver_a_message_once(session: HookSession) -> None:
    begin_session(session)
    for number in range(3):
        send_message(session, f"message {number}", session.session_id)
    contexts = [
        result.brief for result in session.run_hooks_concurrently(*["UserPromptSubmit"] * 6)
    ]
    text = "\n".join(contexts)
    assert [text.count(f"“message {number}”") for number in range(3)] == [1, 1, 1]


def test_sub_agents_get_messages_to_them_or_to_their_type(session: HookSession) -> None:
    begin_session(session)
    send_message(session, "for explorers", "Explore")
    send_message(session, "for all agents")

    def start_agent(agent_id: str) -> str:
        fields = {"hook_event_name": "SubagentStart", "agent_type": "Explore"}
        payload = {**session.make_payload("Stop"), **fields, "agent_id": agent_id}
        return session.send_payload(payload).brief

    first, second = start_agent("a1"), start_agent("a2")
    assert "for explorers" in first
    assert "for all agents" in first
    assert "for explorers" not in second
    assert "for all agents" in second
    assert "for all agents" in session.run_hook("UserPromptSubmit", text="go on").brief
    assert first.index("bind you too") < first.index(TITLE), "the user's rules have to come first"


def test_brief_and_messages_together_fit_the_limit_of_the_host(session: HookSession) -> None:
    session.run_until_compacted()
    session.write(session.demo.after())
    for number in range(40):
        send_message(session, f"message {number} " + "word " * 50, session.session_id)
    context = session.run_hook("UserPromptSubmit", text="go on").brief
    brief, title, messages_text = context.partition(TITLE)
    assert title, "the messages are missing"
    assert "message 0" in messages_text
    assert utf16_units(context) < MAX_CONTEXT_UTF16_UNITS
    (row,) = session.list_compactions()
    assert (row["brief"] or "").strip() == brief.strip()
    session.write(session.demo.hook_attachment(context, event="UserPromptSubmit"))
    session.run_hook("Stop")
    assert session.list_receipts() == ["whole"], "messages are not part of the brief"


def test_without_a_message_no_hook_opens_the_ledger(session: HookSession) -> None:
    begin_session(session)
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
    assert not os.path.exists(session.home / "mail")
    assert not os.path.exists(session.home / "ledger.db")


def test_an_unusable_ledger_is_logged(session: HookSession) -> None:
    begin_session(session)
    send_message(session, "the schema is frozen", session.session_id)
    ledger = session.home / "ledger.db"
    for file in (f"{ledger}-wal", f"{ledger}-shm"):
        if os.path.exists(file):
            os.unlink(file)
    ledger.write_bytes(b"no database" * 1000)
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
    assert any("messages: " in line for line in session.read_log())


def test_a_message_posted_to_the_server_reaches_the_next_hook(
    session: HookSession, start: Start
) -> None:
    begin_session(session)
    server = start(session.home)
    body = {
        "from_agent_id": "reviewer",
        "to_agent_id": session.session_id,
        "payload": {"text": "halt"},
    }
    sent = server.post("/api/messages", **body)
    assert "“reviewer”" in session.run_hook("UserPromptSubmit", text="go on").brief
    (row,) = server.get("/api/messages")["messages"]
    assert (row["id"], row["read_by"]) == (sent["id"], [session.session_id])
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
