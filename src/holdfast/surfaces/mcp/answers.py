"""What each tool answers: text within a budget, about the project that the server runs in."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from holdfast import hosts, settings
from holdfast.actions import notes, refs
from holdfast.actions.beside_log import beside_log
from holdfast.actions.handoffs import described
from holdfast.actions.learned_tokens import scale_of
from holdfast.actions.lookup import Desk, Scope, asking, open_desk
from holdfast.actions.messages import Asking, send, told, waiting
from holdfast.actions.project import project_of
from holdfast.actions.recall import printed
from holdfast.actions.restore import best_state, recall_command
from holdfast.brief.items import items
from holdfast.brief.render import build
from holdfast.brief.template import SECTIONS
from holdfast.brief.tokens import cost
from holdfast.errors import BadUsage, NoSuchRecord
from holdfast.hosts import claude_code
from holdfast.index.search import Filter
from holdfast.store.base import SessionRow
from holdfast.surfaces.cli import team as team_lookups
from holdfast.surfaces.cli.sessions import here, open_store, refresh

NOTHING = "Nothing found."
# What is left of a budget for words about the answer.
FOR_NOTES = 50
CUT = "… (cut at the budget; ask for more with max_tokens)"


def folder() -> str:
    """The project's folder: the host names it, or starts the server in it."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or here()


def _ledger() -> str:
    return settings.load(os.environ, folder()).ledger


@contextmanager
def desk(
    *, session: str | None = None, all_projects: bool = False, with_team: bool = False
) -> Iterator[Desk]:
    """Everything is opened for one call and closed again: other processes write meanwhile."""
    project = project_of(folder())
    with open_store() as (store, chosen):
        calling = hosts.calling(os.environ)
        own = asking(store, project, calling=calling, is_open=True)
        home = own["project"] if own else project
        # What this machine does not know, a team may.
        if session and not (with_team and store.session(session) is None):
            named = asking(store, project, session=session)
            if named and named["project"] != home and not all_projects:
                raise NoSuchRecord(
                    f"session {session} in this project", hint="all_projects: true looks everywhere"
                )
        scope = Scope(own, None if all_projects else home, session)
        with open_desk(store, chosen.index, scope, time.time()) as opened:
            yield opened


def recall(
    query: str,
    max_tokens: int,
    only: Filter,
    *,
    session: str | None,
    all_projects: bool,
    team: bool,
) -> str:
    """The best hits, each under its ref."""
    if not query.strip():
        raise BadUsage("nothing to look for", hint="give words, or a line such as L12")
    with desk(session=session, all_projects=all_projects, with_team=team) as opened:
        budget, ledger = max_tokens - FOR_NOTES, _ledger()
        answer = team_lookups.look_up(opened, query, budget, only, ledger=ledger, asked=team)
        told = [printed(hit, opened.own) for hit in answer.hits] or [NOTHING]
    if answer.left_out:
        told.append(f"({answer.left_out} more hits do not fit into {max_tokens} tokens)")
    return within([*told, *(f"({note})" for note in answer.notes)], max_tokens)


def show_lines(ref: str, max_tokens: int, *, all_projects: bool, team: bool) -> str:
    """Raw transcript lines."""
    asked = refs.parse(ref)
    if asked is None:
        raise BadUsage(f"{ref[:80]!r} is no ref", hint=refs.HINT)
    with desk(all_projects=all_projects) as opened:
        shown = team_lookups.show(opened, asked, ledger=_ledger(), asked=team)
    copied = [f"({refs.COPIED})"] if any(one.is_copy for one in shown) else []
    sent = [f"({refs.SENT})"] if any(one.of_team for one in shown) else []
    return within([*(one.text for one in shown), *copied, *sent], max_tokens)


