"""Decode transcript lines of any supported host into events, each message once.

This is where foreign text enters: events hold neither terminal codes nor secrets, so that what is
cut, stored or indexed later cannot contain any part of a secret.
"""

from __future__ import annotations

from holdfast.fast_json import dumps
from holdfast.lenient_json import LazyObject, parse_json, parse_line
from holdfast.redaction import clean_value, may_contain_secret
from holdfast.transcript import claude_code
from holdfast.transcript.reader import shorten_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from holdfast.transcript.types import Cursor, Event

# The first type near the beginning of a line is that of the line, or of the message in it.
TYPE_KEY, TYPE_SEARCH_BYTES = b'"type":"', 1200
# Newer clients also log whole requests and copies of files: other lines have the same content.
NOISE_PREFIXES = (b'{"type":"api-request', b'{"type":"file-history-snapshot"')
# Partial output of running commands, and which hooks run: both are logged again at the end.
PROGRESS = b'"type":"progress","data":{"type":"'
AGENT_PROGRESS = PROGRESS + b"agent_"
# Lines of these types have no `toolUseResult` whose decoding could be delayed.
TYPES_WITHOUT_DETAIL = (b'"type":"assistant"', b'"type":"message"')
# Line types that neither Claude Code nor Codex writes.
OTHER_HOST_TYPES = (
    "message", "session_start", "gemini", "user.message", "assistant.message",
    "tool.execution_complete", "session.start", "session.compaction_complete",
)  # fmt: skip
MAX_REMEMBERED_IDS = 50
BATCH_BYTES = 1 << 18
# The events of so many bytes are searched for secrets together, and cleaned if there is a hint.
SEARCHED_BYTES = 1 << 15
TERMINAL_CODES = ("\x1b", "\\u001b")
# Fields of an event that hold no foreign text, or that must stay as they are to find each other.
OWN_FIELDS = frozenset(("kind", "line", "at", "id", "ok", "parent", "agent", "running"))
SHORTEN_ABOVE_BYTES = 4 << 20
MESSAGE_TYPES = ("user", "assistant")
SIDE_TYPES = ("system", "attachment")
# The Codex line types that carry events, in their `payload`.
CODEX_TYPES = ("response_item", "event_msg", "turn_context", "session_meta", "compacted")


