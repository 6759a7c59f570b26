"""The types of responses, with a description of every field.

Handlers return plain dictionaries and are annotated with these types. The OpenAPI schema is built
from the annotations, and the contract tests check every response against it. Fields may be added
later, so clients should ignore fields that they do not know.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Zone = Literal["green", "yellow", "orange", "red", "critical"]

# Fields that many types share; each has one meaning.
Id = Annotated[str, Meta(description="unique id")]
ProjectId = Annotated[str | None, Meta(description="id of the project; null if not known")]
SessionId = Annotated[str | None, Meta(description="the host's id of the session")]
AgentId = Annotated[
    str,
    Meta(
        description="id of the agent: the session's id for a main agent, else the host's id or "
        "one of your own"
    ),
]
AgentType = Annotated[str, Meta(description="type of agent, such as `Explore`")]
CreatedAt = Annotated[Time, Meta(description="when it was recorded")]
UpdatedAt = Annotated[Time, Meta(description="when it last changed")]
StartedAt = Annotated[Time | None, Meta(description="when work on it began")]
CompletedAt = Annotated[Time | None, Meta(description="when it was finished")]
WorkStatus = Annotated[
    str, Meta(description="status of the work, such as `pending` or `completed`")
]
Metadata = Annotated[
    dict[str, Any], Meta(description="any object, stored unchanged except for secrets")
]
WaveNumber = Annotated[int | None, Meta(description="wave of the task; waves run in this order")]


class ProjectRow(TypedDict):
    id: Id
    path: Annotated[str, Meta(description="folder of the project")]
    name: Annotated[str, Meta(description="display name")]
    metadata: Metadata
    created_at: CreatedAt
    updated_at: UpdatedAt


class WorkRow(TypedDict):
    """Fields of everything that belongs to a project and a session."""

    id: Id
    project_id: ProjectId
    session_id: SessionId
    created_at: CreatedAt
    updated_at: UpdatedAt


class RequestRow(WorkRow):
    prompt: Annotated[str, Meta(description="what the user asked for, verbatim")]
    prompt_type: Annotated[
        str, Meta(description="origin of the prompt: `user`, or a word that you choose")
    ]
    status: WorkStatus
    metadata: Metadata
    completed_at: CompletedAt


class TaskRow(WorkRow):
    request_id: Annotated[str | None, Meta(description="id of the request")]
    name: Annotated[str, Meta(description="what is to be done, in a few words")]
    wave_number: WaveNumber
    status: WorkStatus
    completed_at: CompletedAt


class SubtaskRow(WorkRow):
    task_id: Annotated[str | None, Meta(description="id of the task")]
    task_list_id: Annotated[str, Meta(description="older name of `task_id`, same value")]
    agent_type: AgentType
    agent_id: Annotated[str | None, Meta(description="agent that works on it")]
    description: Annotated[str, Meta(description="what is to be done")]
    status: WorkStatus
    blocked_by: Annotated[list[str], Meta(description="ids of the subtasks that it waits for")]
    result: Annotated[Any, Meta(description="the outcome: any JSON")]
    priority: Annotated[int, Meta(description="from 0 to 10, 10 is the most important")]
    retry_count: Annotated[int, Meta(description="how often it was started again after its end")]
    started_at: StartedAt
    completed_at: CompletedAt


class TaskTree(TaskRow):
    subtasks: Annotated[list[SubtaskRow], Meta(description="subtasks of the task, in order")]


class RequestTree(RequestRow):
    tasks: Annotated[list[TaskTree], Meta(description="tasks of the request, in order")]


class ActionRow(WorkRow):
    subtask_id: Annotated[str | None, Meta(description="id of the subtask")]
    tool_name: Annotated[str, Meta(description="the tool that was called")]
    tool_type: Annotated[str, Meta(description="type of tool, such as `builtin`")]
    input: Annotated[Any, Meta(description="arguments of the call: any JSON")]
    output: Annotated[Any, Meta(description="result of the call: any JSON")]
    file_paths: Annotated[list[str], Meta(description="files that the call read or changed")]
    exit_code: Annotated[int | None, Meta(description="exit code of a command")]
    duration_ms: Annotated[int | None, Meta(description="duration in milliseconds")]
    metadata: Metadata


class WaveRow(TypedDict):
    id: Id
    session_id: SessionId
    wave_number: Annotated[int, Meta(description="number of the wave")]
    status: WorkStatus
    total_tasks: Annotated[int, Meta(description="number of tasks in the wave")]
    completed_tasks: Annotated[int, Meta(description="number of completed tasks")]
    failed_tasks: Annotated[int, Meta(description="number of failed tasks")]
    created_at: CreatedAt
    started_at: StartedAt
    completed_at: CompletedAt
    updated_at: UpdatedAt


class AgentRow(TypedDict):
    id: Id
    agent_id: AgentId
    project_id: ProjectId
    session_id: SessionId
    agent_type: AgentType
    parent_agent_id: Annotated[str | None, Meta(description="agent that started this one")]
    status: Annotated[str, Meta(description="`running`, or the status last reported")]
    current_usage: Annotated[int, Meta(description="tokens in its context")]
    max_capacity: Annotated[int, Meta(description="tokens that its context can hold")]
    consumption_rate: Annotated[
        float, Meta(description="tokens per minute, over the last few minutes")
    ]
    usage_percent: Annotated[float, Meta(description="how full its context is, in percent")]
    remaining: Annotated[int, Meta(description="tokens left in its context")]
    zone: Annotated[
        Zone,
        Meta(description="green; yellow from 50 %, orange from 70, red from 85, critical from 95"),
    ]
    predicted_exhaustion_minutes: Annotated[
        float | None, Meta(description="minutes until its context is full at this rate")
    ]
    should_compact: Annotated[bool, Meta(description="whether the zone is orange or worse")]
    compact_count: Annotated[int, Meta(description="number of compactions")]
    last_compact_at: Annotated[Time | None, Meta(description="when it was last compacted")]
    created_at: CreatedAt
    updated_at: UpdatedAt


class ContextRow(TypedDict):
    id: Id
    project_id: ProjectId
    session_id: SessionId
    agent_id: AgentId
    agent_type: AgentType
    role_context: Annotated[
        dict[str, Any], Meta(description="what the agent knows; of a snapshot, all that was saved")
    ]
    skills_to_restore: Annotated[list[str], Meta(description="skills to load again")]
    tools_used: Annotated[list[str], Meta(description="tools that the agent has used")]
    progress_summary: Annotated[str, Meta(description="progress in words")]
    created_at: CreatedAt
    last_updated: UpdatedAt


class MessageRow(WorkRow):
    from_agent_id: Annotated[str, Meta(description="sender")]
    to_agent_id: Annotated[
        str | None,
        Meta(description="recipient: an agent id, an agent type, or `main`; null for a broadcast"),
    ]
    message_type: Annotated[str, Meta(description="`info`, or a word that you choose")]
    topic: Annotated[str, Meta(description="topic, which agents can subscribe to")]
    payload: Annotated[Any, Meta(description="content: a text or any JSON")]
    priority: Annotated[int, Meta(description="from 0 to 10, 10 is the most important")]
    expires_at: Annotated[Time, Meta(description="when it expires and is no longer delivered")]


class MessageWithReaders(MessageRow):
    read_by: Annotated[list[str], Meta(description="agents that have read it")]


class SubscriptionRow(TypedDict):
    id: Id
    project_id: ProjectId
    agent_id: AgentId
    topic: Annotated[str, Meta(description="topic of the broadcasts that the agent receives")]
    created_at: CreatedAt
    updated_at: UpdatedAt


class BlockingRow(TypedDict):
    id: Id
    project_id: ProjectId
    blocked_id: Annotated[str, Meta(description="agent that waits")]
    blocker_id: Annotated[str, Meta(description="agent that it waits for")]
    reason: Annotated[str, Meta(description="what it waits for, in words")]
    created_at: CreatedAt
    updated_at: UpdatedAt


class SessionSummary(TypedDict):
    id: Annotated[str, Meta(description="the host's id of the session")]
    host: Annotated[str | None, Meta(description="client that the session runs in")]
    project_path: Annotated[str | None, Meta(description="folder of the project")]
    started_at: Annotated[Time, Meta(description="when the session began")]
    seen_at: Annotated[Time, Meta(description="when something was last recorded for it")]
    ended_at: Annotated[Time | None, Meta(description="when it ended, if the host reported it")]
    context_tokens: Annotated[int, Meta(description="tokens in its context, by its transcript")]
    context_window: Annotated[int, Meta(description="tokens that its context can hold")]
    total_tools_used: Annotated[int, Meta(description="number of tool calls")]
    compactions: Annotated[int, Meta(description="number of compactions")]


class SessionDetail(SessionSummary):
    state: Annotated[
        dict[str, Any] | None,
        Meta(description="the whole state, as `holdfast state --json` prints it"),
    ]


class CompactionRow(TypedDict):
    ordinal: Annotated[int, Meta(description="number of the compaction; the first is 1")]
    at: Annotated[Time | None, Meta(description="when it happened")]
    trigger: Annotated[str | None, Meta(description="`auto` or `manual`")]
    tokens_before: Annotated[int | None, Meta(description="tokens in the context before it")]
    tokens_after: Annotated[int | None, Meta(description="tokens in the context after it")]
    tool_calls: Annotated[int | None, Meta(description="tool calls since the one before it")]
    seconds: Annotated[
        float | None,
        Meta(description="how long the host took, or else from the PreCompact hook to the brief"),
    ]
    transcript: Annotated[str, Meta(description="transcript that records it")]
    line: Annotated[int | None, Meta(description="line in that transcript")]
    snapshot: Annotated[str | None, Meta(description="id of the snapshot taken before it")]
    brief_id: Annotated[str | None, Meta(description="marker in the brief that was sent")]
    delivered_by: Annotated[str | None, Meta(description="hook that sent the brief")]
    receipt: Annotated[
        str | None,
        Meta(description="how the brief arrived: whole, cut, twice, never, pending, or unproven"),
    ]


class LossItem(TypedDict):
    kind: Annotated[str, Meta(description="kind of item, such as a rule or a decision")]
    line: Annotated[int, Meta(description="line in the transcript")]
    text: Annotated[str, Meta(description="its text")]


class LossReport(TypedDict, total=False):
    """Empty if neither a snapshot nor the transcript shows what was known before."""

    kept: Annotated[list[LossItem], Meta(description="items that the summary contains")]
    restored: Annotated[list[LossItem], Meta(description="items that the brief added")]
    differs: Annotated[
        list[LossItem], Meta(description="items of which the summary says something else")
    ]
    to_recall: Annotated[
        list[LossItem], Meta(description="items in neither; they can be looked up")
    ]


class RecallHit(TypedDict):
    ref: Annotated[
        str,
        Meta(description="its address: `SESSION:L12`, `SESSION:L12-15`, `SESSION:notes:L3`"),
    ]
    session_id: Annotated[str, Meta(description="the host's id of the session")]
    line: Annotated[int, Meta(description="line in the transcript")]
    kind: Annotated[str, Meta(description="kind of entry, such as `prompt` or `output`")]
    tool: Annotated[str | None, Meta(description="the tool that was called")]
    at: Annotated[Time | None, Meta(description="when it was recorded")]
    before_compaction: Annotated[
        bool, Meta(description="whether it is older than the last compaction")
    ]
    source: Annotated[str, Meta(description="`transcript`, `notes`, or which copy it is from")]
    text: Annotated[str, Meta(description="the text, verbatim")]


class RecallResult(TypedDict):
    hits: Annotated[list[RecallHit], Meta(description="matches within the budget, best first")]
    left_out: Annotated[int, Meta(description="number of matches that did not fit")]
    notes: Annotated[list[str], Meta(description="remarks on this answer")]


# Lists


class Page(TypedDict):
    """The field that every list has besides its rows."""

    next: Annotated[
        str | None, Meta(description="cursor of the next page, to send as `page`; null at the end")
    ]


class ProjectList(Page):
    projects: Annotated[list[ProjectRow], Meta(description="projects, newest first")]


class Hierarchy(Page):
    project: Annotated[ProjectRow, Meta(description="the project")]
    requests: Annotated[
        list[RequestTree], Meta(description="its newest requests, in the order they were made")
    ]


class RequestList(Page):
    requests: Annotated[list[RequestRow], Meta(description="requests, newest first")]


class TaskList(Page):
    tasks: Annotated[list[TaskRow], Meta(description="tasks, newest first")]


class SubtaskList(Page):
    subtasks: Annotated[list[SubtaskRow], Meta(description="subtasks, newest first")]


class ActionList(Page):
    actions: Annotated[list[ActionRow], Meta(description="tool calls, newest first")]


class AgentList(Page):
    agents: Annotated[list[AgentRow], Meta(description="agents, newest first")]


class WaveList(Page):
    waves: Annotated[list[WaveRow], Meta(description="waves, in order")]


class MessageList(Page):
    messages: Annotated[
        list[MessageWithReaders],
        Meta(description="messages, newest first; in an inbox the most important first"),
    ]


class SubscriptionList(Page):
    subscriptions: Annotated[list[SubscriptionRow], Meta(description="subscriptions, newest first")]


class BlockingList(Page):
    blocking: Annotated[
        list[BlockingRow], Meta(description="what the agent waits for, newest first")
    ]


class ContextList(Page):
    contexts: Annotated[list[ContextRow], Meta(description="contexts, newest first")]


class SessionList(Page):
    sessions: Annotated[list[SessionSummary], Meta(description="sessions, newest first")]


class CompactionList(Page):
    compactions: Annotated[list[CompactionRow], Meta(description="compactions, oldest first")]


# Other responses


class CurrentWave(TypedDict):
    wave: Annotated[WaveRow | None, Meta(description="the wave; null if there is none")]


class Unsubscribed(TypedDict):
    removed: Annotated[bool, Meta(description="whether there was such a subscription")]


class Unblocked(TypedDict):
    removed: Annotated[int, Meta(description="number of entries removed")]


class BlockingCheck(TypedDict):
    blocked: Annotated[bool, Meta(description="whether the agent waits for another")]
    blocked_by: Annotated[list[str], Meta(description="ids of the agents that it waits for")]


class SavedSnapshot(TypedDict):
    id: Id
    saved_at: Annotated[Time, Meta(description="when it was saved")]


class RestoredContext(TypedDict):
    additionalContext: Annotated[str, Meta(description="text to give to the agent")]


class SnapshotStatus(TypedDict):
    session_id: Annotated[str, Meta(description="the host's id of the session")]
    has_snapshot: Annotated[bool, Meta(description="whether there is a snapshot")]
    last_saved_at: Annotated[Time | None, Meta(description="when the latest was saved")]


class Health(TypedDict):
    status: Annotated[str, Meta(description="`healthy`")]
    version: NotRequired[
        Annotated[str, Meta(description="version of the server; left out for unknown callers")]
    ]
    database: NotRequired[
        Annotated[str, Meta(description="`sqlite` or `postgres`; left out for unknown callers")]
    ]


class FieldError(TypedDict):
    field: Annotated[str, Meta(description="path of the field")]
    message: Annotated[str, Meta(description="why its value was refused")]


class Problem(TypedDict):
    """An error (RFC 9457), often with a hint."""

    type: Annotated[str, Meta(description="always `about:blank`")]
    title: Annotated[str, Meta(description="the error in a few words")]
    status: Annotated[int, Meta(description="the HTTP status")]
    detail: Annotated[str, Meta(description="what exactly went wrong")]
    hint: NotRequired[Annotated[str, Meta(description="what to do about it")]]
    errors: NotRequired[
        Annotated[list[FieldError], Meta(description="fields that were refused, and why")]
    ]
