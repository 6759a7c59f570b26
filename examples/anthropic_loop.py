"""An agent in one file: the Anthropic SDK, one tool, and requests that always fit the window.

ANTHROPIC_API_KEY=… python examples/anthropic_loop.py < questions.txt
"""

import sys

import anthropic

from holdfast import SessionManager

MODEL = "claude-haiku-4-5"
TOOL = {
    "name": "word_count",
    "description": "Counts the words of a text.",
    "input_schema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def main() -> None:
    client = anthropic.Anthropic()
    manager = SessionManager(model=MODEL, limit=int(sys.argv[1]) if sys.argv[1:] else None)
    chat = manager.get_or_create("anthropic-loop")
    chat.set_agent_description("You answer briefly. Use the tool to count words.")
    for line in sys.stdin:
        chat.add_message("user", line.strip())
        print(answer(client, chat))
    print(chat.metrics(), file=sys.stderr)


def answer(client, chat) -> str:
    while True:
        request = chat.build_request("anthropic")
        reply = client.messages.create(model=MODEL, max_tokens=1000, tools=[TOOL], **request)
        chat.add_message("assistant", reply.content)
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        for call in calls:
            count = len(str(call.input.get("text", "")).split())
            chat.add_message("tool", str(count), tool_call_id=call.id)


if __name__ == "__main__":
    main()
