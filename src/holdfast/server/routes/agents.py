"""Agents, and how full their contexts are."""

from __future__ import annotations

import time

from litestar import Router, get, post
from litestar.params import JSONBody

from holdfast.errors import NotFound
from holdfast.ledger import agents
from holdfast.ledger.schema import AGENTS
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import (
    AgentFilter,
    AgentPath,
    AgentReport,
    AgentTypeFilter,
    Cursor,
    IdFilter,
    Limit,
    ProjectFilter,
    SessionFilter,
    StatusFilter,
    TokenUsage,
)
from holdfast.server.responses import AgentList, AgentRow
from holdfast.server.rows import list_rows, to_agent


@post("/agents", sync_to_thread=True)
def report_agent(databases: CallerDatabases, data: JSONBody[AgentReport]) -> AgentRow:
    """Create or update an agent, and record how full its context is. Fields that are not sent keep
    their values.
    """
    with databases.connect() as db:
        row = agents.record_agent(
            db.ledger, time.time(), agent_id=data.agent_id, session=data.session_id,
            project=db.find_project(data.project_id),
            session_project=db.find_session_project(data.session_id), agent_type=data.agent_type,
            parent=data.parent_agent_id or "", status=data.status, used=data.current_usage,
            capacity=data.max_capacity,
        )  # fmt: skip
    return to_agent(row, time.time())


@get("/agents", sync_to_thread=True)
def list_agents(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    session_id: SessionFilter = None,
    project_id: ProjectFilter = None,
    agent_type: AgentTypeFilter = None,
    agent_id: AgentFilter = None,
    status: StatusFilter = None,
    id: IdFilter = None,
) -> AgentList:
    """List agents with their capacity, newest first."""
    with databases.connect() as db:
        rows, cursor = list_rows(
            db, AGENTS, limit, page, session=session_id, project=project_id,
            agent_type=agent_type, agent_id=agent_id, status=status, id=id,
        )  # fmt: skip
    now = time.time()
    return {"agents": [to_agent(row, now) for row in rows], "next": cursor}


@get("/capacity/{ident:str}", sync_to_thread=True)
def get_capacity(
    databases: CallerDatabases, ident: AgentPath, session_id: SessionFilter = None
) -> AgentRow:
    """Get how full an agent's context is, how fast it fills up, and when it will be full."""
    with databases.connect() as db:
        row = agents.find_latest(db.ledger, ident, session_id)
    if row is None:
        raise NotFound(f"No agent {ident} is recorded")
    return to_agent(row, time.time())


@post("/capacity/{ident:str}/reset", sync_to_thread=True, status_code=200)
def reset_capacity(
    databases: CallerDatabases, ident: AgentPath, session_id: SessionFilter = None
) -> AgentRow:
    """Record that an agent was compacted. Its usage is set to zero."""
    with databases.connect() as db:
        row = agents.find_latest(db.ledger, ident, session_id)
        if row is None:
            raise NotFound(f"No agent {ident} is recorded")
        now = time.time()
        return to_agent(agents.record_compaction(db.ledger, row, now), now)


@post("/tokens/track", sync_to_thread=True)
def track_tokens(databases: CallerDatabases, data: JSONBody[TokenUsage]) -> AgentRow:
    """Add the tokens of a call to an agent's context."""
    with databases.connect() as db:
        row = agents.add_usage(
            db.ledger, data.agent_id, data.session_id, data.input_tokens + data.output_tokens,
            time.time(),
        )  # fmt: skip
    return to_agent(row, time.time())


def create_router() -> Router:
    return Router(
        "/api",
        tags=["agents"],
        route_handlers=[report_agent, list_agents, get_capacity, reset_capacity, track_tokens],
    )
