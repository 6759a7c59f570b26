"""Types of the working state.

The state is plain JSON: what is folded is what is stored, so that a saved state can be compared
byte for byte and an old one always loads. Only the type checker imports this module: `dataclasses`
alone would double a hook's start-up time.

Every item carries the number of the transcript line that it comes from.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Request(TypedDict):
    """Something the user asked for, verbatim."""

    text: str
    line: int
    at: str
    waited: NotRequired[bool]
    """Known only from the queue so far: the message itself may still be logged."""
    question: NotRequired[str]
    """The agent's question, if this text is the answer to one."""
    context: NotRequired[str]
    """The sentence that a short message refers to, if it answers no question."""
    said_line: NotRequired[int]
    """The line of that question or sentence."""
    stopped: NotRequired[int]
    """The line at which the user interrupted the agent while it worked on this."""


class Rule(TypedDict):
    """A sentence by the user that binds the agent."""

    text: str
    kind: Literal["prohibition", "requirement"]
    line: int
    superseded: int
    """The line of the later correction, or 0."""
    scope: str
    """What it is limited to, in the user's own words; empty if it is not."""


class Decision(TypedDict):
    """Something that was decided or ruled out."""

    text: str
    kind: Literal["chosen", "rejected"]
    by: Literal["user", "agent"]
    line: int
    over: str
    """The alternative that was not taken, if the text names it."""
    why: str
    label: NotRequired[str]
    """A description in our words, if it comes from a tool call and not from a sentence."""
    quotes: NotRequired[list[str]]
    """The quoted parts of `text`: a question and its answer, a plan, a refused call."""
    source_line: NotRequired[int]
    """The line of that tool call."""


class PlanItem(TypedDict):
    """One task or todo."""

    id: str
    text: str
    status: str
    line: int
    """The line that last set the status."""
    source_line: int
    """The line that last set the text."""
    blocked_by: list[str]
    wave: int
    """The wave it belongs to, or 0."""
    detail: NotRequired[str]
    """Its description, beside its title."""


class PlanFile(TypedDict):
    """A plan that the host keeps in a file."""

    path: str
    text: str
    line: int


class StartedCommand(TypedDict):
    """A slash command or skill that was started, with its arguments."""

    name: str
    text: str
    line: int
    at: NotRequired[str]


class FileTrail(TypedDict, total=False):
    """What happened to one file."""

    line: int
    """The line of the last event."""
    reads: int
    edits: int
    created: int
    """The line that created it, if it did not exist before the session."""
    deleted: int
    """The line that deleted it, if it existed before the session."""
    committed: int
    """How many of the edits are in a later commit."""
    unknown: int
    """The line of an edit whose result was never logged."""
    symbols: list[str]
    """The functions and types that the last edits defined."""
    purposes: list[Statement]
    """What the agent said right before its last edits."""
    swaps: list[str]
    """The last edits that changed one line: `old → new`."""
    source_line: int
    """The line that names the file, if `line` means it only by a folder or a pattern."""


class Check(TypedDict):
    """A command that shows whether the project works, with its last outcome."""

    command: str
    kind: str
    ok: bool
    line: int
    """The line of its last result."""
    call: int
    """The line of the command itself."""
    runs: int
    error: list[str]
    """The lines of its output that say what is wrong; empty if it passed."""
    where: str
    """The first `file:line` of the error, or empty."""
    verdict: str
    """The line of its last output that sums up the result, or empty."""
    is_exit_hidden: bool
    """Whether its output was piped, so that its exit code is unknown."""


class Commit(TypedDict):
    """A commit made in this session."""

    sha: str
    """Empty if a rebase has given it another hash that the log does not show."""
    subject: str
    line: int
    body: NotRequired[str]


class Subagent(TypedDict):
    """A sub-agent, its task and its result."""

    id: str
    call: str
    """The id of the tool call that started it."""
    type: str
    task: str
    status: str
    result: str
    """Its final reply."""
    files: dict[str, str]
    """What it did to files itself: edited, created, read."""
    line: int
    source_line: NotRequired[int]
    """The line that states its task."""
    handoff: NotRequired[str]
    """The id of its handoff. Views add this; the fold does not know it."""


