"""A LangChain agent whose requests always fit the window, with one middleware.

pip install langchain langchain-anthropic
ANTHROPIC_API_KEY=… python examples/langchain_agent.py < questions.txt
"""

import sys

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool

from holdfast import SessionManager
from holdfast.conversations.adapters.langchain import HoldfastMiddleware

MODEL = "claude-haiku-4-5"


@tool
def word_count(text: str) -> str:
    """Counts the words of a text."""
    return str(len(text.split()))


def main() -> None:
    manager = SessionManager(model=MODEL, limit=int(sys.argv[1]) if sys.argv[1:] else None)
    chat = manager.get_or_create("langchain-agent")
    agent = create_agent(
        ChatAnthropic(model=MODEL, max_tokens=1000),
        tools=[word_count],
        system_prompt="You answer briefly. Use the tool to count words.",
        middleware=[HoldfastMiddleware(chat)],
    )
    messages = []
    for line in sys.stdin:
        messages.append({"role": "user", "content": line.strip()})
        messages = agent.invoke({"messages": messages})["messages"]
        print(messages[-1].text)
    print(chat.metrics(), file=sys.stderr)


if __name__ == "__main__":
    main()
