"""A short way for what is asked all day: an action, a save, a restore, whether all is well.

The framework's own way costs several times what the work itself does. What is in any way unusual
(large, broken, of one project's token) goes the long way, and what is wrong is decided there alone.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.actions.shared_restore import Wanted, restored, restoring
from holdfast.ledger import contexts
from holdfast.ledger.actions import post_action
from holdfast.ledger.batch import Fresh
from holdfast.ledger.tables import ACTIONS, CONTEXTS
from holdfast.store.questions import answered
from holdfast.surfaces.api import answers, held, named, problems
from holdfast.surfaces.api.crew import Crew
from holdfast.surfaces.api.nesting import is_deep
from holdfast.surfaces.api.packing import packed, takes_gzip
from holdfast.surfaces.api.rounds import Rounds
from holdfast.surfaces.api.routes.system import healthy
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.seekers import Seekers
from holdfast.surfaces.api.shapes import NewAction, Restore, Saved, saved_text
from holdfast.surfaces.api.writer import Writer

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.asgi import App, Message, Receive, Scope, Send
    from holdfast.surfaces.api.desk import Desk

# What takes long to read, to look through for secrets or to write keeps others waiting.
SMALL = 1 << 16
# One that takes long keeps so few others waiting.
AT_ONCE = 8
# Whoever asks at the same time whether the store answers is told by one question to it.
TOGETHER = 1000
# Who got no answer, or has nothing new to say, sends the same snapshot again. It need not be read
# and looked through for secrets once more. Each takes some three times what was sent.
KEPT = 16
LONG_WAY = frozenset({b"cookie", b"transfer-encoding", b"content-encoding"})

Told = Awaitable[tuple[int, Any]]
Way = Callable[[bytes], Awaitable[Told]]
_action = msgspec.json.Decoder(NewAction).decode
_restore = msgspec.json.Decoder(Restore).decode
_object = msgspec.json.Decoder(dict[str, Any]).decode


class Quick:
    """An ASGI application that answers a few requests itself and hands on all others."""

    def __init__(self, app: App, desk: Desk) -> None:
        self._app = app
        self._desk = desk
        self._writer = Writer(desk)
        readers = Crew("reader", self._told, threads=desk.readers, most=AT_ONCE)
        self._readers = Rounds(
            self._told_at_once, readers, few=AT_ONCE // desk.readers, under_way=desk.readers,
            is_shared=True,
        )  # fmt: skip
        self._seekers = Seekers(desk)
        self._checker: Crew[None, Answer] = Crew("checker", self._checked, most=TOGETHER)
        self.ways: dict[tuple[str, str], Way] = {
            ("POST", "/api/actions"): self._act,
            ("POST", "/api/compact/save"): self._save,
            ("POST", "/api/compact/restore"): self._restore,
            ("GET", "/health"): self._check,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        way = None
        if scope["type"] == "http":
            way = self.ways.get((scope["method"], scope["path"]))
        if way is None or not is_plain(scope):
            await self._app(_as_is_wanted(scope), receive, send)
            if scope["type"] == "lifespan":
                self._close()
            return
        heard = await _heard(receive)
        whole = _body(heard)
        told = None if whole is None else await self.told(way, whole)
        if told is None:
            await self._app(_as_is_wanted(scope), _again(heard, receive), send)
            return
        status, headers, body = packed(*told, takes_gzip=_takes_gzip(scope))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def told(self, way: Way, body: bytes) -> tuple[int, Any] | None:
        """What comes of it; nothing if it has to go the long way."""
        try:
            # Nothing is done yet: whatever is wrong, the long way finds it too.
            answer = await way(body)
        except Exception:
            return None
        try:
            return await answer
        except Exception as problem:
            status, detail, hint = problems.told(problem)
            return status, problems.body(status, detail, hint)

    def _close(self) -> None:
        self._writer.close()
        self._readers.close()
        self._seekers.close()
        self._checker.close()

    async def _act(self, body: bytes) -> Told:
        sent = _action(_shallow(body))
        project = await self._seekers.project(sent.project_id, sent.session_id, sent.subtask_id)
        row = sent.row(time.time(), project)
        is_said = bool(named.plain(sent.project_id))
        return self._acted(Fresh(
            ACTIONS, ACTIONS.encoded(row),
            lambda ledger: post_action(ledger, row, is_project_said=is_said),
        ))  # fmt: skip

    async def _acted(self, fresh: Fresh) -> tuple[int, Any]:
        stored = await self._writer.write(fresh)
        # What is JSON already is put into the answer as it is.
        parts = {name: msgspec.Raw(stored[name].encode()) for name in ACTIONS.json}
        return 201, answers.answer({**stored, **parts})

    async def _save(self, body: bytes) -> Told:
        known, stored = _snapshot(body)
        if known.cwd and not named.plain(known.project_id):
            raise LookupError("somebody has to ask which project that is")
        project = await self._seekers.project(known.project_id, known.session_id)
        session, now = known.session_id, time.time()
        return self._saved(Fresh(
            CONTEXTS, {**stored, "project": project, "created_at": now, "updated_at": now},
            lambda ledger: contexts.save_snapshot(
                ledger, session, project, _object(body), now, saved_text
            ),
            is_named_by_content=True,
        ))  # fmt: skip

    async def _saved(self, fresh: Fresh) -> tuple[int, Any]:
        stored = await self._writer.write(fresh)
        return 200, {"id": stored["id"], "saved_at": answers.stamp(stored["updated_at"])}

    async def _restore(self, body: bytes) -> Told:
        return self._restored(_restore(_shallow(body)))

    async def _restored(self, data: Restore) -> tuple[int, Any]:
        return 200, {"additionalContext": await self._readers.done(data.wanted())}

    async def _check(self, body: bytes) -> Told:
        return self._health()

    async def _health(self) -> tuple[int, Any]:
        return 200, await self._checker.done(None)

    def _checked(self, some: list[None]) -> list[Answer | Exception]:
        return [healthy(self._desk)] * len(some)

    async def _told_at_once(self, some: list[Wanted]) -> list[str | None]:
        now, briefs = time.time(), self._desk.briefs
        # Agents of one session are often compacted together, and ask for the same.
        each = list(dict.fromkeys(some))
        work = [restoring(one, now, briefs) for one in each]
        told = dict(zip(each, await answered(self._desk.ask, work), strict=True))
        return [told[one] for one in some]

    def _looked_up(self, some: list[Wanted]) -> list[str]:
        now, briefs = time.time(), self._desk.briefs
        with self._desk.books() as books:
            told = {
                one: restored(books.store, books.ledger, one, now, briefs)
                for one in dict.fromkeys(some)
            }
        return [told[one] for one in some]

    def _told(self, some: list[Wanted]) -> list[str | Exception]:
        try:
            return [*self._looked_up(some)]
        except Exception as problem:
            if len(some) == 1:
                return [problem]
            if trouble := self._desk.trouble(problem):
                return [trouble] * len(some)
        # Whatever is wrong with one of them is not the others' trouble.
        return [self._told([one])[0] for one in some]


@lru_cache(maxsize=KEPT)
def _snapshot(body: bytes) -> tuple[Saved, Row]:
    """What it must say, and its row as it is stored, but for its project and its times."""
    data = _object(_shallow(body))
    known = msgspec.convert(data, Saved)
    row, text = contexts.snapshot(known.session_id, "", data, 0.0, saved_text)
    return known, CONTEXTS.encoded(row, role_context=text)


def is_plain(scope: Scope) -> bool:
    """Whether nothing about its method, headers and query needs a closer look."""
    # A GET has no body.
    length = b"0" if scope["method"] == "GET" else b""
    for name, value in scope["headers"]:
        if name == b"content-length":
            length = value
        elif name in LONG_WAY:
            return False
    if scope.get("query_string") and scope["method"] != "GET":
        # Somebody has to say that nothing of it is known.
        return False
    return length.isdigit() and int(length) <= SMALL and not scope.get(held.KEY)


async def _heard(receive: Receive) -> list[Message]:
    """All parts of a request, or whatever came before the client left."""
    heard = [await receive()]
    while heard[-1].get("more_body"):
        heard.append(await receive())
    return heard


def _shallow(body: bytes) -> bytes:
    if is_deep(body):
        raise LookupError("somebody has to say so")
    return body


def _body(heard: list[Message]) -> bytes | None:
    """Nothing if the client has left before its end."""
    parts = [message["body"] for message in heard if "body" in message]
    return b"".join(parts) if len(parts) == len(heard) else None


def _again(heard: list[Message], receive: Receive) -> Receive:
    """The same parts for somebody else, and then what comes after them."""
    parts = iter(heard)

    async def received() -> Message:
        return next(parts, None) or await receive()

    return received


def _takes_gzip(scope: Scope) -> bool:
    given = [value for name, value in scope["headers"] if name == b"accept-encoding"]
    return takes_gzip(b",".join(given))


def _as_is_wanted(scope: Scope) -> Scope:
    """The framework packs for whoever names gzip, also for those who want anything else."""
    if scope["type"] != "http" or _takes_gzip(scope):
        return scope
    rest = [one for one in scope["headers"] if one[0] != b"accept-encoding"]
    return {**scope, "headers": rest}
