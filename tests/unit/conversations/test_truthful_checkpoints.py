"""A checkpoint says what is done, what is not, and what holds the work up, and loses none of it."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.conversations.checkpoint import Checkpoint
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.item_matching import is_same_decision
from holdfast.conversations.message import Message, to_message
from holdfast.conversations.summarizers import Reply, Work
from holdfast.conversations.summarizers.markers import find_marked_items
from holdfast.conversations.summarizers.outcomes import (
    DONE,
    FAILED,
    GIVEN_UP,
    find_item_status,
    states_failure,
)
from holdfast.conversations.summarizers.rules import summarize
from holdfast.conversations.validation import validate_reply
from holdfast.errors import CompactionFailed
from holdfast.tokens.estimate import estimate_tokens
from tests.cases import report_case
from tests.unit.conversations.scripted_summarizer import (
    LIMIT_TOKENS,
    ScriptedSummarizer,
    fill,
    record_events,
)
from tests.unit.conversations.test_checkpoint import summarize_texts, to_messages

from .conftest import Make

GOAL = "Move the mail queue to PostgreSQL without losing a mail"
FIRST_TURN = (("user", GOAL), ("assistant", "The tables are there and the tests pass."))


def test_work_that_failed_is_still_to_be_done_and_says_why() -> None:
    checkpoint = summarize_texts(
        *FIRST_TURN,
        ("user", "Add a cache layer"),
        ("assistant", "I added it, but the cache could not be made consistent."),
        ("user", "Then write the docs"),
    )
    assert not any("cache" in item for item in checkpoint.completed)
    assert checkpoint.pending == (
        "failed: “Add a cache layer” → “I added it, but the cache could not be made consistent.”",
    )


def test_work_that_the_user_gives_up_is_a_decision() -> None:
    for message in (
        "Never mind, write the docs",
        "Forget the cache layer. Write the docs.",
        "Drop it and write the docs",
        "we no longer need the cache layer, write the docs",
    ):
        with report_case(message):
            checkpoint = summarize_texts(
                *FIRST_TURN,
                ("user", "Add a cache layer"),
                ("assistant", "The cache module is written."),
                ("user", message),
                ("assistant", "The docs are written."),
            )
            assert not any("cache" in item for item in checkpoint.completed)
            assert "given up: “Add a cache layer”" in checkpoint.decisions


def test_work_that_the_user_rejects_is_not_completed() -> None:
    checkpoint = summarize_texts(
        *FIRST_TURN,
        ("user", "Fix the flaky test"),
        ("assistant", "Fixed: the test passes now."),
        ("user", "No, it still fails on CI."),
    )
    assert checkpoint.pending == ("failed: “Fix the flaky test” → “No, it still fails on CI.”",)


def test_a_request_whose_check_still_fails_is_not_completed() -> None:
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "pytest -q"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "E   assert 1 == 2\n1 failed"}
    messages = [
        *to_messages(*FIRST_TURN, ("user", "Write the parser")),
        *(
            Message(role=message.role, blocks=message.blocks, ordinal=ordinal)
            for ordinal, message in enumerate(
                (
                    to_message("assistant", [call]),
                    to_message("user", [result]),
                    to_message("assistant", "The parser is written."),
                    to_message("user", "Now write the docs"),
                ),
                4,
            )
        ),
    ]
    checkpoint = summarize(Work(checkpoint=Checkpoint(), messages=messages))
    assert not any("parser" in item for item in checkpoint.completed)
    assert checkpoint.blockers == ("fails: `pytest -q` E assert 1 == 2",)


@pytest.mark.parametrize(("item", "status"), [
    ("Migrate to version 2 (failed)", FAILED),
    ("deploy to staging, but it failed", FAILED),
    ("the import: did not work", FAILED),
    ("Redis cache — abandoned", GIVEN_UP),
    ("~~Redis cache~~", GIVEN_UP),
    ("Upgrade the driver (reverted)", GIVEN_UP),
    ("Fix the failing test", DONE),
    ("Investigate the login failure", DONE),
    ("Handle cancelled orders", DONE),
    ("Retry mails that failed", DONE),
    ("Write the parser", DONE),
])  # fmt: skip
def test_an_item_marked_as_done_is_believed_only_if_its_text_agrees(item: str, status: str) -> None:
    assert find_item_status(item) == status
    checkpoint = summarize_texts(("assistant", f"- [x] {item}"))
    assert bool(checkpoint.completed) == (status == DONE)


@pytest.mark.parametrize(("text", "is_failure"), [
    ("All 12 tests pass, 0 failed.", False),
    ("12 passed, 1 failed.", True),
    ("I could not reproduce it.", True),
    ("Fixed the parser, but the linter fails.", True),
    ("The request no longer fails.", False),
    ("I fixed the failing test.", False),
    ("It still fails.", True),
    ("I gave up on the cache.", True),
    ("The migration failed.", True),
])  # fmt: skip
def test_a_report_of_failure_is_recognized(text: str, is_failure: bool) -> None:
    assert states_failure(text) is is_failure


def test_the_answer_to_a_question_about_a_failure_is_no_failure() -> None:
    assert not states_failure("It fails because the cookie is missing.", "Why does login fail?")


def test_an_item_of_the_todo_tool_that_was_cancelled_is_not_open_and_not_done() -> None:
    todos = [{"content": "add the cache", "status": "cancelled"}]
    call = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": todos}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    messages = [to_message("assistant", [call]), to_message("user", [result])]
    checkpoint = summarize(Work(checkpoint=Checkpoint(), messages=messages))
    assert (checkpoint.completed, checkpoint.pending) == ((), ())
    assert checkpoint.decisions == ("given up: add the cache",)


def test_a_commit_that_was_reverted_is_no_longer_completed() -> None:
    def commit(subject: str) -> list[Message]:
        command = f"git commit -m '{subject}'"
        call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": command}}
        output = f"[main 1a2b3c4] {subject}\n 1 file changed"
        result = {"type": "tool_result", "tool_use_id": "c", "content": output}
        return [to_message("assistant", [call]), to_message("user", [result])]

    first = summarize(Work(checkpoint=Checkpoint(), messages=commit("Add the cache")))
    assert first.completed == ("committed: Add the cache",)
    second = summarize(Work(checkpoint=first, messages=commit('Revert "Add the cache"')))
    assert second.completed == ('committed: Revert "Add the cache"',)


def test_an_item_that_is_to_be_done_again_is_open() -> None:
    first = summarize_texts(("assistant", "Done: rotate the keys"))
    again = summarize_texts(("user", "TODO: rotate the keys"), after=first)
    assert (again.completed, again.pending) == ((), ("rotate the keys",))


# Open items


@pytest.mark.parametrize("line", [
    "TODO: rotate the keys",
    "The queue works. TODO: rotate the keys",
    "The queue works (TODO: rotate the keys)",
    "x = 1  # TODO(ann): rotate the keys",
    "// TODO rotate the keys",
    "There is one todo: rotate the keys",
    "Look at that. FIXME: rotate the keys",
    "to-do - rotate the keys",
])  # fmt: skip
def test_a_todo_is_found_anywhere_in_a_line(line: str) -> None:
    assert list(find_marked_items(line)) == [("pending", "rotate the keys")]


@pytest.mark.parametrize(
    "line", ["No TODOs are left", "I removed the TODO comment", "```\nTODO: x"]
)
def test_the_word_todo_alone_is_no_item(line: str) -> None:
    assert list(find_marked_items(line)) == []


def test_one_line_can_mark_several_items() -> None:
    line = "Done: the parser. TODO: rotate the keys. Blocked: CI needs a token"
    assert list(find_marked_items(line)) == [
        ("completed", "the parser."),
        ("pending", "rotate the keys."),
        ("blockers", "CI needs a token"),
    ]


OPEN_TEXTS = (GOAL, "rotate the signing keys", "CI needs a token", "the vendor's sandbox is down")


def add_open_work(conversation: Conversation) -> None:
    conversation.add_message("user", GOAL)
    conversation.add_message(
        "assistant",
        "I read the queue. TODO: rotate the signing keys\nBlocked: CI needs a token\n"
        "I'm blocked on something else too: the vendor's sandbox is down.",
    )


def test_the_goal_open_todos_and_blockers_survive_fifty_compactions(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS, keep_recent=2).get_or_create("s1")
    add_open_work(conversation)
    for number in range(50):
        for step in range(6):
            conversation.add_message("user", f"Question {number}.{step} about the retry table?")
            conversation.add_message("assistant", f"Answer {number}.{step}: " + "as before " * 20)
        conversation.force_compact()
    text = conversation.checkpoint().render()
    assert [wanted for wanted in OPEN_TEXTS if wanted not in text] == []
    assert estimate_tokens(text) < LIMIT_TOKENS // 4


def test_a_forced_compaction_of_three_messages_keeps_all_open_work(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    add_open_work(conversation)
    conversation.add_message("assistant", "Meanwhile I read the documentation. " * 30)
    conversation.add_message("user", "And now?")
    assert conversation.force_compact().messages == 3
    text = conversation.checkpoint().render()
    assert [wanted for wanted in OPEN_TEXTS if wanted not in text] == []


def test_a_forced_compaction_that_would_have_to_drop_something_fails(manager: Make) -> None:
    conversation = manager(keep_recent=1).get_or_create("s1")
    for text in ("Build the queue. TODO: rotate the keys", "TODO: write the docs", "Go."):
        conversation.add_message("user", text)
    with pytest.raises(CompactionFailed, match="not be shorter"):
        conversation.force_compact()
    assert len(conversation.messages()) == 3


def test_history_that_has_no_room_is_counted_in_the_result_and_the_checkpoint(
    manager: Make,
) -> None:
    opened = manager(limit=LIMIT_TOKENS, keep_recent=1)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    for number in range(60):
        conversation.add_message("assistant", f"Done: step {number} of the migration of the queue")
    conversation.add_message("user", "Go.")
    compaction = conversation.force_compact()
    completed = conversation.checkpoint().completed
    assert compaction.items_left_out > 0
    assert recorded[-1].detail["items_left_out"] == compaction.items_left_out
    assert completed[0].startswith(f"{compaction.items_left_out} earlier items left out")
    assert compaction.items_left_out + len(completed) - 1 == 60
    fill(conversation, LIMIT_TOKENS // 2)
    second = conversation.force_compact()
    total = compaction.items_left_out + second.items_left_out
    assert conversation.checkpoint().completed[0].startswith(f"{total} earlier items left out")


def test_open_items_are_kept_even_if_they_are_more_than_the_checkpoint_should_have(
    manager: Make,
) -> None:
    conversation = manager(limit=LIMIT_TOKENS, keep_recent=1).get_or_create("s1")
    tasks = [f"check the table number {number} of the old queue" for number in range(60)]
    for task in tasks:
        conversation.add_message("assistant", f"I looked at it for a while. TODO: {task}")
    conversation.add_message("user", "Go.")
    conversation.force_compact()
    assert list(conversation.checkpoint().pending) == tasks


def test_all_changed_files_are_named_or_counted() -> None:
    def edit(number: int) -> list[Message]:
        path = f"src/holdings/a_package_with_a_long_name/module_{number}.py"
        arguments = {"file_path": path, "old_string": "a", "new_string": "b"}
        call = {"type": "tool_use", "id": f"e{number}", "name": "Edit", "input": arguments}
        result = {"type": "tool_result", "tool_use_id": f"e{number}", "content": "ok"}
        return [to_message("assistant", [call]), to_message("user", [result])]

    checkpoint = Checkpoint()
    for start in (0, 20):
        messages = [message for number in range(start, start + 20) for message in edit(number)]
        checkpoint = summarize(Work(checkpoint=checkpoint, messages=messages))
    (item,) = checkpoint.completed
    named = item.count("module_")
    assert item.startswith(f"files changed: {40 - named} more, ")
    assert item.endswith("module_39.py")


# Blockers


@pytest.mark.parametrize("text", [
    "Resolved: CI needs a token",
    "The CI token is set up, so that is resolved.",
    "CI got its token.",
    "The blocker is gone.",
    "I'm no longer blocked: the token for CI is there.",
])  # fmt: skip
def test_a_blocker_goes_when_later_text_says_that_it_is_resolved(text: str) -> None:
    first = summarize_texts(("assistant", "Blocked: CI needs a token"))
    for role in ("user", "assistant"):
        assert summarize_texts((role, text), after=first).blockers == (), role


@pytest.mark.parametrize("text", [
    "The CI token is not resolved yet.",
    "Once the CI token is set up, deploy.",
    "Is the CI token resolved?",
    "The docs are done.",
    "What about the tests?",
])  # fmt: skip
def test_a_blocker_stays_while_no_text_says_that_it_is_resolved(text: str) -> None:
    first = summarize_texts(("assistant", "Blocked: CI needs a token"))
    later = summarize_texts(("user", text), ("assistant", "I see."), after=first)
    assert later.blockers == ("CI needs a token",)


def test_what_the_agent_waits_for_stays_until_the_user_gives_it() -> None:
    wait = ("assistant", "I need your deploy key before I can go on with the release.")
    blocker = f"waits: “{wait[1]}”"
    assert summarize_texts(wait).blockers == (blocker,)
    assert summarize_texts(wait, ("user", "Write the changelog first.")).blockers == (blocker,)
    for answer in ("go ahead", "Here is the deploy key: see the vault", "done"):
        with report_case(answer):
            assert summarize_texts(wait, ("user", answer)).blockers == ()


def test_a_check_that_a_wider_run_covers_no_longer_blocks_in_a_later_compaction() -> None:
    def run(command: str, output: str) -> list[Message]:
        call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": "c", "content": output}
        return [to_message("assistant", [call]), to_message("user", [result])]

    messages = run("pytest tests/test_queue.py", "E   assert 1 == 2\n1 failed")
    failed = summarize(Work(checkpoint=Checkpoint(), messages=messages))
    assert len(failed.blockers) == 1
    other = summarize(Work(checkpoint=failed, messages=run("ls", "src")))
    assert other.blockers == failed.blockers
    assert summarize(Work(checkpoint=other, messages=run("pytest", "9 passed"))).blockers == ()


# Decisions


@pytest.mark.parametrize(("first", "second"), [
    ("Use PostgreSQL for the queue.", "use postgresql for the queue"),
    ("Use PostgreSQL for the queue", "We'll go with Postgres for the queue, because it locks rows"),
    ("Decided to use tabs for indentation", "Indent with tabs"),
    ("Use Redis instead of Memcached", "use Redis over Memcached since it persists"),
])  # fmt: skip
def test_a_decision_in_other_words_is_the_same(first: str, second: str) -> None:
    assert is_same_decision(first, second)
    assert is_same_decision(second, first)
    checkpoint = summarize_texts(("assistant", f"Decision: {first}"))
    again = summarize_texts(("assistant", f"Decided: {second}"), after=checkpoint)
    assert len(again.decisions) == 1


@pytest.mark.parametrize(("first", "second"), [
    ("Use Redis", "Do not use Redis"),
    ("Use Redis", "ruled out: Use Redis"),
    ("Use Redis 6", "Use Redis 7"),
    ("Use Redis over Postgres", "Use Postgres over Redis"),
    ("Use SQLite for the queue", "Use SQLite for the cache"),
])  # fmt: skip
def test_another_decision_is_kept(first: str, second: str) -> None:
    assert not is_same_decision(first, second)


def test_a_sentence_that_is_a_decision_and_a_finding_is_listed_once() -> None:
    text = "Decision: use SQLite for the queue because it needs no server."
    checkpoint = summarize_texts(("assistant", text), ("assistant", text.upper()), ("user", "Ok."))
    assert len(checkpoint.decisions) == 1


# The same findings as in the brief


def test_findings_and_workarounds_of_the_brief_are_in_the_checkpoint() -> None:
    def run(ident: str, command: str, output: str, is_error: bool) -> list[Message]:
        call = {"type": "tool_use", "id": ident, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": ident, "content": output}
        blocks = [{**result, "is_error": True}] if is_error else [result]
        return [to_message("assistant", [call]), to_message("user", blocks)]

    messages = [
        to_message("user", GOAL),
        to_message("assistant", "The lease stays because `release_lease` is never called."),
        *run("a", "npm install queue", "npm ERR! invalid peer", True),
        *run("b", "npm install queue --legacy-peer-deps", "added 4 packages", False),
        to_message("assistant", "The packages are installed."),
    ]
    checkpoint = summarize(Work(checkpoint=Checkpoint(), messages=messages))
    assert checkpoint.decisions == (
        "found: “The lease stays because `release_lease` is never called.”",
        "worked: `npm install queue --legacy-peer-deps`, and not `npm install queue` "
        "(“npm ERR! invalid peer”)",
    )


# A model's reply


def validate(content: dict[str, Any], work: Work) -> Checkpoint:
    return validate_reply(Reply(content=content), work, estimate_tokens, 5000)


def test_a_models_reply_gets_back_the_goal_the_blockers_and_the_decisions() -> None:
    work = Work(
        checkpoint=Checkpoint(),
        messages=to_messages(
            *FIRST_TURN,
            ("assistant", "Blocked: CI needs a token\nDecision: use SKIP LOCKED for the workers"),
            ("user", "Go on."),
        ),
    )
    checkpoint = validate({"completed": ["read the code"]}, work)
    assert f"goal: “{GOAL}”" in checkpoint.in_progress
    assert checkpoint.blockers == ("CI needs a token",)
    assert checkpoint.decisions == ("use SKIP LOCKED for the workers",)
    assert len(validate({"decisions": ["Use SKIP LOCKED for workers."]}, work).decisions) == 1


def test_a_model_cannot_complete_what_failed() -> None:
    work = Work(
        checkpoint=Checkpoint(),
        messages=to_messages(
            *FIRST_TURN,
            ("user", "Add a cache layer"),
            ("assistant", "The cache could not be made consistent."),
            ("user", "Write the docs"),
        ),
    )
    reply = {"completed": ["Add a cache layer", "Deploy to staging (failed)", "create the tables"]}
    checkpoint = validate(reply, work)
    assert checkpoint.completed[1:] == ("create the tables",)
    assert checkpoint.completed[0].startswith(f"goal: “{GOAL}”")
    assert "failed: Deploy to staging (failed)" in checkpoint.pending
    assert any(item.startswith("failed: “Add a cache layer”") for item in checkpoint.pending)


def test_the_goal_survives_compactions_by_a_model_that_forgets_it(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS, summarizer=ScriptedSummarizer()).get_or_create("s1")
    add_open_work(conversation)
    for _ in range(5):
        fill(conversation, LIMIT_TOKENS)
        assert conversation.force_compact().made_by == "scripted"
    text = conversation.checkpoint().render()
    assert [wanted for wanted in OPEN_TEXTS if wanted not in text] == []
