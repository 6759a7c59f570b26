"""An append-only event log, as in OpenHands, of which the model sees a view that fits the window.

OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none python examples/condenser.py
"""

import json
import sys
from dataclasses import dataclass

import openai

from holdfast import SessionManager
from holdfast.conversations.adapters.condenser import HoldfastCondenser

MODEL = "local"


@dataclass
class Event:
    """One event of the log; without a message it is not shown to the model."""

    kind: str
    message: dict | None = None


def main() -> None:
    client = openai.OpenAI()
    manager = SessionManager(limit=int(sys.argv[1]) if sys.argv[1:] else None)
    chat = manager.get_or_create("condenser")
    condenser = HoldfastCondenser(chat, as_message=lambda event: event.message)
    log: list[Event] = []
    for line in sys.stdin:
        log.append(Event("prompt", {"role": "user", "content": line.strip()}))
        print(answer(client, condenser, log))
    print(f"{len(log)} events; {chat.metrics()}", file=sys.stderr)


def answer(client, condenser, log) -> str:
    while True:
        reply = client.chat.completions.create(model=MODEL, messages=condenser.condense(log))
        message = reply.choices[0].message
        log.append(Event("usage"))
        log.append(Event("reply", message.model_dump(exclude_none=True)))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            count = len(str(arguments.get("text", "")).split())
            result = {"role": "tool", "tool_call_id": call.id, "content": str(count)}
            log.append(Event("result", result))


if __name__ == "__main__":
    main()