def state(section: str, max_tokens: int) -> str:
    """What is known of the session: everything, or one section."""
    with desk() as opened:
        known = items(refresh(opened.store, _session(opened)).state)
    lines: list[str] = []
    for key, title in SECTIONS.items():
        here = [item.forms[0] for item in known if item.section == key]
        if here and section in ("", key):
            lines += [f"## {title}", *here]
    return within(lines, max_tokens) or NOTHING


def brief(max_tokens: int | None = None) -> str:
    """What would be restored after a compaction now."""
    chosen = settings.load(os.environ, folder())
    budget = max_tokens or chosen.brief_tokens
    with desk() as opened:
        row = _session(opened)
        current = best_state(opened.store, refresh(opened.store, row))
        commands, noted = beside_log(opened.store, row["id"], current, chosen, row["project"])
    made = build(
        current,
        commands=commands,
        notes=noted,
        tokens=budget,
        characters=claude_code.CHARACTERS,
        recall=recall_command(),
        session=row["id"],
        scale=scale_of(chosen.home, current["usage"]["model"]),
    )
    return made.text or f"A brief does not fit into {budget} tokens."


def note(text: str, kind: str) -> str:
    """Write into the session's notes, as `holdfast note` does."""
    if not text.strip():
        raise BadUsage("a note needs words")
    with desk() as opened:
        row = _session(opened)
        current = refresh(opened.store, row).state
        opened.store.begin()
        path = notes.note(opened.store, row["id"], current, row["project"], text, kind, time.time())
        opened.store.commit()
    return f"Noted in {path}."


def notes_text() -> str:
    """The session's notes as they stand."""
    with desk() as opened:
        row = _session(opened)
        return notes.text_of(row["project"], row["id"]) or "Nothing was noted yet."


def messages(agent: str, again: bool, max_tokens: int) -> str:
    """What other agents said to this one, and not twice unless asked for again."""
    found = waiting(_ledger(), _asking(agent), again=again)
    return within(map(told, found), max_tokens) or "No messages wait."


def send_message(agent: str, to: str, topic: str, text: str) -> str:
    if not text.strip():
        raise BadUsage("a message needs words")
    path = _ledger()
    sent = send(path, _asking(agent), to=to, topic=topic, text=text)
    return f"Sent to {sent['to_agent_id'] or 'all who listen'}."


def _asking(agent: str) -> Asking:
    with desk() as opened:
        row = _session(opened)
    return Asking(row["id"], row["project"], agent)


def handoff(ident: str, max_tokens: int) -> str:
    """What sub-agents handed on, newest first; or all that one of them said."""
    with desk() as opened:
        if ident:
            return within(opened.store.handoff(ident)["raw"].splitlines(), max_tokens)
        row = _session(opened)
        current = refresh(opened.store, row).state
        found = [described(one, current) for one in opened.store.handoffs(row["id"])]
    told: list[str] = []
    for one in found:
        says = " ".join(part for part in (one["agent_type"], one["decision"]) if part)
        told.append(f"## {one['id']} {says}: {one['task']}".rstrip(": "))
        told += str(one["content"].get("context_summary", "")).splitlines()
    return within(told, max_tokens) or NOTHING


def _session(opened: Desk) -> SessionRow:
    row = opened.store.session(opened.own) if opened.own else None
    if row is None:
        raise NoSuchRecord(
            f"a session of {project_of(folder())}", hint="`holdfast install` registers the hooks"
        )
    return row


def within(lines: Iterable[str], max_tokens: int) -> str:
    """As many lines as the budget holds; the one that breaks it is cut."""
    room = max_tokens - cost(CUT) - 1
    told: list[str] = []
    for line in lines:
        price = cost(line + "\n")
        if price > room:
            told += [*_cut(line, room), CUT]
            break
        told.append(line)
        room -= price
    return "\n".join(told)


def _cut(line: str, room: float) -> list[str]:
    length = min(len(line), max(0, int(3 * room)))
    while length and cost(line[:length] + "\n") > room:
        length = length * 9 // 10
    return [line[:length]] if length else []
