"""Messages from the command line: sent, read once, read again."""

from __future__ import annotations

import time
from contextlib import closing

from holdfast.ledger import messages
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.messages import Recipient
from holdfast.ledger.schema import MESSAGES, PROJECTS
from tests.terminal import Terminal


def test_a_message_is_sent_and_read_once(seasoned: Terminal) -> None:
    sent = seasoned.run("messages", "--send", "the route is /login", "--agent", "backend",
                        "--topic", "api")  # fmt: skip
    assert (sent.code, sent.out, sent.err) == (0, "", "Sent to all agents.\n")
    assert seasoned.run("messages").out == "backend [api]: the route is /login\n"
    again = seasoned.run("messages")
    assert (again.code, again.out, again.err) == (0, "", "No new messages.\n")
    (one,) = seasoned.run("messages", "--again", "--json").json
    assert (one["from"], one["topic"], one["to"]) == ("backend", "api", "")
    assert one["payload"] == {"text": "the route is /login"}


def test_a_message_stays_in_its_project(seasoned: Terminal) -> None:
    seasoned.run("messages", "--send", "lunch", "--agent", "backend")
    ledger = open_local_ledger(str(seasoned.store / "ledger.db"))
    with closing(ledger.database):
        (project,) = ledger.find(PROJECTS)
        (sent,) = ledger.find(MESSAGES)
        elsewhere = Recipient("s9", "main", "another project's id")
        assert messages.take_messages(ledger, elsewhere, time.time(), list) == ([], 0)
    assert sent["project"] == project["id"]


def test_a_sub_agent_reads_messages_to_it_and_to_its_type(seasoned: Terminal) -> None:
    for name in ("a1", "Explore", "Plan"):
        seasoned.run("messages", "--send", f"for {name}", "--to", name, "--agent", "boss")
    ran = seasoned.run("messages", "--agent", "a1", "--kind", "Explore")
    assert ran.out.splitlines() == ["boss: for a1", "boss: for Explore"]
    assert seasoned.run("messages").out == ""


def test_control_characters_are_not_printed(seasoned: Terminal) -> None:
    seasoned.run("messages", "--send", "red \x1b[31m alert", "--agent", "boss")
    assert seasoned.run("messages").out == "boss: red [31m alert\n"


def test_invalid_options_are_explained(seasoned: Terminal) -> None:
    for words in (("--to", "x"), ("--topic", "x"), ("--send", "  ")):
        ran = seasoned.run("messages", *words)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