class BriefDelivery(TypedDict):
    """One of our briefs, as the host logged it."""

    id: str
    hook: str
    line: int
    length: int
    checksum: int


class Compaction(TypedDict):
    """One compaction of the session's context."""

    id: str
    """The host's id: a resumed session's log may begin with the compaction of another session."""
    line: int
    at: str
    """When the host logged it; empty if the log does not say."""
    trigger: str
    before: int
    after: int
    """The size that the host states, else that of the first request after it; 0 if unknown."""
    duration: int
    """How long the host took, in milliseconds; 0 if the log does not say."""
    calls: int
    """The number of tool calls since the compaction before it."""
    summary_line: int
    reply_line: int
    """The first reply after it: a brief that is not logged before this line did not arrive."""
    deliveries: list[BriefDelivery]


class ContextUsage(TypedDict):
    """How full the context is, in tokens."""

    context: int
    window: int
    model: str
    message: str
    line: int
    tool_calls: int
    calls_since_compaction: int
    at_prompt: int
    """The context at the user's last prompt."""
    growth: int
    """The moving average of what a turn adds."""


class Statement(TypedDict):
    """A text with the line that it comes from."""

    text: str
    line: int


class ShellCommand(TypedDict):
    """A command that worked, in its last form."""

    head: str
    """The program and its subcommand."""
    text: str
    line: int
    runs: int


class FailedCommand(TypedDict):
    """A command that failed, while no edit and no variant of it has followed."""

    text: str
    error: str
    line: int


class Workaround(TypedDict):
    """A command that failed, and the variant of it that worked."""

    failed: str
    error: str
    text: str
    failed_line: int
    line: int


class Record(TypedDict):
    """A text that was written for the record with a command, such as a reason or a title."""

    text: str
    head: str
    line: int


class RunningServer(TypedDict):
    """A command that was started in the background and not stopped since."""

    id: str
    text: str
    line: int


class UncommittedFiles(TypedDict):
    """The uncommitted files, as git last listed them."""

    files: list[str]
    line: int


class PendingCall(TypedDict):
    """A tool call whose result has not been read yet."""

    name: str
    input: dict[str, Any]
    line: int
    cwd: str
    running: NotRequired[bool]
    """Its first result said that it continues; the key is then the id of the process."""


class QueuedMessage(TypedDict):
    """A message that was typed while the agent was working, and not yet passed to it."""

    kind: str
    """prompt or command; empty if no person wrote it."""
    name: str
    text: str
    line: int
    at: str


class State(TypedDict):
    """Everything known about a session."""

    version: int
    lines: int
    """The number of the last line that was folded."""
    bad_lines: list[int]
    place: dict[str, str]
    requests: list[Request]
    requests_dropped: int
    rules: list[Rule]
    decisions: list[Decision]
    plan: list[PlanItem]
    plan_file: PlanFile | None
    files: dict[str, FileTrail]
    checks: list[Check]
    branch: str
    commits: list[Commit]
    dirty: UncommittedFiles | None
    pull_requests: list[Statement]
    questions: list[Statement]
    """Questions to the user that are still unanswered."""
    blockers: list[Statement]
    doing: Statement | None
    """The agent's last reply."""
    reports: list[Statement]
    """The last text of each turn."""
    findings: list[Statement]
    """Sentences between tool calls that state a cause or a result."""
    shell: list[ShellCommand]
    failed_commands: list[FailedCommand]
    workarounds: list[Workaround]
    records: list[Record]
    task_shown: Record | None
    """The text of the issue, pull request or task that was looked up last."""
    servers: list[RunningServer]
    pushed: int
    """The line of the last `git push`, or 0."""
    agents: list[Subagent]
    commands: list[StartedCommand]
    usage: ContextUsage
    compactions: list[Compaction]
    calls: dict[str, PendingCall]
    agent_calls: dict[str, PendingCall]
    """The pending calls of sub-agents."""
    queue: list[QueuedMessage]
