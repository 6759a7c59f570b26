"""The types of request bodies, path and query parameters, each with its description and limits.

Unknown fields of a body are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar.params import PathParameter, QueryParameter
from msgspec import UNSET, Meta, Struct

from holdfast.ledger.actions import build_action, make_action_id
from holdfast.ledger.schema import make_random_id
from holdfast.server.databases import normalize_id

# Limits

Name = Annotated[str, Meta(max_length=500)]
NonEmptyName = Annotated[str, Meta(min_length=1, max_length=500)]
Text = Annotated[str, Meta(max_length=200_000)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
ExitCode = Annotated[int, Meta(ge=-(2**31), le=2**32)]
Wave = Annotated[int, Meta(ge=0, le=10_000)]
Names = Annotated[list[Annotated[str, Meta(max_length=4096)]], Meta(max_length=1000)]
Status = Literal["pending", "running", "paused", "blocked", "completed", "failed", "cancelled"]
RequestStatus = Literal["active", "completed", "failed", "cancelled", "pending"]

# Fields of bodies that several types share; each has one meaning.

PROJECT_ID = "id of the project"
SESSION_ID = "the host's id of the session"
AGENT_ID = (
    "id of the agent: the session's id for a main agent, else the host's id or one of your own"
)
AGENT_TYPE = "type of agent, such as `Explore` or `backend-laravel`"
TOPIC = "topic, which agents can subscribe to"
ROW_ID = "id that you choose: a request that is sent again with it creates no second row"

ProjectId = Annotated[Name | None, Meta(description=PROJECT_ID)]
SessionId = Annotated[Name, Meta(description=SESSION_ID)]
RequiredSessionId = Annotated[
    NonEmptyName, Meta(description=SESSION_ID, examples=["session-abc123"])
]
AgentId = Annotated[NonEmptyName, Meta(description=AGENT_ID, examples=["backend"])]
AgentType = Annotated[Name, Meta(description=AGENT_TYPE)]
Metadata = Annotated[
    dict[str, Any], Meta(description="any object, stored unchanged except for secrets")
]
IdempotencyKey = Annotated[
    str,
    Meta(
        max_length=200,
        description="idempotency key: a request that is sent again with it returns the same row",
    ),
]
WorkStatus = Annotated[Status, Meta(description="status of the work")]
WorkStatusOrNone = Annotated[Status | None, Meta(description="status of the work")]
Priority = Annotated[int, Meta(ge=0, le=10, description="from 0 to 10, 10 is the most important")]
BlockedId = Annotated[NonEmptyName, Meta(description="agent that waits", examples=["frontend"])]

# Parameters of paths and queries

RowId = Annotated[str, PathParameter(description="id of the row")]
AgentPath = Annotated[str, PathParameter(description="the agent's id")]
ProjectPath = Annotated[str, PathParameter(description=PROJECT_ID)]
SessionPath = Annotated[str, PathParameter(description=SESSION_ID)]

Limit = Annotated[int, QueryParameter(ge=1, le=1000, description="maximum number of rows")]
Cursor = Annotated[
    str | None, QueryParameter(max_length=2000, description="`next` of the previous page")
]
FolderQuery = Annotated[
    str,
    QueryParameter(
        min_length=1, max_length=4096, description="folder of the project, or any folder in it"
    ),
]
SessionQuery = Annotated[str, QueryParameter(min_length=1, max_length=500, description=SESSION_ID)]
BlockedQuery = Annotated[
    str, QueryParameter(min_length=1, max_length=500, description="agent that waits")
]
WaveFilter = Annotated[
    int | None, QueryParameter(ge=0, le=10_000, description="number of the wave")
]


def _make_filter(description: str) -> QueryParameter:
    return QueryParameter(max_length=4096, description=description)


IdFilter = Annotated[str | None, _make_filter("id of the row")]
ProjectFilter = Annotated[str | None, _make_filter(PROJECT_ID)]
SessionFilter = Annotated[str | None, _make_filter(SESSION_ID)]
RequestFilter = Annotated[str | None, _make_filter("id of the request")]
TaskFilter = Annotated[str | None, _make_filter("id of the task")]
TaskListFilter = Annotated[str | None, _make_filter("older name of `task_id`")]
SubtaskFilter = Annotated[str | None, _make_filter("id of the subtask")]
AgentFilter = Annotated[str | None, _make_filter(AGENT_ID)]
AgentTypeFilter = Annotated[str | None, _make_filter(AGENT_TYPE)]
StatusFilter = Annotated[
    str | None, _make_filter("status of the work, such as `pending` or `completed`")
]
ToolFilter = Annotated[str | None, _make_filter("the tool that was called")]
TopicFilter = Annotated[str | None, _make_filter(TOPIC)]
SenderFilter = Annotated[str | None, _make_filter("sender")]
RecipientFilter = Annotated[str | None, _make_filter("recipient: an agent id, a type, or `main`")]
BlockerFilter = Annotated[str | None, _make_filter("agent that it waits for")]
FolderFilter = Annotated[str | None, _make_filter("folder of the project")]
AgentProject = Annotated[
    str | None, QueryParameter(max_length=500, description="project that the agent works in")
]
AgentSession = Annotated[
    str | None, QueryParameter(max_length=500, description="session that the agent works in")
]

# Bodies


class NewProject(Struct):
    # The column is in an index, and PostgreSQL limits the size of an index entry.
    path: Annotated[
        str,
        Meta(
            min_length=1, max_length=1000, examples=["/home/ada/courier"],
            description="folder of the project",
        ),
    ]  # fmt: skip
    name: Annotated[Name, Meta(description="display name")] = ""
    metadata: Metadata = {}


class NewRequest(Struct):
    session_id: RequiredSessionId
    prompt: Annotated[
        Text,
        Meta(description="what the user asked for, verbatim", examples=["Add authentication"]),
    ]
    project_id: ProjectId = None
    prompt_type: Annotated[
        Name, Meta(description="origin of the prompt: `user`, or a word that you choose")
    ] = "user"
    status: Annotated[RequestStatus, Meta(description="status of the work")] = "active"
    metadata: Metadata = {}
    key: IdempotencyKey = ""


class RequestUpdate(Struct):
    status: Annotated[RequestStatus, Meta(description="status of the work", examples=["completed"])]


class NewTask(Struct):
    request_id: Annotated[
        NonEmptyName, Meta(description="id of the request", examples=["the id of a request"])
    ]
    name: Annotated[
        str,
        Meta(
            min_length=1, max_length=10_000, examples=["Backend"],
            description="what is to be done, in a few words",
        ),
    ]  # fmt: skip
    wave_number: Annotated[
        Wave | None, Meta(description="wave of the task; waves run in this order")
    ] = None
    status: WorkStatus = "pending"
    key: IdempotencyKey = ""


class TaskUpdate(Struct):
    status: WorkStatusOrNone = None
    wave_number: Annotated[
        Wave | None, Meta(description="wave of the task; waves run in this order")
    ] = None


class NewSubtask(Struct):
    description: Annotated[
        str,
        Meta(
            min_length=1, max_length=50_000, examples=["Create the user model"],
            description="what is to be done",
        ),
    ]  # fmt: skip
    task_id: Annotated[Name, Meta(description="id of the task")] = ""
    task_list_id: Annotated[Name, Meta(description="older name of `task_id`")] = ""
    agent_type: AgentType = ""
    agent_id: Annotated[Name | None, Meta(description="agent that works on it")] = None
    status: WorkStatus = "pending"
    blocked_by: Annotated[Names, Meta(description="ids of the subtasks that it waits for")] = []
    priority: Priority = 5
    key: IdempotencyKey = ""


class SubtaskUpdate(Struct):
    status: WorkStatusOrNone = None
    result: Annotated[Any, Meta(description="the outcome: any JSON")] = UNSET
    agent_id: Annotated[Name | None, Meta(description="agent that works on it")] = None
    blocked_by: Annotated[
        Names | None, Meta(description="ids of the subtasks that it waits for")
    ] = None
    priority: Annotated[
        Annotated[int, Meta(ge=0, le=10)] | None,
        Meta(description="from 0 to 10, 10 is the most important"),
    ] = None


class NewAction(Struct):
    tool_name: Annotated[
        NonEmptyName, Meta(description="the tool that was called", examples=["Bash"])
    ]
    tool_type: Annotated[Name, Meta(description="type of tool, such as `builtin`")] = "builtin"
    session_id: SessionId = ""
    project_id: ProjectId = None
    subtask_id: Annotated[Name | None, Meta(description="id of the subtask")] = None
    tool_use_id: Annotated[
        Name,
        Meta(description="the host's id of the call; the same call in the transcript is one row"),
    ] = ""
    input: Annotated[Any, Meta(description="arguments of the call: any JSON")] = None
    output: Annotated[Any, Meta(description="result of the call: any JSON")] = None
    file_paths: Annotated[Names, Meta(description="files that the call read or changed")] = []
    exit_code: Annotated[ExitCode | None, Meta(description="exit code of a command")] = None
    duration_ms: Annotated[Count | None, Meta(description="duration in milliseconds")] = None
    metadata: Metadata = {}
    id: Annotated[Name, Meta(description=ROW_ID)] = ""

    def to_row(self, now: float, project: str) -> dict[str, Any]:
        """Return the action as a row of the ledger."""
        known = make_action_id(self.session_id, self.tool_use_id) if self.tool_use_id else self.id
        return build_action(
            now, ident=known or make_random_id(now), tool_name=self.tool_name,
            tool_type=self.tool_type, session=self.session_id, project=project,
            subtask=normalize_id(self.subtask_id),
            tool_input=self.input, output=self.output, file_paths=self.file_paths,
            exit_code=self.exit_code, duration_ms=self.duration_ms, metadata=self.metadata,
        )  # fmt: skip


class NewMessage(Struct):
    from_agent_id: Annotated[NonEmptyName, Meta(description="sender", examples=["backend"])]
    topic: Annotated[Name, Meta(description=TOPIC)] = ""
    to_agent_id: Annotated[
        Name | None,
        Meta(description="recipient: an agent id, an agent type, or `main`; null for a broadcast"),
    ] = None
    message_type: Annotated[Name, Meta(description="`info`, or a word that you choose")] = "info"
    payload: Annotated[Any, Meta(description="content: a text or any JSON")] = None
    priority: Priority = 5
    ttl_seconds: Annotated[
        Annotated[float, Meta(gt=0, le=86_400)] | None,
        Meta(description="seconds until it expires: 3600 by default, a day at most"),
    ] = None
    ttl_ms: Annotated[
        Annotated[int, Meta(gt=0, le=86_400_000)] | None,
        Meta(description="the same in milliseconds; it takes precedence"),
    ] = None
    project_id: ProjectId = None
    session_id: SessionId = ""
    id: Annotated[Name, Meta(description=ROW_ID)] = ""


class MessageReader(Struct):
    agent_id: AgentId


class NewSubscription(Struct):
    agent_id: AgentId
    topic: Annotated[NonEmptyName, Meta(description=TOPIC, examples=["api"])]
    project_id: ProjectId = None


class NewBlocking(Struct):
    blocked_id: BlockedId
    blocker_id: Annotated[
        NonEmptyName, Meta(description="agent that it waits for", examples=["backend"])
    ]
    reason: Annotated[Name, Meta(description="what it waits for, in words")] = ""
    project_id: ProjectId = None


class Unblocking(Struct):
    blocked_id: BlockedId
    blocker_id: Annotated[
        NonEmptyName | None, Meta(description="agent that it waited for; all of them if null")
    ] = None
    project_id: ProjectId = None


class NewContext(Struct):
    agent_id: AgentId
    agent_type: Annotated[NonEmptyName, Meta(description=AGENT_TYPE, examples=["backend-laravel"])]
    session_id: SessionId = ""
    project_id: ProjectId = None
    role_context: Annotated[
        dict[str, Any], Meta(description="what the agent knows: any object")
    ] = {}
    skills_to_restore: Annotated[Names, Meta(description="skills to load again")] = []
    tools_used: Annotated[Names, Meta(description="tools that the agent has used")] = []
    progress_summary: Annotated[Text, Meta(description="progress in words")] = ""


class SnapshotToSave(Struct):
    """The fields of a snapshot that the server reads; all others are stored unchanged."""

    session_id: RequiredSessionId
    project_id: ProjectId = None
    cwd: Annotated[
        Annotated[str, Meta(max_length=4096)] | None,
        Meta(description="folder that the agent works in; the project is found by it"),
    ] = None


class ContextToRestore(Struct):
    session_id: RequiredSessionId
    agent_id: Annotated[Name, Meta(description=AGENT_ID)] = ""
    agent_type: AgentType = ""
    max_tokens: Annotated[
        int, Meta(ge=1, le=100_000, description="maximum number of tokens in the answer")
    ] = 2000


class WaveSelection(Struct):
    wave_number: Annotated[
        Wave | None, Meta(description="number of the wave; the next one if null")
    ] = None
    force: Annotated[
        bool, Meta(description="end the running wave even if some of its tasks are open")
    ] = False


class TokenUsage(Struct):
    agent_id: AgentId
    session_id: SessionId = ""
    tool_name: Annotated[Name, Meta(description="the tool that was called")] = ""
    input_tokens: Annotated[Count, Meta(description="tokens of the input")] = 0
    output_tokens: Annotated[Count, Meta(description="tokens of the output")] = 0


class AgentReport(Struct):
    agent_id: AgentId
    session_id: SessionId = ""
    project_id: ProjectId = None
    agent_type: AgentType = ""
    parent_agent_id: Annotated[Name | None, Meta(description="agent that started this one")] = None
    status: Annotated[
        Name | None, Meta(description="what it is doing, in a word that you choose")
    ] = None
    current_usage: Annotated[Count | None, Meta(description="tokens in its context")] = None
    max_capacity: Annotated[
        Annotated[int, Meta(ge=1, le=2**53)] | None,
        Meta(description="tokens that its context can hold"),
    ] = None
