"""A simulated agent that works for thousands of messages: user, tool pairs, plan, distractions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from holdfast.conversations.conversation import Conversation
from tests.unit.conversations.api_rules import assert_anthropic_accepts, tokens, told

CONSTRAINTS = {
    3: "Never touch anything under migrations/.",
    701: "Always run the linter before a commit.",
    1501: "Do not add dependencies to the image.",
}
OPEN = {5: "rotate the signing keys", 803: "ask support about attempt 0", 1603: "delete the flag"}
WORDS = [
    "queue", "retry", "backoff", "jitter", "worker", "scheduler", "lease", "mailbox", "header",
    "payload", "timeout", "cursor", "ledger", "shard", "replica", "tenant", "webhook", "bucket",
]  # fmt: skip


@dataclass
class Loop:
    """Adds messages and builds a request at each turn of the user, as an agent would."""

    conversation: Conversation
    limit: int
    pairs: bool = False
    seed: int = 11
    largest: int = 0
    requests: int = 0
    planted: list[str] = field(default_factory=list)

    def run(self, messages: int) -> dict[str, Any]:
        """The last request."""
        chance = random.Random(self.seed)
        body: dict[str, Any] = {}
        number = 0
        while number < messages:
            number += self._turn(number, chance)
            body = self.conversation.build_request()
            assert_anthropic_accepts(body)
            self.largest = max(self.largest, tokens(body))
            self.requests += 1
        return body

    def _turn(self, number: int, chance: random.Random) -> int:
        words = " ".join(chance.choices(WORDS, k=40))
        due = [text for at, text in CONSTRAINTS.items() if number < at <= number + 4]
        tasks = [f"TODO: {text}" for at, text in OPEN.items() if number < at <= number + 4]
        self.planted += [*due, *(task.removeprefix("TODO: ") for task in tasks)]
        self.conversation.add_message("user", "\n".join([f"Look at {words}.", *due, *tasks]))
        step = f"step {number} of the work on the {chance.choice(WORDS)}"
        if not self.pairs:
            said = f"{step}: {words}\nTODO: finish {step}"
            self.conversation.add_message("assistant", said)
            self.conversation.add_message("user", "Go on.")
            self.conversation.add_message("assistant", f"Done: finish {step}")
            return 4
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash"}
        call["input"] = {"command": f"grep -rn {chance.choice(WORDS)} src"}  # type: ignore[assignment]
        self.conversation.add_message("assistant", [f"TODO: finish {step}", call])
        output = "\n".join(" ".join(chance.choices(WORDS, k=12)) for _ in range(12))
        self.conversation.add_message("tool", output, tool_call_id=f"c{number}")
        self.conversation.add_message("assistant", f"Done: finish {step}")
        return 4

    def assert_nothing_was_lost(self, body: dict[str, Any]) -> None:
        assert len(self.planted) == 6
        said = told(body)
        assert [text for text in self.planted if text not in said] == []
        assert self.largest <= self.limit
