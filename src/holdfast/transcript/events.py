"""Decode transcript lines into events, whatever a line may hold, and each message once."""

from __future__ import annotations

from holdfast.foreign_json import line_of, parsed
from holdfast.transcript import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from holdfast.transcript.model import Cursor, Event

# The first type in the head of a line is that of the line, or of the message in it.
TYPE, HEAD = b'"type":"', 1200
# Copies of whole requests and of files that newer clients write: nothing in them is new.
NOISE = (b'{"type":"api-request', b'{"type":"file-history-snapshot"')
# What a running command has printed so far, and which hooks run: told again when they are done.
PROGRESS = b'"type":"progress","data":{"type":"'
OF_AGENT = PROGRESS + b"agent_"
# Lines of these have no detail that could be left unread.
BY_MODEL = (b'"type":"assistant"', b'"type":"message"')
# The types that only other hosts' lines have.
FOREIGN = (
    "message", "session_start", "gemini", "user.message", "assistant.message",
    "tool.execution_complete", "session.start", "session.compaction_complete",
)  # fmt: skip
MOST_AT_ONCE = 50
BURST = 1 << 18
# What is longer is shortened before it is decoded: see `long_lines`.
LONG_LINE = 4 << 20
MESSAGES = ("user", "assistant")
BESIDES = ("system", "attachment")
# The types of Codex's lines that tell something; what they hold stands under `payload`.
ROLLOUT = ("response_item", "event_msg", "turn_context", "session_meta", "compacted")


