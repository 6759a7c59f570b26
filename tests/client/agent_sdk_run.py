"""Makes one summary through the Agent SDK, against a scripted model; runs in a network namespace.

Reads {"cli": path, "cwd": path, "record": path, "answers": [steps], "seconds": n} from stdin and
prints the summary or the error as JSON.
"""

import json
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from holdfast.conversations.checkpoint import Checkpoint
from holdfast.conversations.message import to_message
from holdfast.conversations.summarizers import Work
from holdfast.conversations.summarizers.claude_agent import ClaudeAgentSummarizer
from holdfast.conversations.summarizers.prompt import SummaryFailed
from tests.client.fake_messages_api import Handler, Script


class RepeatLastAnswer(Script):
    """Every request is for the summary; the last answer is repeated when the script ends."""

    last: ClassVar[dict[str, Any]] = {}

    def next_step(self, kind: str, agent_id: str | None) -> dict[str, Any]:
        RepeatLastAnswer.last = next(self.main, RepeatLastAnswer.last)
        return RepeatLastAnswer.last


def main() -> None:
    arguments = json.load(sys.stdin)
    record = Path(arguments["record"])
    script = RepeatLastAnswer({"steps": arguments["answers"]}, record)
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    summarizer = ClaudeAgentSummarizer(
        seconds=arguments["seconds"],
        env=env,
        options={"cli_path": arguments["cli"], "cwd": arguments["cwd"]},
    )
    messages = [to_message("user", "Never push to main."), to_message("assistant", "All right.")]
    try:
        reply = summarizer.summarize(Work(checkpoint=Checkpoint(), messages=messages))
        result: dict[str, Any] = {"content": reply.content, "input": reply.usage.input_tokens}
    except SummaryFailed as problem:
        result = {"error": str(problem), "input": problem.usage.input_tokens}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
