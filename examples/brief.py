"""A brief of a conversation in a file: JSON with the messages of the Anthropic or the OpenAI API.

python examples/brief.py 1500 < messages.json
"""

import json
import sys

from holdfast import build_brief


def main() -> None:
    budget = int(sys.argv[1]) if sys.argv[1:] else 2000
    brief = build_brief(json.load(sys.stdin), budget=budget)
    print(brief.text)
    print(f"{brief.tokens} tokens, {len(brief.left_out)} items left out", file=sys.stderr)


if __name__ == "__main__":
    main()
