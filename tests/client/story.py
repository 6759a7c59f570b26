"""The work of a session before it is compacted, and the facts that must survive."""

from pathlib import Path

from .sandbox import BRANCH
from .scripted_api import Json

GOAL = "Make the card retry back off exponentially."
PROHIBITION = "Never touch the migrations folder."
DECISION = "Decision: cap the delay at 30 seconds rather than wait forever."
PLAN_ITEM = "Prove the third delay with a test"
EDITED_FILE = "src/retry.py"
FAILING_COMMAND = "python3 -m unittest test_retry"
ERROR_LINE = "AssertionError: 6.0 != 4.0"

FACTS = (
    GOAL,
    PROHIBITION,
    DECISION,
    PLAN_ITEM,
    EDITED_FILE,
    FAILING_COMMAND,
    ERROR_LINE,
    BRANCH,
)
PROMPT = f"{GOAL} {PROHIBITION}"
SUMMARY = "The user and the assistant worked on payments."  # contains none of the facts

PROMPT_TOO_LONG: Json = {"error": "prompt is too long: 210000 tokens > 200000 maximum"}
ANSWER: Json = {"text": "I am on it."}


def work_steps(project: Path) -> list[Json]:
    """The steps of a first turn that contains every fact; the last step is the test run."""
    file = str(project / EDITED_FILE)
    change = {"old_string": "return 1.0", "new_string": "return 2.0 * attempt"}
    plan_item = {"subject": PLAN_ITEM, "description": "The third delay is four seconds."}
    return [
        {"text": DECISION, "tool": "Read", "input": {"file_path": file}},
        {"tool": "Edit", "input": {"file_path": file} | change},
        {"tool": "TaskCreate", "input": plan_item},
        {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "in_progress"}},
        run_tests(),
    ]


def run_tests(usage: int = 9_000) -> Json:
    """A test run that fails, in a context of `usage` tokens."""
    command = {"command": FAILING_COMMAND, "description": "Run the tests"}
    return {"tool": "Bash", "input": command, "usage": usage}


def call_subagent(*, background: bool = False) -> Json:
    """Start a sub-agent, which the parent waits for unless it runs in the background."""
    task = {"description": "Look at the retry", "prompt": "Say what the retry returns."}
    kind = {"subagent_type": "general-purpose", "run_in_background": background}
    return {"tool": "Agent", "input": task | kind}
