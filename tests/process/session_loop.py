"""A simulated agent that sends thousands of messages with constraints, tasks and tool calls."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from holdfast.conversations.conversation import Conversation
from tests.unit.conversations.api_rules import assert_anthropic_accepts, count_tokens, get_text

# The number of the message from which on each text is in the conversation.
CONSTRAINTS = {
    3: "Never touch anything under migrations/.",
    701: "Always run the linter before a commit.",
    1501: "Do not add dependencies to the image.",
}
OPEN_TASKS = {
    5: "rotate the signing keys",
    803: "ask support about attempt 0",
    1603: "delete the flag",
}
WORDS = [
    "queue", "retry", "backoff", "jitter", "worker", "scheduler", "lease", "mailbox", "header",
    "payload", "timeout", "cursor", "ledger", "shard", "replica", "tenant", "webhook", "bucket",
]  # fmt: skip


@dataclass
class AgentLoop:
    """Adds messages and builds a request after each turn, as an agent does."""

    conversation: Conversation
    max_tokens: int
    has_tool_calls: bool = False
    seed: int = 11
    largest_request_tokens: int = 0
    required_texts: list[str] = field(default_factory=list)

    def run(self, messages: int) -> dict[str, Any]:
        """Add that many messages, and return the last request."""
        generator = random.Random(self.seed)
        body: dict[str, Any] = {}
        number = 0
        while number < messages:
            number += self._add_turn(number, generator)
            body = self.conversation.build_request()
            assert_anthropic_accepts(body)
            self.largest_request_tokens = max(self.largest_request_tokens, count_tokens(body))
        return body

    def _add_turn(self, number: int, generator: random.Random) -> int:
        """Add the messages of a turn, and return how many there were."""
        words = " ".join(generator.choices(WORDS, k=40))
        constraints = [text for at, text in CONSTRAINTS.items() if number < at <= number + 4]
        tasks = [text for at, text in OPEN_TASKS.items() if number < at <= number + 4]
        self.required_texts += [*constraints, *tasks]
        prompt = [f"Look at {words}.", *constraints, *(f"TODO: {task}" for task in tasks)]
        self.conversation.add_message("user", "\n".join(prompt))
        step = f"step {number} of the work on the {generator.choice(WORDS)}"
        if not self.has_tool_calls:
            reply = f"{step}: {words}\nTODO: finish {step}"
            self.conversation.add_message("assistant", reply)
            self.conversation.add_message("user", "Go on.")
            self.conversation.add_message("assistant", f"Done: finish {step}")
            return 4
        command = f"grep -rn {generator.choice(WORDS)} src"
        call = {
            "type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": command}
        }  # fmt: skip
        self.conversation.add_message("assistant", [f"TODO: finish {step}", call])
        output = "\n".join(" ".join(generator.choices(WORDS, k=12)) for _ in range(12))
        self.conversation.add_message("tool", output, tool_call_id=f"c{number}")
        self.conversation.add_message("assistant", f"Done: finish {step}")
        return 4

    def assert_nothing_was_lost(self, body: dict[str, Any]) -> None:
        assert len(self.required_texts) == len(CONSTRAINTS) + len(OPEN_TASKS)
        request_text = get_text(body)
        assert [text for text in self.required_texts if text not in request_text] == []
        assert self.largest_request_tokens <= self.max_tokens
