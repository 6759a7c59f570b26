"""What callers are told of each thing, for the description of the API; `answers.py` makes it.

Whoever is told more than this need not mind: fields are added now and then.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Zone = Literal["green", "yellow", "orange", "red", "critical"]


class ProjectRow(TypedDict):
    id: str
    path: str
    name: str
    metadata: dict[str, Any]
    created_at: Time
    updated_at: Time


class Placed(TypedDict):
    id: str
    project_id: str | None
    session_id: str | None
    created_at: Time
    updated_at: Time


class RequestRow(Placed):
    prompt: str
    prompt_type: str
    status: str
    metadata: dict[str, Any]
    completed_at: Time | None


class TaskRow(Placed):
    request_id: str | None
    name: str
    wave_number: int | None
    status: str
    completed_at: Time | None


class SubtaskRow(Placed):
    task_id: str | None
    task_list_id: str
    agent_type: str
    agent_id: str | None
    description: str
    status: str
    blocked_by: list[str]
    result: Any
    priority: int
    retry_count: int
    started_at: Time | None
    completed_at: Time | None


class TaskTree(TaskRow):
    subtasks: list[SubtaskRow]


class RequestTree(RequestRow):
    tasks: list[TaskTree]


class ActionRow(Placed):
    subtask_id: str | None
    tool_name: str
    tool_type: str
    input: Any
    output: Any
    file_paths: list[str]
    exit_code: int | None
    duration_ms: int | None
    metadata: dict[str, Any]


class WaveRow(TypedDict):
    id: str
    session_id: str | None
    wave_number: int
    status: str
    total_tasks: int
    completed_tasks: int
    failed_tasks: int
    created_at: Time
    started_at: Time | None
    completed_at: Time | None
    updated_at: Time


class AgentRow(TypedDict):
    id: str
    agent_id: str
    project_id: str | None
    session_id: str | None
    agent_type: str
    parent_agent_id: str | None
    status: str
    current_usage: int
    max_capacity: int
    consumption_rate: float
    usage_percent: float
    remaining: int
    zone: Zone
    predicted_exhaustion_minutes: float | None
    should_compact: bool
    compact_count: int
    last_compact_at: Time | None
    created_at: Time
    updated_at: Time


class ContextRow(TypedDict):
    id: str
    project_id: str | None
    session_id: str | None
    agent_id: str
    agent_type: str
    role_context: dict[str, Any]
    skills_to_restore: list[str]
    tools_used: list[str]
    progress_summary: str
    created_at: Time
    last_updated: Time


class MessageRow(Placed):
    from_agent_id: str
    to_agent_id: str | None
    message_type: str
    topic: str
    payload: Any
    priority: int
    expires_at: Time


class ListedMessage(MessageRow):
    read_by: list[str]


class SubscriptionRow(TypedDict):
    id: str
    project_id: str | None
    agent_id: str
    topic: str
    created_at: Time
    updated_at: Time


class BlockingRow(TypedDict):
    id: str
    project_id: str | None
    blocked_id: str
    blocker_id: str
    reason: str
    created_at: Time
    updated_at: Time


class SessionRow(TypedDict):
    id: str
    host: str | None
    project_path: str | None
    started_at: Time
    seen_at: Time
    ended_at: Time | None
    context_tokens: int
    context_window: int
    total_tools_used: int
    compactions: int


class WholeSession(SessionRow):
    state: dict[str, Any] | None


class CompactionRow(TypedDict):
    ordinal: int
    at: Time | None
    trigger: str | None
    tokens_before: int | None
    tokens_after: int | None
    seconds: float | None
    transcript: str
    line: int | None
    snapshot: str | None
    brief_id: str | None
    delivered_by: str | None
    receipt: str | None


class LostItem(TypedDict):
    kind: str
    line: int
    text: str


class HitRow(TypedDict):
    ref: str
    session_id: str
    line: int
    kind: str
    tool: str | None
    at: Time | None
    before_compaction: bool
    source: str
    text: str
