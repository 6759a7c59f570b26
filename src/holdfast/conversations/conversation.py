"""One conversation: add messages, build requests that fit into the window."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from holdfast.conversations import events, request
from holdfast.conversations.budget import MESSAGE_OVERHEAD_TOKENS
from holdfast.conversations.checkpoint import ALIASES, LIST_NAMES, Checkpoint
from holdfast.conversations.compaction import (
    CompactionContext,
    CompactionResult,
    ConversationState,
    compact,
)
from holdfast.conversations.cost_limit import MICROS_PER_DOLLAR
from holdfast.conversations.events import CompactionEvent, EventStream, Listeners
from holdfast.conversations.message import Message, message_from_row, to_message
from holdfast.conversations.stats import Metrics, Preview, Status, find_level
from holdfast.conversations.store import CheckpointRow, ConversationRow
from holdfast.conversations.truncate import fit_messages
from holdfast.errors import (
    CompactionFailed,
    CompactionInProgress,
    InvalidInput,
    NothingToCompact,
    StoreUnavailable,
)
from holdfast.redaction import redact


class Conversation:
    """Made by `SessionManager.get_or_create`; threads and processes can share it."""

    def __init__(
        self, session: str, feature: str, context: CompactionContext, listeners: Listeners
    ) -> None:
        self.session, self.feature = session, feature
        self._store, self._counter, self._budget = context.store, context.counter, context.budget
        self._listeners = listeners
        self._context = replace(context, emit=self._emit)
        self._id = self._store.get_or_create(session, feature)["id"]
        self._sizes: dict[str, int] = {}
        self._is_budget_saved = False

    # Messages

    def add_message(
        self, role: Any, content: Any = None, *, tool_call_id: str = "", tool_calls: Any = ()
    ) -> int:
        """Store a message: a role and its content, or a whole message of either API.

        Returns its ordinal. Secrets are replaced before anything is stored.
        """
        message = to_message(role, content, tool_call_id=tool_call_id, tool_calls=tool_calls)
        tokens, now = self._counter.message(message), time.time()
        text = json.dumps(message.blocks)
        with self._store.transaction():
            counted = self._store.one("count_message", id=self._id, tokens=tokens, now=now)
            if counted is None:
                raise InvalidInput(
                    f"Session {self.session} is archived", hint="call `reopen` first"
                )
            self._store.write(
                "add_message", id=self._id, ordinal=counted["messages"], role=message.role,
                content=text, tokens=tokens, now=now,
            )  # fmt: skip
            self._save_budget()
        return int(counted["messages"])

    def messages(self, *, compacted: bool = False) -> list[Message]:
        """Return the messages of the next request; with `compacted` all messages ever added."""
        name = "all_messages" if compacted else "live_messages"
        return [message_from_row(row) for row in self._store.all(name, id=self._id)]

    def clear_messages(self) -> int:
        """Delete the messages that are not in a checkpoint yet; returns how many."""
        with self._store.transaction():
            deleted = self._store.write("clear_messages", id=self._id)
            version = self._row()["version"]
            self._store.write(
                "set_live", id=self._id, messages=0, tokens=0, version=version, now=time.time()
            )
        return deleted

    # Descriptions and checkpoints

    def set_agent_description(self, text: str) -> None:
        """Set the system text about the agent, which is part of every request."""
        self._store.write("describe_agent", id=self._id, text=redact(text), now=time.time())

    def set_project_context(self, text: str) -> None:
        """Set the system text about the project, which is part of every request."""
        self._store.write("describe_project", id=self._id, text=redact(text), now=time.time())

    def checkpoint(self, version: int | None = None) -> Checkpoint:
        """Return the newest checkpoint, or that of a version; empty if there is none."""
        wanted = self._row()["version"] if version is None else version
        row = self._store.one("checkpoint", id=self._id, version=wanted)
        return Checkpoint.parse(json.loads(row["content"])) if row else Checkpoint()

    def checkpoints(self) -> list[CheckpointRow]:
        """Return all checkpoints, each with its maker and the tokens it saved."""
        return self._store.all("checkpoints", id=self._id)  # type: ignore[return-value]

    def update_checkpoint(self, /, **lists: list[str]) -> int:
        """Replace some lists of the checkpoint; returns its new version."""
        if unknown := [name for name in lists if ALIASES.get(name, name) not in LIST_NAMES]:
            raise InvalidInput(
                f"A checkpoint has no field {unknown[0]!r}", hint=", ".join(sorted(LIST_NAMES))
            )
        with self._store.transaction():
            row = self._row()
            current = self.checkpoint(row["version"]).as_dict()
            updates = {ALIASES.get(name, name): items for name, items in lists.items()}
            checkpoint = Checkpoint.parse({**current, **updates})
            version = row["version"] + 1
            self._store.write(
                "add_checkpoint", id=self._id, version=version,
                content=json.dumps(checkpoint.as_dict()),
                tokens=self._counter.text(checkpoint.render()), made_by="caller", messages=0,
                tokens_before=0, tokens_reclaimed=0, now=time.time(),
            )  # fmt: skip
            self._store.write(
                "set_live", id=self._id, messages=row["live_messages"],
                tokens=row["live_tokens"], version=version, now=time.time(),
            )  # fmt: skip
        return version

    # Requests and compaction

    def build_request(self, shape: str = "anthropic", *, user_prompt: str = "") -> dict[str, Any]:
        """Return the body of the next request, with `user_prompt`, which is not stored, at its end.

        Compacts first if the threshold is reached.
        """
        self.maybe_compact(user_prompt=user_prompt)
        row, checkpoint, messages = self._read()
        preview = self._preview(row, user_prompt, checkpoint)
        if user_prompt:
            prompt = to_message("user", user_prompt)
            messages = [*messages, replace(prompt, tokens=self._counter.message(prompt))]
        room = self._budget.trigger - preview.total + preview.messages + preview.user_prompt
        parts = request.RequestParts(
            agent_description=row["agent_description"],
            project_context=row["project_context"],
            checkpoint=checkpoint.render(),
            messages=fit_messages(messages, room, self._counter),
        )
        return request.build_body(parts, shape)

    def preview_request(self, *, user_prompt: str = "") -> Preview:
        """Return the estimated tokens of the next request by part, in constant time."""
        return self._preview(self._row(), user_prompt)

    def maybe_compact(self, *, user_prompt: str = "") -> CompactionResult | None:
        """Compact if the threshold is reached. Never raises: a failure is reported as an event.

        Emits `limit-warning` once when the window is nearly full.
        """
        try:
            preview = self.preview_request(user_prompt=user_prompt)
            if preview.total < preview.trigger:
                self._warn(preview)
                return None
            return compact(self._state(preview), self._context)
        except CompactionInProgress:
            return None
        except NothingToCompact:
            self._warn(preview)
            return None
        except Exception as problem:
            # The agent must go on; the request is cut to fit in any case.
            self._emit(events.ERROR, {"error": str(problem) or type(problem).__name__})
            return None

    def force_compact(self) -> CompactionResult:
        """Compact now. Raises `NothingToCompact` or `CompactionFailed` on failure.

        A conversation of only a few messages keeps just the last one word for word.
        """
        try:
            return compact(self._state(self.preview_request()), self._context, is_forced=True)
        except (NothingToCompact, CompactionFailed) as problem:
            self._emit(events.ERROR, {"error": str(problem)})
            raise

    # The whole conversation

    def status(self, *, user_prompt: str = "") -> Status:
        """Return how full the window is: `ok`, `warning` or `full`, with the figures."""
        preview = self.preview_request(user_prompt=user_prompt)
        totals = self._store.one("compaction_totals", id=self._id) or {}
        return Status(
            level=find_level(preview.total, self._budget.warning_tokens, preview.trigger),
            tokens=preview.total,
            limit=preview.limit,
            trigger=preview.trigger,
            share=preview.total / preview.limit,
            compactions=totals["compactions"],
            checkpoint_version=self._row()["version"],
        )

    def metrics(self) -> Metrics:
        """Return counts of compactions, messages, reclaimed tokens and dollars."""
        row = self._row()
        totals = self._store.one("compaction_totals", id=self._id) or {}
        key = {"session": self.session, "feature": self.feature}
        spent = self._store.one("spent_by_conversation", **key) or {"micros": 0}
        return Metrics(
            compactions=totals["compactions"],
            messages=row["messages"],
            messages_compacted=totals["messages"],
            live_messages=row["live_messages"],
            tokens_reclaimed=totals["tokens_reclaimed"],
            checkpoint_version=row["version"],
            dollars=spent["micros"] / MICROS_PER_DOLLAR,
        )

    def archive(self) -> None:
        """Refuse further messages; everything can still be read."""
        self._store.write("archive", id=self._id, at=time.time())

    def reopen(self) -> None:
        """Accept messages again after `archive`."""
        self._store.write("archive", id=self._id, at=None)

    def export(self) -> dict[str, Any]:
        """Return the whole conversation as values that JSON can represent."""
        row = self._row()
        return {
            "session": self.session,
            "feature": self.feature,
            "agent_description": row["agent_description"],
            "project_context": row["project_context"],
            "checkpoints": [
                {**row, "content": json.loads(row["content"])} for row in self.checkpoints()
            ],
            "messages": [
                {"ordinal": m.ordinal, "role": m.role, "content": list(m.blocks),
                 "tokens": m.tokens, "compacted_in": m.compacted_in}
                for m in self.messages(compacted=True)
            ],
            "metrics": asdict(self.metrics()),
        }  # fmt: skip

    def events(self) -> EventStream:
        """Return an iterator over the events from now on, of all conversations of the manager."""
        return self._listeners.stream()

    # Internals

    def _warn(self, preview: Preview) -> None:
        """Emit a warning when the window becomes nearly full; again only after it had room."""
        level = find_level(preview.total, self._budget.warning_tokens, preview.trigger)
        if level == "ok":
            self._context.warned.discard(self._id)
        elif self._id not in self._context.warned:
            self._context.warned.add(self._id)
            detail = {
                "level": level, "tokens": preview.total, "limit": preview.limit,
                "trigger": preview.trigger, "headroom": preview.headroom,
            }  # fmt: skip
            self._emit(events.LIMIT_WARNING, detail)

    def _save_budget(self) -> None:
        """Store the window and thresholds, so that other processes can say how full it is."""
        if self._is_budget_saved:
            return
        self._store.write(
            "set_budget", id=self._id, model=self._counter.model, limit=self._budget.limit,
            trigger=self._budget.trigger, warning=self._budget.warning_tokens,
        )  # fmt: skip
        self._is_budget_saved = True

    def _emit(self, kind: str, detail: dict[str, Any]) -> None:
        """Store the event for other processes, and tell the listeners."""
        with suppress(StoreUnavailable):
            # An agent must go on even if the disk is full.
            self._store.add_event(self._id, kind, detail)
        event = CompactionEvent(
            kind=kind, session=self.session, feature=self.feature, detail=detail
        )
        self._listeners.notify(event)

    def _row(self) -> ConversationRow:
        return self._store.get_or_create(self.session, self.feature)

    def _read(self) -> tuple[ConversationRow, Checkpoint, list[Message]]:
        """Return row, checkpoint and messages as of one moment."""
        with self._store.transaction(writes=False):
            row = self._row()
            return row, self.checkpoint(row["version"]), self.messages()

    def _preview(
        self, row: ConversationRow, user_prompt: str, checkpoint: Checkpoint | None = None
    ) -> Preview:
        if checkpoint is None:
            checkpoint = self.checkpoint(row["version"])
        return Preview(
            agent_description=self._size(row["agent_description"]),
            project_context=self._size(row["project_context"]),
            checkpoint=self._size(checkpoint.render()),
            messages=row["live_tokens"],
            user_prompt=self._size(user_prompt),
            limit=self._budget.limit,
            trigger=self._budget.trigger,
        )

    def _size(self, text: str) -> int:
        """Return the tokens of a part; cached, because most parts are the same in every request."""
        if not text:
            return 0
        if text not in self._sizes:
            if len(self._sizes) > 8:
                self._sizes.clear()
            self._sizes[text] = self._counter.text(text) + MESSAGE_OVERHEAD_TOKENS
        return self._sizes[text]

    def _state(self, preview: Preview) -> ConversationState:
        row, checkpoint, messages = self._read()
        fixed = preview.agent_description + preview.project_context + preview.user_prompt
        return ConversationState(
            id=self._id, session=self.session, feature=self.feature, version=row["version"],
            checkpoint=checkpoint, messages=messages, fixed=fixed, total=preview.total,
        )  # fmt: skip
