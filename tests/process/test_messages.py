"""Messages of other agents in real hook processes: with a prompt or a sub-agent's start, once."""

from __future__ import annotations

import json
import os
import time
import uuid
from contextlib import closing
from typing import Any

from holdfast.ledger import messages
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.schema import READS
from holdfast.tokens.estimate import utf16_units

from .scene import Scene
from .serving import Start

CAP = 10_000
TITLE = "Messages from other agents"


def say(scene: Scene, text: str, to: str = "", **fields: Any) -> None:
    ledger = open_local_ledger(str(scene.home / "ledger.db"))
    with closing(ledger.database):
        messages.send(
            ledger, time.time(), ident=str(uuid.uuid4()), from_agent_id="reviewer", to_agent_id=to,
            payload={"text": text}, **fields,
        )  # fmt: skip


def begun(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("Stop")


def test_a_message_goes_with_the_next_prompt_once_and_is_marked_read(scene: Scene) -> None:
    begun(scene)
    say(scene, "the schema is frozen", scene.session)
    shown = scene.fire("UserPromptSubmit", text="go on").brief
    assert shown.startswith(TITLE)
    assert "“the schema is frozen”" in shown
    assert scene.fire("UserPromptSubmit", text="go on").is_silent
    ledger = open_local_ledger(str(scene.home / "ledger.db"))
    with closing(ledger.database):
        assert [row["agent_id"] for row in ledger.find(READS)] == [scene.session]


def test_concurrent_hooks_deliver_a_message_once(scene: Scene) -> None:
    begun(scene)
    for number in range(3):
        say(scene, f"message {number}", scene.session)
    shown = [fired.brief for fired in scene.at_once(*["UserPromptSubmit"] * 6)]
    told = "\n".join(shown)
    assert [told.count(f"“message {number}”") for number in range(3)] == [1, 1, 1]


def test_sub_agents_get_messages_to_them_or_to_their_type(scene: Scene) -> None:
    begun(scene)
    say(scene, "for explorers", "Explore")
    say(scene, "for everybody")

    def start(ident: str, kind: str) -> str:
        own = {"hook_event_name": "SubagentStart", "agent_id": ident, "agent_type": kind}
        return scene.send(json.dumps({**scene.payload("Stop"), **own}).encode()).brief

    first, second = start("a1", "Explore"), start("a2", "Explore")
    assert "for explorers" in first
    assert "for everybody" in first
    assert "for explorers" not in second
    assert "for everybody" in second
    assert "for everybody" in scene.fire("UserPromptSubmit", text="go on").brief
    assert first.index("bind you too") < first.index(TITLE), "the user's rules come first"


def test_brief_and_messages_fit_the_host_s_limit_together(scene: Scene) -> None:
    scene.compacted()
    scene.write(scene.demo.after())
    for number in range(40):
        say(scene, f"message {number} " + "word " * 50, scene.session)
    shown = scene.fire("UserPromptSubmit", text="go on").brief
    brief, title, mail = shown.partition(TITLE)
    assert title, "both came in one answer"
    assert "message 0" in mail
    assert utf16_units(shown) < CAP
    (row,) = scene.compactions()
    assert (row["brief"] or "").strip() == brief.strip()
    scene.write(scene.demo.hook_attachment(shown, event="UserPromptSubmit"))
    scene.fire("Stop")
    assert scene.receipts() == ["whole"], "what others said is no part of the brief"


def test_without_a_message_no_hook_opens_the_ledger(scene: Scene) -> None:
    begun(scene)
    assert scene.fire("UserPromptSubmit", text="go on").is_silent
    assert not os.path.exists(scene.home / "mail")
    assert not os.path.exists(scene.home / "ledger.db")


def test_an_unusable_ledger_is_logged(scene: Scene) -> None:
    begun(scene)
    say(scene, "the schema is frozen", scene.session)
    ledger = scene.home / "ledger.db"
    for file in (f"{ledger}-wal", f"{ledger}-shm"):
        if os.path.exists(file):
            os.unlink(file)
    ledger.write_bytes(b"no database" * 1000)
    assert scene.fire("UserPromptSubmit", text="go on").is_silent
    assert any("messages: " in line for line in scene.log())


def test_a_message_posted_to_the_server_reaches_the_next_hook(scene: Scene, start: Start) -> None:
    begun(scene)
    server = start(scene.home)
    body = {"from_agent_id": "reviewer", "to_agent_id": scene.session, "payload": {"text": "halt"}}
    sent = server.post("/api/messages", **body)
    assert "“reviewer”" in scene.fire("UserPromptSubmit", text="go on").brief
    (row,) = server.get("/api/messages")["messages"]
    assert (row["id"], row["read_by"]) == (sent["id"], [scene.session])
    assert scene.fire("UserPromptSubmit", text="go on").is_silent
