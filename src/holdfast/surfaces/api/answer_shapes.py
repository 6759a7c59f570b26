"""Which answer each request gets, for the description of the API: nothing here runs with one."""

from __future__ import annotations

from typing import Any, TypedDict

from holdfast.surfaces.api.answer_rows import (
    ActionRow,
    AgentRow,
    BlockingRow,
    CompactionRow,
    ContextRow,
    HitRow,
    ListedMessage,
    LostItem,
    MessageRow,
    ProjectRow,
    RequestRow,
    RequestTree,
    SessionRow,
    SubscriptionRow,
    SubtaskRow,
    TaskRow,
    Time,
    WaveRow,
    WholeSession,
)


class Listed(TypedDict):
    next: str | None
    """Where the next page begins, to be given back as `page`; null at the end."""


class Projects(Listed):
    projects: list[ProjectRow]


class Tree(Listed):
    project: ProjectRow
    requests: list[RequestTree]


class Requests(Listed):
    requests: list[RequestRow]


class Tasks(Listed):
    tasks: list[TaskRow]


class Subtasks(Listed):
    subtasks: list[SubtaskRow]


class Actions(Listed):
    actions: list[ActionRow]


class Agents(Listed):
    agents: list[AgentRow]


class Waves(Listed):
    waves: list[WaveRow]


class OneWave(TypedDict):
    wave: WaveRow | None


class Messages(Listed):
    messages: list[ListedMessage]


class Subscriptions(Listed):
    subscriptions: list[SubscriptionRow]


class Blockings(Listed):
    blocking: list[BlockingRow]


class Unsubscribed(TypedDict):
    removed: bool


class Unblocked(TypedDict):
    removed: int


class Waiting(TypedDict):
    blocked: bool
    blocked_by: list[str]


class Contexts(Listed):
    contexts: list[ContextRow]


class SavedSnapshot(TypedDict):
    id: str
    saved_at: Time


class Restored(TypedDict):
    additionalContext: str


class SnapshotStatus(TypedDict):
    session_id: str
    has_snapshot: bool
    last_saved_at: Time | None


class Sessions(Listed):
    sessions: list[SessionRow]


class Compactions(Listed):
    compactions: list[CompactionRow]


class LossReport(TypedDict, total=False):
    kept: list[LostItem]
    restored: list[LostItem]
    to_recall: list[LostItem]


class Health(TypedDict):
    status: str
    version: str
    database: str


class Recalled(TypedDict):
    hits: list[HitRow]
    left_out: int
    notes: list[str]


ANSWERS: dict[str, Any] = {
    "GET /api/projects": Projects,
    "POST /api/projects": ProjectRow,
    "GET /api/projects/by-path": ProjectRow,
    "GET /api/projects/{ident}": ProjectRow,
    "GET /api/hierarchy/{project_id}": Tree,
    "GET /api/requests": Requests,
    "POST /api/requests": RequestRow,
    "GET /api/requests/{ident}": RequestRow,
    "PATCH /api/requests/{ident}": RequestRow,
    "GET /api/tasks": Tasks,
    "POST /api/tasks": TaskRow,
    "GET /api/tasks/{ident}": TaskRow,
    "PATCH /api/tasks/{ident}": TaskRow,
    "GET /api/subtasks": Subtasks,
    "POST /api/subtasks": SubtaskRow,
    "GET /api/subtasks/{ident}": SubtaskRow,
    "PATCH /api/subtasks/{ident}": SubtaskRow,
    "GET /api/actions": Actions,
    "POST /api/actions": ActionRow,
    "GET /api/actions/{ident}": ActionRow,
    "GET /api/agents": Agents,
    "POST /api/agents": AgentRow,
    "GET /api/capacity/{ident}": AgentRow,
    "POST /api/capacity/{ident}/reset": AgentRow,
    "POST /api/tokens/track": AgentRow,
    "POST /api/waves/{session_id}/create": OneWave,
    "POST /api/waves/{session_id}/start": OneWave,
    "POST /api/waves/{session_id}/transition": OneWave,
    "GET /api/waves/{session_id}/current": OneWave,
    "GET /api/waves/{session_id}/history": Waves,
    "GET /api/messages": Messages,
    "POST /api/messages": MessageRow,
    "GET /api/messages/{ident}": Messages,
    "POST /api/messages/{ident}/read": ListedMessage,
    "POST /api/subscribe": SubscriptionRow,
    "POST /api/unsubscribe": Unsubscribed,
    "GET /api/subscriptions": Subscriptions,
    "POST /api/blocking": BlockingRow,
    "POST /api/unblock": Unblocked,
    "GET /api/blocking/check": Waiting,
    "GET /api/blocking/{ident}": Blockings,
    "POST /api/compact/save": SavedSnapshot,
    "POST /api/compact/restore": Restored,
    "GET /api/compact/status/{session_id}": SnapshotStatus,
    "GET /api/compact/snapshot/{session_id}": ContextRow,
    "GET /api/agent-contexts": Contexts,
    "GET /api/agent-contexts/{ident}": ContextRow,
    "POST /api/agent-contexts": ContextRow,
    "GET /api/sessions": Sessions,
    "GET /api/sessions/{ident}": WholeSession,
    "GET /api/compactions": Compactions,
    "GET /api/compactions/{number}/losses": LossReport,
    "GET /api/recall": Recalled,
    "POST /api/recall": Recalled,
    "GET /api/recall/{ref}": Recalled,
    "GET /health": Health,
    "GET /stats": dict[str, int],
}
