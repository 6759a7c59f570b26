"""Messages from the command line: sent, read once, read again."""

from __future__ import annotations

import time
from contextlib import closing

from holdfast.ledger import mailbox
from holdfast.ledger.mailbox import Reader
from holdfast.ledger.opening import local_ledger
from holdfast.ledger.tables import MESSAGES, PROJECTS
from tests.terminal import Terminal


def test_a_message_is_sent_and_read_once(seasoned: Terminal) -> None:
    sent = seasoned.run("messages", "--send", "the route is /login", "--agent", "backend",
                        "--topic", "api")  # fmt: skip
    assert (sent.code, sent.out, sent.err) == (0, "", "Sent to all who listen.\n")
    assert seasoned.run("messages").out == "backend [api]: the route is /login\n"
    again = seasoned.run("messages")
    assert (again.code, again.out, again.err) == (0, "", "No messages wait.\n")
    (one,) = seasoned.run("messages", "--again", "--json").json
    assert (one["from"], one["topic"], one["to"]) == ("backend", "api", "")
    assert one["payload"] == {"text": "the route is /login"}


def test_a_message_names_its_project_so_that_no_other_s_agents_hear_it(seasoned: Terminal) -> None:
    seasoned.run("messages", "--send", "lunch", "--agent", "backend")
    ledger = local_ledger(str(seasoned.store / "ledger.db"))
    with closing(ledger.database):
        (project,) = ledger.rows(PROJECTS)
        (sent,) = ledger.rows(MESSAGES)
        elsewhere = Reader("s9", "main", "another project's id")
        assert mailbox.take(ledger, elsewhere, time.time(), list) == ([], 0)
    assert sent["project"] == project["id"]


def test_a_sub_agent_reads_what_is_for_it_and_for_its_kind(seasoned: Terminal) -> None:
    for name in ("a1", "Explore", "Plan"):
        seasoned.run("messages", "--send", f"for {name}", "--to", name, "--agent", "boss")
    ran = seasoned.run("messages", "--agent", "a1", "--kind", "Explore")
    assert ran.out.splitlines() == ["boss: for a1", "boss: for Explore"]
    assert seasoned.run("messages").out == ""


def test_what_would_steer_the_terminal_is_not_printed(seasoned: Terminal) -> None:
    seasoned.run("messages", "--send", "red \x1b[31m alert", "--agent", "boss")
    assert seasoned.run("messages").out == "boss: red [31m alert\n"


def test_what_makes_no_sense_is_explained(seasoned: Terminal) -> None:
    for words in (("--to", "x"), ("--topic", "x"), ("--send", "  ")):
        ran = seasoned.run("messages", *words)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
