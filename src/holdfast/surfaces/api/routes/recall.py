"""Look things up: what any session said, did or printed, by words or by ref, within a budget."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from litestar import Router, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Meta, Struct

from holdfast.actions import refs
from holdfast.actions.moment import moment
from holdfast.actions.recall import Answer, Hit, reference
from holdfast.actions.served_lookup import Shelf, Where, look_up, open_ref
from holdfast.errors import BadUsage, NoSuchRecord, NotAllowed
from holdfast.index.search import Filter
from holdfast.index.texts import KINDS
from holdfast.ledger import projects
from holdfast.surfaces.api import answers, rows
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.held import wanted
from holdfast.surfaces.api.needs import HeldTo, TheDesk
from holdfast.surfaces.api.shapes import Name, Path

if TYPE_CHECKING:
    Kind: TypeAlias = str
else:
    # Made of what there is, so that a schema never lags behind; no type checker can read it.
    Kind = Literal[KINDS]

LONGEST = 200_000
WHERE = "say where: project_id, project_path or session_id, or all_projects=true for everywhere"
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
ANSWERS = {
    200: ResponseSpec(
        dict[str, Any],
        description="the hits that fit, the best first; each opens by its ref",
        generate_examples=False,
        examples=[Example(summary="one hit", value=EXAMPLE)],
    )
}


def _examples(*values: Any) -> list[Example]:
    return [Example(value=value) for value in values]


Query = Annotated[
    str,
    QueryParameter(
        min_length=1, max_length=LONGEST,
        examples=_examples("global lock", "retryWithBackoff", "src/worker.py:49"),
    ),
]  # fmt: skip
Budget = Annotated[int, QueryParameter(ge=1, le=20_000)]
Kinds = Annotated[
    list[Kind] | None, QueryParameter(name="kind", description="only these kinds (repeatable)")
]
Since = Annotated[str, QueryParameter(examples=_examples("2h", "3d", "2026-11-15"))]
Word = Annotated[str, QueryParameter(max_length=4096)]
Wish = Annotated[bool, QueryParameter()]


class Asked(Struct):
    """The same as a body, for questions that are too long for an address."""

    query: Annotated[str, Meta(min_length=1, max_length=LONGEST, examples=["global lock"])]
    max_tokens: Annotated[int, Meta(ge=1, le=20_000, examples=[800])] = 800
    kinds: list[Kind] = []
    file: Annotated[str, Meta(max_length=4096, examples=["src/worker.py"])] = ""
    tool: Annotated[str, Meta(max_length=500, examples=["Bash"])] = ""
    since: Annotated[str, Meta(max_length=100, examples=["3d"])] = ""
    before_compaction: bool = False
    session_id: Name = ""
    project_id: Name = ""
    project_path: Path | None = None
    all_projects: bool = False


@get("/recall", sync_to_thread=True, responses=ANSWERS)
def recall(
    desk: TheDesk,
    held_to: HeldTo,
    q: Query,
    max_tokens: Budget = 800,
    kinds: Kinds = None,
    file: Word = "",
    tool: Word = "",
    since: Since = "",
    before_compaction: Wish = False,
    session_id: Word = "",
    project_id: Word = "",
    project_path: Word = "",
    all_projects: Wish = False,
) -> rows.Answer:
    """Find anything said, done or printed, verbatim, with refs, in one project or session."""
    return _answered(desk, held_to, Asked(
        query=q, max_tokens=max_tokens, kinds=kinds or [], file=file, tool=tool, since=since,
        before_compaction=before_compaction, session_id=session_id, project_id=project_id,
        project_path=project_path or None, all_projects=all_projects,
    ))  # fmt: skip


@post("/recall", sync_to_thread=True, status_code=200, responses=ANSWERS)
def recall_long(desk: TheDesk, held_to: HeldTo, data: JSONBody[Asked]) -> rows.Answer:
    """The same as a body, for questions that are too long for an address."""
    return _answered(desk, held_to, data)


@get("/recall/{ref:str}", sync_to_thread=True, responses=ANSWERS)
def open_one(
    desk: TheDesk,
    held_to: HeldTo,
    ref: FromPath[str],
    session_id: Word = "",
    max_tokens: Budget = 2000,
) -> rows.Answer:
    """Exactly the lines of a ref: `SESSION:L12`, `SESSION:L12-15`, `SESSION:notes:L3`."""
    found = refs.parse(ref)
    if found is None:
        raise BadUsage(f"{ref[:80]!r} is no ref", hint=refs.HINT)
    found = found._replace(session=found.session or session_id)
    if not found.session:
        raise BadUsage("whose line?", hint="SESSION:L12, or session_id=SESSION")
    with desk.books() as books, desk.index(books) as index:
        if held_to:
            _check_ours(books, found.session)
        answer = open_ref(Shelf(books.store, books.ledger, index), found, max_tokens)
    return _told(answer)


def _answered(desk: Desk, held_to: str, asked: Asked) -> rows.Answer:
    now = time.time()
    if not asked.query.strip():
        raise BadUsage(
            "nothing to look for", hint="give words; GET /api/recall/SESSION:L12 opens a line"
        )
    only = Filter(
        kinds=tuple(asked.kinds), tool=asked.tool, file=asked.file,
        since=moment(asked.since, now) if asked.since else 0.0,
        before_compaction=asked.before_compaction,
    )  # fmt: skip
    given = asked.session_id or asked.project_id or asked.project_path or asked.all_projects
    if not (given or held_to):
        raise BadUsage("where to look?", hint=WHERE)
    with desk.books() as books, desk.index(books) as index:
        where = _where_held(books, asked, held_to) if held_to else _where(books, asked)
        shelf = Shelf(books.store, books.ledger, index)
        return _told(look_up(shelf, asked.query, where, asked.max_tokens, only, now))


def _where(books: Books, asked: Asked) -> Where:
    if asked.session_id:
        return Where(session=asked.session_id)
    if asked.project_id:
        return Where(project=asked.project_id)
    if asked.project_path:
        return Where(project=str(projects.by_path(books.ledger, asked.project_path)["id"]))
    return Where()


def _where_held(books: Books, asked: Asked, project: str) -> Where:
    """Within the one project that the caller's token is for."""
    if asked.all_projects:
        raise NotAllowed("this token is for one project")
    if asked.session_id:
        _check_ours(books, asked.session_id)
    elif asked.project_path and not asked.project_id:
        asked.project_id = str(projects.by_path(books.ledger, asked.project_path)["id"])
    return Where(wanted(asked.project_id or None, project), asked.session_id or None)


def _check_ours(books: Books, session: str) -> None:
    if books.store.session(session) is None:
        raise NoSuchRecord(f"session {session}", hint="/api/sessions lists them")


def _told(answer: Answer) -> rows.Answer:
    return {
        "hits": [_hit(hit) for hit in answer.hits],
        "left_out": answer.left_out,
        "notes": [*answer.notes],
    }


def _hit(hit: Hit) -> rows.Answer:
    copy = "stored copy" if hit.is_copy else "team's copy" if hit.of_team else ""
    return {
        "ref": reference(hit),
        "session_id": hit.session,
        "line": hit.line,
        "kind": hit.kind,
        "tool": hit.tool or None,
        "at": answers.stamp(hit.at) if hit.at else None,
        "before_compaction": hit.before,
        "source": copy or ("notes" if hit.kind == "note" else "transcript"),
        "text": hit.text,
    }


def router() -> Router:
    return Router("/api", tags=["recall"], route_handlers=[recall, recall_long, open_one])
