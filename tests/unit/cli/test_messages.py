"""`holdfast messages`: send a message, read it once, show it again."""

from __future__ import annotations

import time
from contextlib import closing

from holdfast.ledger import messages
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.messages import Recipient
from holdfast.ledger.schema import MESSAGES, PROJECTS
from tests.terminal import Terminal


def test_a_message_is_sent_and_read_once(demo_terminal: Terminal) -> None:
    sent = demo_terminal.run("messages", "--send", "the route is /login", "--agent", "backend",
                        "--topic", "api")  # fmt: skip
    assert (sent.code, sent.out, sent.err) == (0, "", "Sent to all agents.\n")
    assert demo_terminal.run("messages").out == "backend [api]: the route is /login\n"
    second = demo_terminal.run("messages")
    assert (second.code, second.out, second.err) == (0, "", "No new messages.\n")
    (message,) = demo_terminal.run("messages", "--again", "--json").json
    assert (message["from"], message["topic"], message["to"]) == ("backend", "api", "")
    assert message["payload"] == {"text": "the route is /login"}


def test_a_message_is_not_delivered_to_another_project(demo_terminal: Terminal) -> None:
    demo_terminal.run("messages", "--send", "lunch", "--agent", "backend")
    ledger = open_local_ledger(str(demo_terminal.store / "ledger.db"))
    with closing(ledger.database):
        (project,) = ledger.find(PROJECTS)
        (sent,) = ledger.find(MESSAGES)
        recipient = Recipient("s9", "main", "another project's id")
        assert messages.take_messages(ledger, recipient, time.time(), list) == ([], 0)
    assert sent["project"] == project["id"]


def test_a_sub_agent_reads_messages_to_its_id_and_to_its_type(demo_terminal: Terminal) -> None:
    for name in ("a1", "Explore", "Plan"):
        demo_terminal.run("messages", "--send", f"for {name}", "--to", name, "--agent", "boss")
    result = demo_terminal.run("messages", "--agent", "a1", "--kind", "Explore")
    assert result.out.splitlines() == ["boss: for a1", "boss: for Explore"]
    assert demo_terminal.run("messages").out == ""


def test_control_characters_are_not_printed(demo_terminal: Terminal) -> None:
    demo_terminal.run("messages", "--send", "red \x1b[31m alert", "--agent", "boss")
    assert demo_terminal.run("messages").out == "boss: red [31m alert\n"


def test_invalid_options_are_errors(demo_terminal: Terminal) -> None:
    for options in (("--to", "x"), ("--topic", "x"), ("--send", "  ")):
        result = demo_terminal.run("messages", *options)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("error: ")