class Decoder:
    """Turns lines into events, and skips messages that were decoded before.

    A host may write old messages again, with their old id and timestamp
    (https://github.com/anthropics/claude-code/issues/92089). Only a message that is not newer than
    the newest one can be such a copy, so only those are looked up.
    """

    __slots__ = (
        "_load_earlier_ids", "_newest_at", "_newest_ids", "_place", "_place_fields", "_seen_ids",
        "_side_ids", "_usage",
    )  # fmt: skip

    def __init__(
        self, cursor: Cursor | None = None, load_earlier_ids: Callable[[], set[str]] | None = None
    ) -> None:
        """`load_earlier_ids` returns the ids of all messages before the cursor; it is called at
        most once, and only if a possible copy appears.
        """
        self._newest_at = cursor.get("newest_at", "") if cursor else ""
        self._newest_ids = list(cursor.get("newest_ids", ())) if cursor else []
        self._side_ids = list(cursor.get("beside_ids", ())) if cursor else []
        self._seen_ids: set[str] = set()
        self._load_earlier_ids = load_earlier_ids
        self._place: dict[str, str] = {}
        self._usage: tuple[Any, ...] = ()
        self._place_fields: tuple[Any, ...] = ()

    def cursor(self) -> Cursor:
        """Return the decoder's part of the cursor, with which the next decoder continues."""
        return {
            "newest_at": self._newest_at,
            "newest_ids": self._newest_ids,
            "beside_ids": self._side_ids,
        }

    def events(
        self, numbered: Iterable[tuple[int, bytes]], batch_bytes: int = BATCH_BYTES
    ) -> Iterator[Event]:
        """Yield the events of numbered lines; a line that is not JSON gives a `bad_line` event.

        Events are yielded after each `batch_bytes` of lines. Alternating between decoding and
        using single events takes a seventh longer, because of processor cache misses.
        """
        batch: list[Event] = []
        decoded = cleaned = searched = 0
        for number, raw in numbered:
            type_at = raw.find(TYPE_KEY, 0, TYPE_SEARCH_BYTES)
            if _is_noise(raw, type_at):
                continue
            decoded += len(raw)
            if len(raw) > SHORTEN_ABOVE_BYTES:
                raw = shorten_line(raw)
            line = (
                parse_json(raw)
                if raw.startswith(TYPES_WITHOUT_DETAIL, type_at)
                else parse_line(raw)
            )
            # A line can be long: release its bytes before its events are built.
            del raw
            if isinstance(line, dict):
                self._add_events(line, number, batch)
            else:
                batch.append({"kind": "bad_line", "line": number})
            if decoded >= min(searched + SEARCHED_BYTES, batch_bytes):
                _clean_events(batch[cleaned:])
                cleaned, searched = len(batch), decoded
            if decoded >= batch_bytes:
                yield from batch
                batch.clear()
                decoded = cleaned = searched = 0
        _clean_events(batch[cleaned:])
        yield from batch

    def _add_events(self, line: dict[str, Any], number: int, batch: list[Event]) -> None:
        kind = line.get("type")
        if kind in MESSAGE_TYPES:
            if self._is_repeated(line.get("uuid"), line.get("timestamp")):
                return
            self._add_place(line, number, batch)
            self._drop_repeated_usage(line)
        else:
            self._usage = ()
            if kind in SIDE_TYPES and _must_be_unique(line) and self._is_repeated_side_line(line):
                return
        if kind in CODEX_TYPES and "payload" in line:
            from holdfast.transcript import codex

            batch += codex.to_events(line, number)
        elif _is_other_host(line, kind):
            batch += self._other_host_events(line, number)
        else:
            batch += claude_code.to_events(line, number)

    def _add_place(self, line: dict[str, Any], number: int, batch: list[Event]) -> None:
        """Add a `place` event if the folder, branch, client or session has changed."""
        fields = (
            line.get("cwd"), line.get("gitBranch"), line.get("version"), line.get("sessionId"),
            line.get("isSidechain"),
        )  # fmt: skip
        if fields != self._place_fields:
            self._place_fields = fields
            place = claude_code.to_place(line)
            if place and place != self._place:
                self._place = place
                batch.append({"kind": "place", "line": number, "place": place})

    def _other_host_events(self, line: dict[str, Any], number: int) -> Iterator[Event]:
        """Yield a line's new events: some hosts rewrite a message whenever it grows."""
        from holdfast.transcript import other_hosts

        for key, events in other_hosts.to_event_groups(line, number):
            if key and key in self._side_ids:
                continue
            if key:
                self._side_ids = [*self._side_ids, key][-MAX_REMEMBERED_IDS:]
            yield from events

    def _drop_repeated_usage(self, line: dict[str, Any]) -> None:
        """Remove `usage` from a line that repeats it.

        A message is written part by part, and each part carries the usage of the whole message. A
        part without another event, such as thinking, keeps it: the fold counts lines by events.
        """
        message = line.get("message")
        if not isinstance(message, dict) or "usage" not in message:
            self._usage = ()
            return
        content = message.get("content")
        first = content[0] if isinstance(content, list) and content else None
        has_event = isinstance(first, dict) and (
            first.get("text") or first.get("type") == "tool_use"
        )
        usage = (message.get("id"), message["usage"], line.get("isSidechain"))
        if has_event and usage[0] and usage == self._usage:
            del message["usage"]
        self._usage = usage

    def _is_repeated(self, ident: Any, at: Any) -> bool:
        """Return whether this message was decoded before; remember it if not."""
        if not isinstance(ident, str) or not isinstance(at, str):
            return False
        if at > self._newest_at:
            self._newest_at, self._newest_ids = at, [ident]
        elif at == self._newest_at:
            if ident in self._seen_ids or ident in self._newest_ids:
                return True
            if len(self._newest_ids) < MAX_REMEMBERED_IDS:
                self._newest_ids.append(ident)
            elif ident in self._all_ids():
                return True
        elif ident in self._seen_ids or ident in self._all_ids():
            return True
        self._seen_ids.add(ident)
        return False

    def _is_repeated_side_line(self, line: dict[str, Any]) -> bool:
        """Like `_is_repeated`, for a system or attachment line.

        Its timestamp must not become the newest one: that of a compaction boundary is the end of
        the compaction, which is later than the timestamps of the lines after it.
        """
        ident, at = line.get("uuid"), line.get("timestamp")
        if not isinstance(ident, str) or not isinstance(at, str):
            return False
        if ident in self._side_ids or (at <= self._newest_at and ident in self._all_ids()):
            return True
        self._side_ids = [*self._side_ids, ident][-MAX_REMEMBERED_IDS:]
        self._seen_ids.add(ident)
        return False

    def _all_ids(self) -> set[str]:
        """The ids of all messages so far, including those before the cursor."""
        if self._load_earlier_ids is not None:
            self._seen_ids |= self._load_earlier_ids()
            self._load_earlier_ids = None
        return self._seen_ids


def _clean_events(events: list[Any]) -> None:
    """Remove terminal codes and secrets from these events, if there may be any."""
    text = "\n".join(
        value if isinstance(value, str) else dumps(value)
        for event in events
        for name, value in event.items()
        if name not in OWN_FIELDS and value and not isinstance(value, int | LazyObject)
    )
    if not any(code in text for code in TERMINAL_CODES) and not may_contain_secret(text):
        return
    for event in events:
        for name, value in event.items():
            # The detail of a result is cleaned when it is decoded.
            if name not in OWN_FIELDS and not isinstance(value, LazyObject):
                event[name] = clean_value(value)


def decode(
    numbered: Iterable[tuple[int, bytes]], batch_bytes: int = BATCH_BYTES
) -> Iterator[Event]:
    """Yield the events of a log that is read from its beginning."""
    return Decoder().events(numbered, batch_bytes)


def _must_be_unique(line: dict[str, Any]) -> bool:
    """Whether a repeated copy of a system or attachment line would do harm.

    Most do not matter, and hosts write them late: looking up each of them would cost too much.
    """
    attachment = line.get("attachment")
    is_prompt = isinstance(attachment, dict) and attachment.get("type") == "queued_command"
    return is_prompt or line.get("subtype") == "compact_boundary"


def _is_other_host(line: dict[str, Any], kind: Any) -> bool:
    """Whether a line comes from a host that is neither Claude Code nor Codex."""
    if kind == "user":
        return "message" not in line
    if kind is None:
        return "role" in line or "$set" in line or "projectHash" in line
    return kind in OTHER_HOST_TYPES


def _is_noise(raw: bytes, type_at: int) -> bool:
    """Whether a line, whose first type is at `type_at`, can be skipped without decoding it."""
    if type_at < 0:
        return not raw or raw.isspace()
    if raw.startswith(PROGRESS, type_at):
        return not raw.startswith(AGENT_PROGRESS, type_at)
    return raw.startswith(NOISE_PREFIXES)
