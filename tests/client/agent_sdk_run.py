"""Run inside a network namespace: one summary through the Agent SDK, against a scripted model.

Reads {"cli": path, "answers": [steps], "seconds": n} from stdin and prints what came of it.
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


class Everything(Script):
    """Every request is the summary's; the last answer is given again and again."""

    last: ClassVar[dict[str, Any]] = {}

    def next_step(self, kind: str, agent_id: str | None) -> dict[str, Any]:
        Everything.last = next(self.main, Everything.last)
        return Everything.last


def main() -> None:
    given = json.load(sys.stdin)
    record = Path(given["record"])
    script = Everything({"steps": given["answers"]}, record)
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    summarizer = ClaudeAgentSummarizer(
        seconds=given["seconds"], env=env, options={"cli_path": given["cli"], "cwd": given["cwd"]}
    )
    messages = [to_message("user", "Never push to main."), to_message("assistant", "All right.")]
    try:
        reply = summarizer.summarize(Work(checkpoint=Checkpoint(), messages=messages))
        told: dict[str, Any] = {"content": reply.content, "input": reply.usage.input_tokens}
    except SummaryFailed as problem:
        told = {"error": str(problem), "input": problem.usage.input_tokens}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
