"""The shape of the working state.

State is JSON-shaped on purpose: what is stored is what is folded, so a saved state can be
compared byte for byte and an old one always loads. These types are read by the type checker
only; importing `dataclasses` alone would double a hook's start-up.

Every item carries the transcript line that it comes from.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Request(TypedDict):
    text: str
    line: int
    at: str
    waited: NotRequired[bool]
    """Told by the queue alone so far: the message itself may still be written down."""
    question: NotRequired[str]
    """What the agent had asked, if these words are an answer."""
    stopped: NotRequired[int]
    """Where the user stopped the agent while it worked on this."""


class Rule(TypedDict):
    """A sentence of the user's that binds."""

    text: str
    kind: Literal["prohibition", "requirement"]
    line: int
    superseded: int
    """The line of the later correction, or 0."""
    scope: str
    """What it is limited to, in the user's own words, if they say so."""
    weak: bool
    """Perhaps it only tells something: “we don't have it” forbids nothing."""


class Decision(TypedDict):
    text: str
    kind: Literal["chosen", "rejected"]
    by: Literal["user", "agent"]
    line: int
    over: str
    """What it was chosen over, if that was said."""
    why: str
    label: NotRequired[str]
    """What it is, in our words, if it came of a call and not of a sentence."""
    quotes: NotRequired[list[str]]
    """What the text has of others' words: a question and its answer, a plan, what was refused."""
    told: NotRequired[int]
    """Where that call stands."""


class PlanItem(TypedDict):
    id: str
    text: str
    status: str
    line: int
    """Where its status was last set."""
    told: int
    """Where its text stands."""
    blocked_by: list[str]
    wave: int
    """The wave it belongs to, or 0."""


class PlanFile(TypedDict):
    """The plan that a host keeps in a file of its own."""

    path: str
    text: str
    line: int


class Started(TypedDict):
    """A slash command or skill, and what was said with it."""

    name: str
    text: str
    line: int
    at: NotRequired[str]


class FileTrail(TypedDict, total=False):
    """What happened to one file; the line is that of the last thing that did."""

    line: int
    reads: int
    edits: int
    created: int
    """Where it came to be, if it was not there before the session."""
    deleted: int
    """Where it was deleted, if it was there before the session."""
    committed: int
    """How many of the edits a later commit holds."""
    unknown: int
    """An edit whose result was never written down."""
    symbol: str
    told: int
    """Where the file is named, if the line means it by its folder or by a pattern."""


class Check(TypedDict):
    """A command that tells whether things work, with its last outcome."""

    command: str
    kind: str
    ok: bool
    line: int
    """Where its outcome stands."""
    call: int
    """Where the command itself stands."""
    runs: int
    error: list[str]
    where: str


class Commit(TypedDict):
    sha: str
    subject: str
    line: int


class Agent(TypedDict):
    id: str
    call: str
    """The tool call that started it."""
    type: str
    task: str
    status: str
    result: str
    """What it found, in its own last words."""
    files: dict[str, str]
    """What it did itself to files: edited, created, read."""
    line: int
    told: NotRequired[int]
    """Where its task stands."""
    handoff: NotRequired[str]
    """The id of what it handed on, where a view adds it; the fold does not know it."""


class Delivery(TypedDict):
    """A brief of ours as the host wrote it down."""

    id: str
    hook: str
    line: int
    length: int
    checksum: int


class Compaction(TypedDict):
    id: str
    """The host's identity of it: a resumed session's log may begin with another's compaction."""
    line: int
    trigger: str
    before: int
    after: int
    summary_line: int
    reply_line: int
    """The first reply after it: from then on a brief that is not there did not arrive."""
    deliveries: list[Delivery]


class Usage(TypedDict):
    context: int
    window: int
    model: str
    message: str
    line: int
    tool_calls: int
    calls_since_compaction: int
    at_prompt: int
    """The context when the user last spoke."""
    growth: int
    """How much a turn adds, on a moving average."""


class Said(TypedDict):
    text: str
    line: int


class Dirty(TypedDict):
    """What git last said is not committed."""

    files: list[str]
    line: int


class Call(TypedDict):
    """A tool call whose result has not been read yet."""

    name: str
    input: dict[str, Any]
    line: int
    cwd: str
    running: NotRequired[bool]
    """It answered that it goes on: what came of it may be told by a call that does not name it."""


class Waiting(TypedDict):
    """Typed while the agent was at work, and not yet given to it."""

    kind: str
    """prompt or command; empty for what is not a person's."""
    name: str
    text: str
    line: int
    at: str


class State(TypedDict):
    version: int
    lines: int
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
    dirty: Dirty | None
    pull_requests: list[Said]
    last_speaker: Literal["", "user", "agent"]
    """Whose message is the last one; a tool's result counts as the user's, as hosts have it."""
    questions: list[Said]
    """Asked of the user and not yet answered."""
    blockers: list[Said]
    doing: Said | None
    agents: list[Agent]
    commands: list[Started]
    usage: Usage
    compactions: list[Compaction]
    calls: dict[str, Call]
    agent_calls: dict[str, Call]
    """The same, of sub-agents."""
    queue: list[Waiting]