class Decoder:
    """Turns lines into events.

    A host may write messages down again that it wrote before, with their old identity and time
    (https://github.com/anthropics/claude-code/issues/92089). Only a message that is not newer
    than the newest one can be such a copy, so only then it is looked up.
    """

    __slots__ = (
        "_at", "_beside", "_earlier", "_place", "_same_time", "_seen", "_spent", "_where",
    )  # fmt: skip

    def __init__(
        self, cursor: Cursor | None = None, earlier: Callable[[], set[str]] | None = None
    ) -> None:
        """`earlier` gives the identities of all messages before the cursor, if it is asked."""
        self._at = cursor.get("newest_at", "") if cursor else ""
        self._same_time = list(cursor.get("newest_ids", ())) if cursor else []
        self._beside = list(cursor.get("beside_ids", ())) if cursor else []
        self._seen: set[str] = set()
        self._earlier = earlier
        self._place: dict[str, str] = {}
        self._spent: tuple[Any, ...] = ()
        self._where: tuple[Any, ...] = ()

    def memory(self) -> Cursor:
        """What the next decoder must know to go on as if it were this one."""
        return {
            "newest_at": self._at,
            "newest_ids": self._same_time,
            "beside_ids": self._beside,
        }

    def events(self, numbered: Iterable[tuple[int, bytes]], burst: int = BURST) -> Iterator[Event]:
        """Events of transcript lines. A line that is not JSON is told as a `bad_line`.

        `burst` is how many bytes are decoded before their events are told: to decode and to use
        them by turns takes a seventh longer, because each finds the other's things in the cache.
        """
        waiting: list[Event] = []
        read = 0
        for number, raw in numbered:
            at = raw.find(TYPE, 0, HEAD)
            if _is_noise(raw, at):
                continue
            read += len(raw)
            if len(raw) > LONG_LINE:
                raw = _shortened(raw)
            line = parsed(raw) if raw.startswith(BY_MODEL, at) else line_of(raw)
            # A line can be long: nothing of it is held twice.
            del raw
            if isinstance(line, dict):
                self._tell(line, number, waiting)
            else:
                waiting.append({"kind": "bad_line", "line": number})
            if read >= burst:
                yield from waiting
                waiting.clear()
                read = 0
        yield from waiting

    def _tell(self, line: dict[str, Any], number: int, told: list[Event]) -> None:
        """Add what a line says to what is told."""
        kind = line.get("type")
        if kind in MESSAGES:
            if self._repeats(line.get("uuid"), line.get("timestamp")):
                return
            self._tell_place(line, number, told)
            self._tell_usage_once(line)
        else:
            self._spent = ()
            if kind in BESIDES and _counts(line) and self._stood_before(line):
                return
        if kind in ROLLOUT and "payload" in line:
            from holdfast.transcript import codex

            told += codex.events(line, number)
        elif _is_foreign(line, kind):
            told += self._foreign(line, number)
        else:
            told += claude_code.events(line, number)

    def _tell_place(self, line: dict[str, Any], number: int, told: list[Event]) -> None:
        stands = (
            line.get("cwd"), line.get("gitBranch"), line.get("version"), line.get("sessionId"),
            line.get("isSidechain"),
        )  # fmt: skip
        if stands != self._where:
            self._where = stands
            found = claude_code.place(line)
            if found and found != self._place:
                self._place = found
                told.append({"kind": "place", "line": number, "place": found})

    def _foreign(self, line: dict[str, Any], number: int) -> Iterator[Event]:
        """Some hosts write a message down again whenever they know more of it."""
        from holdfast.transcript import foreign

        for key, events in foreign.groups(line, number):
            if key and key in self._beside:
                continue
            if key:
                self._beside = [*self._beside, key][-MOST_AT_ONCE:]
            yield from events

    def _tell_usage_once(self, line: dict[str, Any]) -> None:
        """A message is written down part by part, and each part tells what all of it took."""
        message = line.get("message")
        if not isinstance(message, dict) or "usage" not in message:
            self._spent = ()
            return
        content = message.get("content")
        first = content[0] if isinstance(content, list) and content else None
        tells = isinstance(first, dict) and (first.get("text") or first.get("type") == "tool_use")
        spent = (message.get("id"), message["usage"], line.get("isSidechain"))
        if tells and spent[0] and spent == self._spent:
            del message["usage"]
        self._spent = spent

    def _repeats(self, ident: Any, at: Any) -> bool:
        """Whether this message was told before."""
        if not isinstance(ident, str) or not isinstance(at, str):
            return False
        if at > self._at:
            self._at, self._same_time = at, [ident]
        elif at == self._at:
            if ident in self._seen or ident in self._same_time:
                return True
            if len(self._same_time) < MOST_AT_ONCE:
                self._same_time.append(ident)
            elif ident in self._before():
                return True
        elif ident in self._seen or ident in self._before():
            return True
        self._seen.add(ident)
        return False

    def _stood_before(self, line: dict[str, Any]) -> bool:
        """The same of a line beside the messages: its time says little about theirs.

        A boundary bears the time when its compaction was over, later than what follows it.
        """
        ident, at = line.get("uuid"), line.get("timestamp")
        if not isinstance(ident, str) or not isinstance(at, str):
            return False
        if ident in self._beside or (at <= self._at and ident in self._before()):
            return True
        self._beside = [*self._beside, ident][-MOST_AT_ONCE:]
        self._seen.add(ident)
        return False

    def _before(self) -> set[str]:
        if self._earlier is not None:
            self._seen |= self._earlier()
            self._earlier = None
        return self._seen


def decode(numbered: Iterable[tuple[int, bytes]], burst: int = BURST) -> Iterator[Event]:
    """The events of a log that is read from its beginning."""
    return Decoder().events(numbered, burst)


def _shortened(raw: bytes) -> bytes:
    from holdfast.transcript.long_lines import shortened

    return shortened(raw)


def _counts(line: dict[str, Any]) -> bool:
    """Whether it matters how often a line that is no message was written down.

    Most of them do not, and are written late: to look each of those up would cost too much.
    """
    attached = line.get("attachment")
    typed = isinstance(attached, dict) and attached.get("type") == "queued_command"
    return typed or line.get("subtype") == "compact_boundary"


def _is_foreign(line: dict[str, Any], kind: Any) -> bool:
    """Whether a line is of a host that is neither Claude Code nor Codex."""
    if kind == "user":
        return "message" not in line
    if kind is None:
        return "role" in line or "$set" in line or "projectHash" in line
    return kind in FOREIGN


def _is_noise(raw: bytes, at: int) -> bool:
    """Whether nothing in a line, whose first type stands at that place, is worth decoding it."""
    if at < 0:
        return not raw or raw.isspace()
    if raw.startswith(PROGRESS, at):
        return not raw.startswith(OF_AGENT, at)
    return raw.startswith(NOISE)
