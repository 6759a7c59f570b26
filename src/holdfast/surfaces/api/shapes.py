"""What callers may send. Unknown fields are ignored; sizes and numbers have limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar.params import QueryParameter
from msgspec import UNSET, Meta, Struct, json

from holdfast.actions.shared_restore import Wanted
from holdfast.ledger import ids
from holdfast.ledger.actions import action, call_id
from holdfast.surfaces.api.named import plain

Name = Annotated[str, Meta(max_length=500)]
Ident = Annotated[str, Meta(min_length=1, max_length=500)]
Key = Annotated[str, Meta(max_length=200)]
Path = Annotated[str, Meta(min_length=1, max_length=4096)]
# A database has it in an index.
ProjectPath = Annotated[str, Meta(min_length=1, max_length=1000)]
Text = Annotated[str, Meta(max_length=200_000)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Code = Annotated[int, Meta(ge=-(2**31), le=2**32)]
Wave = Annotated[int, Meta(ge=0, le=10_000)]
Priority = Annotated[int, Meta(ge=0, le=10)]
Names = Annotated[list[Annotated[str, Meta(max_length=4096)]], Meta(max_length=1000)]
Status = Literal["pending", "running", "paused", "blocked", "completed", "failed", "cancelled"]
RequestStatus = Literal["active", "completed", "failed", "cancelled", "pending"]

Limit = Annotated[int, QueryParameter(ge=1, le=1000)]
Page = Annotated[str | None, QueryParameter(max_length=2000)]
WaveFilter = Annotated[int | None, QueryParameter(ge=0, le=10_000)]
Where = Annotated[str | None, QueryParameter(description="where the agent is", max_length=500)]
Filter = Annotated[str | None, QueryParameter(max_length=4096)]


class NewProject(Struct):
    path: ProjectPath
    name: Name = ""
    metadata: dict[str, Any] = {}


class NewRequest(Struct):
    session_id: Ident
    prompt: Text
    project_id: Name | None = None
    prompt_type: Name = "user"
    status: RequestStatus = "active"
    metadata: dict[str, Any] = {}
    key: Key = ""


class ChangedRequest(Struct):
    status: RequestStatus


class NewTask(Struct):
    request_id: Ident
    name: Annotated[str, Meta(min_length=1, max_length=10_000)]
    wave_number: Wave | None = None
    status: Status = "pending"
    key: Key = ""


class ChangedTask(Struct):
    status: Status | None = None
    wave_number: Wave | None = None


class NewSubtask(Struct):
    description: Annotated[str, Meta(min_length=1, max_length=50_000)]
    task_id: Name = ""
    task_list_id: Name = ""
    agent_type: Name = ""
    agent_id: Name | None = None
    status: Status = "pending"
    blocked_by: Names = []
    priority: Priority = 5
    key: Key = ""


class ChangedSubtask(Struct):
    status: Status | None = None
    result: Any = UNSET
    agent_id: Name | None = None
    blocked_by: Names | None = None
    priority: Priority | None = None


class NewAction(Struct):
    tool_name: Ident
    tool_type: Name = "builtin"
    session_id: Name = ""
    project_id: Name | None = None
    subtask_id: Name | None = None
    tool_use_id: Name = ""
    input: Any = None
    output: Any = None
    file_paths: Names = []
    exit_code: Code | None = None
    duration_ms: Count | None = None
    metadata: dict[str, Any] = {}
    id: Name = ""

    def row(self, now: float, project: str) -> dict[str, Any]:
        """As the ledger keeps it."""
        known = call_id(self.session_id, self.tool_use_id) if self.tool_use_id else self.id
        return action(
            now, ident=known or ids.fresh(now), tool_name=self.tool_name, tool_type=self.tool_type,
            session=self.session_id, project=project, subtask=plain(self.subtask_id),
            given=self.input, output=self.output, file_paths=self.file_paths,
            exit_code=self.exit_code, duration_ms=self.duration_ms, metadata=self.metadata,
        )  # fmt: skip


class NewMessage(Struct):
    from_agent_id: Ident
    topic: Name = ""
    to_agent_id: Name | None = None
    message_type: Name = "info"
    payload: Any = None
    priority: Priority = 5
    ttl_seconds: Annotated[float, Meta(gt=0, le=86_400)] | None = None
    ttl_ms: Annotated[int, Meta(gt=0, le=86_400_000)] | None = None
    project_id: Name | None = None
    session_id: Name = ""
    id: Name = ""


class Reader(Struct):
    agent_id: Ident


class Subscription(Struct):
    agent_id: Ident
    topic: Ident
    project_id: Name | None = None


class Blocking(Struct):
    blocked_id: Ident
    blocker_id: Ident
    reason: Name = ""
    project_id: Name | None = None


class Unblocking(Struct):
    blocked_id: Ident
    blocker_id: Ident | None = None
    project_id: Name | None = None


class NewContext(Struct):
    agent_id: Ident
    agent_type: Ident
    session_id: Name = ""
    project_id: Name | None = None
    role_context: dict[str, Any] = {}
    skills_to_restore: Names = []
    tools_used: Names = []
    progress_summary: Text = ""


class Saved(Struct):
    """What a snapshot must say; whatever else it holds is kept as it is."""

    session_id: Ident
    project_id: Name | None = None
    cwd: Annotated[str, Meta(max_length=4096)] | None = None


def saved_text(body: dict[str, Any]) -> str:
    """A snapshot as it is kept, and by which it is named: whichever way it came, the same."""
    return json.encode(body).decode()


class Restore(Struct):
    session_id: Ident
    agent_id: Name = ""
    agent_type: Name = ""
    max_tokens: Annotated[int, Meta(ge=1, le=100_000)] = 2000

    def wanted(self) -> Wanted:
        return Wanted(self.session_id, self.agent_id, self.agent_type, self.max_tokens)


class WaveNumber(Struct):
    wave_number: Wave | None = None
    force: bool = False


class Consumption(Struct):
    agent_id: Ident
    session_id: Name = ""
    tool_name: Name = ""
    input_tokens: Count = 0
    output_tokens: Count = 0


class SeenAgent(Struct):
    agent_id: Ident
    session_id: Name = ""
    project_id: Name | None = None
    agent_type: Name = ""
    parent_agent_id: Name | None = None
    status: Name | None = None
    current_usage: Count | None = None
    max_capacity: Annotated[int, Meta(ge=1, le=2**53)] | None = None
