"""One conversation: messages go in, requests that fit come out."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from typing import Any

from holdfast.errors import BadUsage, CompactionFailed, NothingToCompact
from holdfast.redact import redact
from holdfast.session import events, request
from holdfast.session.budget import PER_MESSAGE
from holdfast.session.checkpoint import ALIASES, NAMES, Checkpoint
from holdfast.session.compaction import Compaction, Means, Standing, compact
from holdfast.session.events import Event, Listeners, Stream
from holdfast.session.figures import Metrics, Preview
from holdfast.session.fit import fitted
from holdfast.session.message import Message, normalise, stored
from holdfast.session.spend import MILLION
from holdfast.store.conversations import CheckpointRow, ConversationRow


class Conversation:
    """Made by `SessionManager.get_or_create`. Safe to share among threads and processes."""

    def __init__(self, session: str, feature: str, means: Means, listeners: Listeners) -> None:
        self.session, self.feature = session, feature
        self._store, self._counter, self._budget = means.store, means.counter, means.budget
        self._listeners = listeners
        self._means = replace(means, tell=self._tell)
        self._id = self._store.get_or_create(session, feature)["id"]
        self._sizes: dict[str, int] = {}

    # What is said

    def add_message(
        self, role: Any, content: Any = None, *, tool_call_id: str = "", tool_calls: Any = ()
    ) -> int:
        """Keep a message: a role and its content, or a whole message of either API.

        Returns its ordinal. Secrets are replaced before anything is stored.
        """
        message = normalise(role, content, tool_call_id=tool_call_id, tool_calls=tool_calls)
        tokens, now = self._counter.message(message), time.time()
        text = json.dumps(message.blocks)
        with self._store.transaction():
            counted = self._store.one("count_message", id=self._id, tokens=tokens, now=now)
            if counted is None:
                raise BadUsage(f"{self.session} is archived", hint="`reopen` it first")
            self._store.write(
                "add_message", id=self._id, ordinal=counted["messages"], role=message.role,
                content=text, tokens=tokens, now=now,
            )  # fmt: skip
        return int(counted["messages"])

    def messages(self, *, compacted: bool = False) -> list[Message]:
        """Those that the next request carries; with `compacted` all that there ever were."""
        name = "all_messages" if compacted else "live_messages"
        return [stored(row) for row in self._store.all(name, id=self._id)]

    def clear_messages(self) -> int:
        """Delete the messages that are not in a checkpoint yet; returns how many."""
        with self._store.transaction():
            gone = self._store.write("clear_messages", id=self._id)
            version = self._row()["version"]
            self._store.write(
                "set_live", id=self._id, messages=0, tokens=0, version=version, now=time.time()
            )
        return gone

    # What is known

    def set_agent_description(self, text: str) -> None:
        """What the agent is told about itself, in every request."""
        self._store.write("describe_agent", id=self._id, text=redact(text), now=time.time())

    def set_project_context(self, text: str) -> None:
        """What it is told about the project, in every request."""
        self._store.write("describe_project", id=self._id, text=redact(text), now=time.time())

    def checkpoint(self, version: int | None = None) -> Checkpoint:
        """The newest, or the one of a version; empty if there is none yet."""
        wanted = self._row()["version"] if version is None else version
        row = self._store.one("checkpoint", id=self._id, version=wanted)
        return Checkpoint.parse(json.loads(row["content"])) if row else Checkpoint()

    def checkpoints(self) -> list[CheckpointRow]:
        """Every version, with who made it and what it saved."""
        return self._store.all("checkpoints", id=self._id)  # type: ignore[return-value]

    def update_checkpoint(self, **lists: list[str]) -> int:
        """Replace some lists of the checkpoint; returns its new version."""
        if unknown := [name for name in lists if ALIASES.get(name, name) not in NAMES]:
            raise BadUsage(f"a checkpoint has no {unknown[0]!r}", hint=", ".join(sorted(NAMES)))
        with self._store.transaction():
            row = self._row()
            known = self.checkpoint(row["version"]).as_dict()
            given = {ALIASES.get(name, name): items for name, items in lists.items()}
            made = Checkpoint.parse({**known, **given})
            version = row["version"] + 1
            self._store.write(
                "add_checkpoint", id=self._id, version=version, content=json.dumps(made.as_dict()),
                tokens=self._counter.text(made.render()), made_by="caller", messages=0,
                tokens_before=0, tokens_reclaimed=0, now=time.time(),
            )  # fmt: skip
            self._store.write(
                "set_live", id=self._id, messages=row["live_messages"],
                tokens=row["live_tokens"], version=version, now=time.time(),
            )  # fmt: skip
        return version

    # What is sent

    def build_request(self, shape: str = "anthropic", *, user_prompt: str = "") -> dict[str, Any]:
        """The body of the next request, compacted if it is time; `user_prompt` is not kept."""
        self.maybe_compact(user_prompt=user_prompt)
        row, checkpoint, messages = self._read()
        preview = self._preview(row, user_prompt, checkpoint)
        if user_prompt:
            said = normalise("user", user_prompt)
            messages = [*messages, replace(said, tokens=self._counter.message(said))]
        room = self._budget.trigger - preview.total + preview.messages + preview.user_prompt
        parts = request.Parts(
            agent_description=row["agent_description"],
            project_context=row["project_context"],
            checkpoint=checkpoint.render(),
            messages=fitted(messages, room, self._counter),
        )
        return request.body(parts, shape)

    def preview_request(self, *, user_prompt: str = "") -> Preview:
        """What it would take, part by part; it costs the same for any number of messages."""
        return self._preview(self._row(), user_prompt)

    def maybe_compact(self, *, user_prompt: str = "") -> Compaction | None:
        """Compact if the threshold is reached. Never raises: what went wrong is an event."""
        try:
            preview = self.preview_request(user_prompt=user_prompt)
            if preview.total < preview.trigger:
                return None
            return compact(self._standing(preview), self._means)
        except NothingToCompact:
            return None
        except Exception as problem:
            # Whatever it is, the agent goes on; the request is made to fit all the same.
            self._tell(events.ERROR, {"error": str(problem) or type(problem).__name__})
            return None

    def force_compact(self) -> Compaction:
        """Compact now. Raises `NothingToCompact` or `CompactionFailed` if it did not happen."""
        try:
            return compact(self._standing(self.preview_request()), self._means)
        except (NothingToCompact, CompactionFailed) as problem:
            self._tell(events.ERROR, {"error": str(problem)})
            raise

    # The whole of it

    def metrics(self) -> Metrics:
        """Compactions, messages, tokens reclaimed, dollars."""
        row = self._row()
        totals = self._store.one("compaction_totals", id=self._id) or {}
        place = {"session": self.session, "feature": self.feature}
        spent = self._store.one("spent_by_conversation", **place) or {"micros": 0}
        return Metrics(
            compactions=totals["compactions"],
            messages=row["messages"],
            messages_compacted=totals["messages"],
            live_messages=row["live_messages"],
            tokens_reclaimed=totals["tokens_reclaimed"],
            checkpoint_version=row["version"],
            dollars=spent["micros"] / MILLION,
        )

    def archive(self) -> None:
        """Nothing is added to it any more; everything can still be read."""
        self._store.write("archive", id=self._id, at=time.time())

    def reopen(self) -> None:
        """Take it up again."""
        self._store.write("archive", id=self._id, at=None)

    def export(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        row = self._row()
        return {
            "session": self.session,
            "feature": self.feature,
            "agent_description": row["agent_description"],
            "project_context": row["project_context"],
            "checkpoints": [
                {**one, "content": json.loads(one["content"])} for one in self.checkpoints()
            ],
            "messages": [
                {"ordinal": m.ordinal, "role": m.role, "content": list(m.blocks),
                 "tokens": m.tokens, "compacted_in": m.compacted_in}
                for m in self.messages(compacted=True)
            ],
            "metrics": asdict(self.metrics()),
        }  # fmt: skip

    def events(self) -> Stream:
        """An iterator over what happens from now on, in all conversations of the manager."""
        return self._listeners.stream()

    # Within

    def _tell(self, kind: str, detail: dict[str, Any]) -> None:
        event = Event(kind=kind, session=self.session, feature=self.feature, detail=detail)
        self._listeners.tell(event)

    def _row(self) -> ConversationRow:
        return self._store.get_or_create(self.session, self.feature)

    def _read(self) -> tuple[ConversationRow, Checkpoint, list[Message]]:
        """Row, checkpoint and messages of one moment."""
        with self._store.transaction(writes=False):
            row = self._row()
            return row, self.checkpoint(row["version"]), self.messages()

    def _preview(
        self, row: ConversationRow, user_prompt: str, checkpoint: Checkpoint | None = None
    ) -> Preview:
        known = self.checkpoint(row["version"]) if checkpoint is None else checkpoint
        return Preview(
            agent_description=self._size(row["agent_description"]),
            project_context=self._size(row["project_context"]),
            checkpoint=self._size(known.render()),
            messages=row["live_tokens"],
            user_prompt=self._size(user_prompt),
            limit=self._budget.limit,
            trigger=self._budget.trigger,
        )

    def _size(self, text: str) -> int:
        """Tokens of a part; what stays the same from request to request is counted once."""
        if not text:
            return 0
        if text not in self._sizes:
            if len(self._sizes) > 8:
                self._sizes.clear()
            self._sizes[text] = self._counter.text(text) + PER_MESSAGE
        return self._sizes[text]

    def _standing(self, preview: Preview) -> Standing:
        row, checkpoint, messages = self._read()
        fixed = preview.agent_description + preview.project_context + preview.user_prompt
        return Standing(
            id=self._id, session=self.session, feature=self.feature, version=row["version"],
            checkpoint=checkpoint, messages=messages, fixed=fixed, total=preview.total,
        )  # fmt: skip
