"""An agent in one file for any server with the OpenAI protocol: one tool, requests that always fit.

OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none python examples/openai_loop.py
"""

import json
import sys

import openai

from holdfast import SessionManager

MODEL = "local"
TOOL = {
    "type": "function",
    "function": {
        "name": "word_count",
        "description": "Counts the words of a text.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}


def main() -> None:
    client = openai.OpenAI()
    manager = SessionManager(limit=int(sys.argv[1]) if sys.argv[1:] else None)
    chat = manager.get_or_create("openai-loop")
    chat.set_agent_description("You answer briefly. Use the tool to count words.")
    for line in sys.stdin:
        chat.add_message("user", line.strip())
        print(answer(client, chat))
    print(chat.metrics(), file=sys.stderr)


def answer(client, chat) -> str:
    while True:
        reply = client.chat.completions.create(
            model=MODEL, tools=[TOOL], **chat.build_request("openai")
        )
        message = reply.choices[0].message
        chat.add_message(message)
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            count = len(str(arguments.get("text", "")).split())
            chat.add_message("tool", str(count), tool_call_id=call.id)


if __name__ == "__main__":
    main()
