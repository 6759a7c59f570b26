"""Look up anything said, done or printed in a session, by words or by ref, within a token limit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from litestar import Router, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import JSONBody, PathParameter, QueryParameter
from msgspec import Meta, Struct

from holdfast.errors import Forbidden, InvalidInput, NotFound
from holdfast.ledger import projects
from holdfast.search.documents import KINDS
from holdfast.search.search import Filter
from holdfast.server.databases import Connections, Databases
from holdfast.server.dependencies import CallerDatabases, CallerProject
from holdfast.server.project_scope import check_project
from holdfast.server.requests import PROJECT_ID, SESSION_ID, Name
from holdfast.server.responses import RecallHit, RecallResult
from holdfast.server.rows import to_time
from holdfast.services.recall import refs
from holdfast.services.recall.lookup import Hit, LookupAnswer, to_ref
from holdfast.services.recall.server_lookup import (
    SearchBackend,
    ServerScope,
    open_session_ref,
    search_words,
)
from holdfast.services.time_parsing import parse_time

if TYPE_CHECKING:
    Kind: TypeAlias = str
else:
    # Built from the tuple so that the schema always has every kind; type checkers reject that.
    Kind = Literal[KINDS]

MAX_QUERY_CHARS = 200_000
SCOPE_HINT = "send project_id, project_path or session_id, or all_projects=true for all projects"
EXAMPLE = {
    "hits": [
        {
            "ref": "5e55a0ce-0000-4000-8000-000000000001:L107",
            "session_id": "5e55a0ce-0000-4000-8000-000000000001",
            "line": 107,
            "kind": "prompt",
            "tool": None,
            "at": "2026-11-15T10:00:00.000Z",
            "before_compaction": True,
            "source": "transcript",
            "text": "Now the worker. Don't serialise the retries behind a global lock.",
        }
    ],
    "left_out": 3,
    "notes": [],
}
RESPONSES = {
    200: ResponseSpec(
        RecallResult,
        description="matches within the budget, best first; each can be opened by its ref",
        generate_examples=False,
        examples=[Example(summary="one hit", value=EXAMPLE)],
    )
}

# Descriptions that the query parameters and the body share.
MAX_TOKENS = "maximum number of tokens in the answer"
FILE = "only entries about this file"
TOOL = "only calls of this tool, and their results"
SINCE = "not older than: `2h`, `3d`, or a date"
BEFORE_COMPACTION = "only entries from before the last compaction"
PROJECT_PATH = "a folder of the project"
ALL_PROJECTS = "search in all projects"


def _make_parameter(
    description: str, *examples: str, max_length: int | None = 4096
) -> QueryParameter:
    return QueryParameter(
        description=description,
        max_length=max_length,
        examples=[Example(value=value) for value in examples] or None,
    )


Query = Annotated[
    str,
    QueryParameter(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="words to search for",
        examples=[
            Example(value="global lock"),
            Example(value="retryWithBackoff"),
            Example(value="src/worker.py:49"),
        ],
    ),
]
MaxTokens = Annotated[int, QueryParameter(ge=1, le=20_000, description=MAX_TOKENS)]
KindFilter = Annotated[
    list[Kind] | None, QueryParameter(name="kind", description="only these kinds (repeatable)")
]
FileFilter = Annotated[str, _make_parameter(FILE)]
ToolFilter = Annotated[str, _make_parameter(TOOL)]
Since = Annotated[str, _make_parameter(SINCE, "2h", "3d", "2026-11-15", max_length=None)]
BeforeCompaction = Annotated[bool, QueryParameter(description=BEFORE_COMPACTION)]
SessionFilter = Annotated[str, _make_parameter(SESSION_ID)]
ProjectFilter = Annotated[str, _make_parameter(PROJECT_ID)]
FolderFilter = Annotated[str, _make_parameter(PROJECT_PATH)]
AllProjects = Annotated[bool, QueryParameter(description=ALL_PROJECTS)]
Ref = Annotated[
    str,
    PathParameter(description="an address: `SESSION:L12`, `SESSION:L12-15`, `SESSION:notes:L3`"),
]


class RecallQuery(Struct):
    """A search as a body, for queries that are too long for a URL."""

    query: Annotated[
        str,
        Meta(
            min_length=1, max_length=MAX_QUERY_CHARS, description="words to search for",
            examples=["global lock"],
        ),
    ]  # fmt: skip
    max_tokens: Annotated[int, Meta(ge=1, le=20_000, description=MAX_TOKENS, examples=[800])] = 800
    kinds: Annotated[list[Kind], Meta(description="only these kinds")] = []
    file: Annotated[str, Meta(max_length=4096, description=FILE, examples=["src/worker.py"])] = ""
    tool: Annotated[str, Meta(max_length=500, description=TOOL, examples=["Bash"])] = ""
    since: Annotated[str, Meta(max_length=100, description=SINCE, examples=["3d"])] = ""
    before_compaction: Annotated[bool, Meta(description=BEFORE_COMPACTION)] = False
    session_id: Annotated[Name, Meta(description=SESSION_ID)] = ""
    project_id: Annotated[Name, Meta(description=PROJECT_ID)] = ""
    project_path: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4096)] | None, Meta(description=PROJECT_PATH)
    ] = None
    all_projects: Annotated[bool, Meta(description=ALL_PROJECTS)] = False


@get("/recall", sync_to_thread=True, responses=RESPONSES)
def recall(
    databases: CallerDatabases,
    caller_project: CallerProject,
    q: Query,
    max_tokens: MaxTokens = 800,
    kinds: KindFilter = None,
    file: FileFilter = "",
    tool: ToolFilter = "",
    since: Since = "",
    before_compaction: BeforeCompaction = False,
    session_id: SessionFilter = "",
    project_id: ProjectFilter = "",
    project_path: FolderFilter = "",
    all_projects: AllProjects = False,
) -> RecallResult:
    """Find anything said, done or printed, verbatim, with refs, in one project or session."""
    return _search(databases, caller_project, RecallQuery(
        query=q, max_tokens=max_tokens, kinds=kinds or [], file=file, tool=tool, since=since,
        before_compaction=before_compaction, session_id=session_id, project_id=project_id,
        project_path=project_path or None, all_projects=all_projects,
    ))  # fmt: skip


@post("/recall", sync_to_thread=True, status_code=200, responses=RESPONSES)
def recall_by_body(
    databases: CallerDatabases, caller_project: CallerProject, data: JSONBody[RecallQuery]
) -> RecallResult:
    """Find the same with the query as a body, if it is too long for a URL."""
    return _search(databases, caller_project, data)


@get("/recall/{ref:str}", sync_to_thread=True, responses=RESPONSES)
def open_ref(
    databases: CallerDatabases,
    caller_project: CallerProject,
    ref: Ref,
    session_id: SessionFilter = "",
    max_tokens: MaxTokens = 2000,
) -> RecallResult:
    """Get exactly the lines of a ref: `SESSION:L12`, `SESSION:L12-15`, `SESSION:notes:L3`."""
    parsed = refs.parse_ref(ref)
    if parsed is None:
        raise InvalidInput(f"{ref[:80]!r} is not a ref", hint=refs.REF_HINT)
    parsed = parsed._replace(session=parsed.session or session_id)
    if not parsed.session:
        raise InvalidInput(
            "The ref names no session", hint="write SESSION:L12, or add session_id=SESSION"
        )
    with databases.connect() as db, databases.open_index(db) as index:
        if caller_project:
            _check_session(db, parsed.session)
        answer = open_session_ref(SearchBackend(db.store, db.ledger, index), parsed, max_tokens)
    return _to_result(answer)


def _search(databases: Databases, caller_project: str, query: RecallQuery) -> RecallResult:
    now = time.time()
    if not query.query.strip():
        raise InvalidInput(
            "No search words were given",
            hint="give words; GET /api/recall/SESSION:L12 opens a line",
        )
    only = Filter(
        kinds=tuple(query.kinds), tool=query.tool, file=query.file,
        since=parse_time(query.since, now) if query.since else 0.0,
        before_compaction=query.before_compaction,
    )  # fmt: skip
    has_scope = query.session_id or query.project_id or query.project_path or query.all_projects
    if not (has_scope or caller_project):
        raise InvalidInput("No project or session was given", hint=SCOPE_HINT)
    with databases.connect() as db, databases.open_index(db) as index:
        if caller_project:
            scope = _to_project_scope(db, query, caller_project)
        else:
            scope = _to_scope(db, query)
        backend = SearchBackend(db.store, db.ledger, index)
        return _to_result(search_words(backend, query.query, scope, query.max_tokens, only, now))


def _to_scope(db: Connections, query: RecallQuery) -> ServerScope:
    if query.session_id:
        return ServerScope(session=query.session_id)
    if query.project_id:
        return ServerScope(project=query.project_id)
    if query.project_path:
        return ServerScope(project=str(projects.find_by_path(db.ledger, query.project_path)["id"]))
    return ServerScope()


def _to_project_scope(db: Connections, query: RecallQuery, project: str) -> ServerScope:
    """Return the scope of a lookup with a project token. Raises `Forbidden` for another project."""
    if query.all_projects:
        raise Forbidden("This token is for one project only")
    if query.session_id:
        _check_session(db, query.session_id)
    elif query.project_path and not query.project_id:
        query.project_id = str(projects.find_by_path(db.ledger, query.project_path)["id"])
    return ServerScope(check_project(query.project_id or None, project), query.session_id or None)


def _check_session(db: Connections, session: str) -> None:
    """Raise `NotFound` if the caller's store does not have this session."""
    if db.store.session(session) is None:
        raise NotFound(f"No session {session} is recorded", hint="/api/sessions lists them")


def _to_result(answer: LookupAnswer) -> RecallResult:
    return {
        "hits": [_to_hit(hit) for hit in answer.hits],
        "left_out": answer.left_out,
        "notes": [*answer.notes],
    }


def _to_hit(hit: Hit) -> RecallHit:
    copy = "stored copy" if hit.is_copy else "team's copy" if hit.of_team else ""
    return {
        "ref": to_ref(hit),
        "session_id": hit.session,
        "line": hit.line,
        "kind": hit.kind,
        "tool": hit.tool or None,
        "at": to_time(hit.at) if hit.at else None,
        "before_compaction": hit.before,
        "source": copy or ("notes" if hit.kind == "note" else "transcript"),
        "text": hit.text,
    }


def create_router() -> Router:
    return Router("/api", tags=["recall"], route_handlers=[recall, recall_by_body, open_ref])
