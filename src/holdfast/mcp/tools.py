"""The answers of the MCP tools: text within a token limit, about the server's project."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from holdfast import hosts, settings
from holdfast.brief.render import build_brief, collect_items
from holdfast.brief.template import SECTIONS
from holdfast.errors import InvalidInput, NotFound
from holdfast.hosts import claude_code
from holdfast.notes import files
from holdfast.search.search import Filter
from holdfast.services.compaction.brief_inputs import load_brief_inputs
from holdfast.services.compaction.handoffs import with_agent_details
from holdfast.services.compaction.restore import choose_state, find_recall_command
from holdfast.services.messages import MessageAgent, post_message, read_messages, render_message
from holdfast.services.projects import find_project
from holdfast.services.recall import refs, team_lookup
from holdfast.services.recall.lookup import (
    LookupContext,
    LookupScope,
    find_asking_session,
    open_lookup,
    render_hit,
)
from holdfast.services.sessions import current_folder, open_store, refresh_session
from holdfast.store.protocols import SessionRow
from holdfast.tokens.estimate import token_cost
from holdfast.tokens.scales import load_scale

NOTHING_FOUND = "Nothing found."
# Tokens reserved for notes about the answer.
NOTES_TOKENS = 50
TRUNCATED = "… (truncated; max_tokens raises the limit)"


def find_project_folder() -> str:
    """Return the project's folder: from the host's variable, else the current folder."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or current_folder()


def _find_ledger_path() -> str:
    return settings.load(os.environ, find_project_folder()).ledger


@contextmanager
def open_project_lookup(
    *, session: str | None = None, all_projects: bool = False, with_team: bool = False
) -> Iterator[LookupContext]:
    """Open store and index for one call only, because other processes write to them too.

    Raises NotFound if `session` is in another project, unless `all_projects` is set.
    """
    project = find_project(find_project_folder())
    with open_store() as (store, config):
        calling = hosts.calling_session(os.environ)
        own = find_asking_session(store, project, calling=calling, is_open=True)
        home = own["project"] if own else project
        # The team may have a session that this machine does not know.
        if session and not (with_team and store.session(session) is None):
            row = find_asking_session(store, project, session=session)
            if row and row["project"] != home and not all_projects:
                raise NotFound(
                    f"No session {session} in this project",
                    hint="all_projects: true looks everywhere",
                )
        scope = LookupScope(own, None if all_projects else home, session)
        with open_lookup(store, config.index, scope, time.time()) as lookup:
            yield lookup


def recall(
    query: str,
    max_tokens: int,
    filters: Filter,
    *,
    session: str | None,
    all_projects: bool,
    team: bool,
) -> str:
    """Return the best hits, each with its ref."""
    if not query.strip():
        raise InvalidInput("No search words were given", hint="give words, or a line such as L12")
    with open_project_lookup(session=session, all_projects=all_projects, with_team=team) as lookup:
        budget, ledger = max_tokens - NOTES_TOKENS, _find_ledger_path()
        answer = team_lookup.look_up_with_team(
            lookup, query, budget, filters, ledger=ledger, include_team=team
        )
        lines = [render_hit(hit, lookup.own) for hit in answer.hits] or [NOTHING_FOUND]
    if answer.left_out:
        lines.append(f"({answer.left_out} more hits do not fit into {max_tokens} tokens)")
    return fit_lines([*lines, *(f"({note})" for note in answer.notes)], max_tokens)


def show_lines(ref: str, max_tokens: int, *, all_projects: bool, team: bool) -> str:
    """Return the raw transcript lines of a ref."""
    parsed_ref = refs.parse_ref(ref)
    if parsed_ref is None:
        raise InvalidInput(f"{ref[:80]!r} is not a ref", hint=refs.REF_HINT)
    with open_project_lookup(all_projects=all_projects) as lookup:
        shown_lines = team_lookup.show_with_team(
            lookup, parsed_ref, ledger=_find_ledger_path(), include_team=team
        )
    copied = [f"({refs.COPY_NOTE})"] if any(item.is_copy for item in shown_lines) else []
    sent = [f"({refs.TEAM_COPY_NOTE})"] if any(item.of_team for item in shown_lines) else []
    return fit_lines([*(item.text for item in shown_lines), *copied, *sent], max_tokens)


def state(section: str, max_tokens: int) -> str:
    """Return the state of the session, or one section of it."""
    with open_project_lookup() as lookup:
        items = collect_items(refresh_session(lookup.store, _find_session(lookup)).state)
    lines: list[str] = []
    for key, title in SECTIONS.items():
        texts = [item.forms[0] for item in items if item.section == key]
        if texts and section in ("", key):
            lines += [f"## {title}", *texts]
    return fit_lines(lines, max_tokens) or NOTHING_FOUND


def brief(max_tokens: int | None = None) -> str:
    """Return the brief that a compaction would restore now."""
    config = settings.load(os.environ, find_project_folder())
    budget = max_tokens or config.brief_tokens
    with open_project_lookup() as lookup:
        row = _find_session(lookup)
        current = choose_state(lookup.store, refresh_session(lookup.store, row))
        commands, notes = load_brief_inputs(
            lookup.store, row["id"], current, config, row["project"]
        )
    built = build_brief(
        current,
        commands=commands,
        notes=notes,
        tokens=budget,
        characters=claude_code.MAX_BRIEF_UNITS,
        recall=find_recall_command(),
        session=row["id"],
        scale=load_scale(config.home, current["usage"]["model"]),
    )
    return built.text or f"A brief does not fit into {budget} tokens."


def note(text: str, kind: str) -> str:
    """Add an entry to the session's notes."""
    if not text.strip():
        raise InvalidInput("The note is empty")
    with open_project_lookup() as lookup:
        row = _find_session(lookup)
        current = refresh_session(lookup.store, row).state
        lookup.store.begin()
        path = files.add_note(
            lookup.store, row["id"], current, row["project"], text, kind, time.time()
        )
        lookup.store.commit()
    return f"Added to {path}."


def read_session_notes() -> str:
    """Return the session's notes."""
    with open_project_lookup() as lookup:
        row = _find_session(lookup)
        return files.read_notes(row["project"], row["id"]) or "There are no notes yet."


def messages(agent: str, again: bool, max_tokens: int) -> str:
    """Return new messages from other agents; with `again`, also those that were read before."""
    received = read_messages(_find_ledger_path(), _find_agent(agent), again=again)
    return fit_lines(map(render_message, received), max_tokens) or "No new messages."


def send_message(agent: str, to: str, topic: str, text: str) -> str:
    """Send a message to an agent, or to all, and confirm it. Raises InvalidInput if it is empty."""
    if not text.strip():
        raise InvalidInput("The message is empty")
    path = _find_ledger_path()
    sent = post_message(path, _find_agent(agent), to=to, topic=topic, text=text)
    return f"Sent to {sent['to_agent_id'] or 'all agents'}."


def _find_agent(agent: str) -> MessageAgent:
    with open_project_lookup() as lookup:
        row = _find_session(lookup)
    return MessageAgent(row["id"], row["project"], agent)


def handoff(ident: str, max_tokens: int) -> str:
    """Return the handoffs of sub-agents, newest first, or the whole response of one of them."""
    with open_project_lookup() as lookup:
        if ident:
            return fit_lines(lookup.store.handoff(ident)["raw"].splitlines(), max_tokens)
        row = _find_session(lookup)
        current = refresh_session(lookup.store, row).state
        handoffs = [with_agent_details(item, current) for item in lookup.store.handoffs(row["id"])]
    lines: list[str] = []
    for item in handoffs:
        title = " ".join(part for part in (item["agent_type"], item["decision"]) if part)
        lines.append(f"## {item['id']} {title}: {item['task']}".rstrip(": "))
        lines += str(item["content"].get("context_summary", "")).splitlines()
    return fit_lines(lines, max_tokens) or NOTHING_FOUND


def _find_session(lookup: LookupContext) -> SessionRow:
    """Return the session that asks. Raises NotFound if none is recorded."""
    row = lookup.store.session(lookup.own) if lookup.own else None
    if row is None:
        raise NotFound(
            f"No session recorded for {find_project(find_project_folder())}",
            hint="`holdfast install` registers the hooks",
        )
    return row


def fit_lines(lines: Iterable[str], max_tokens: int) -> str:
    """Return as many lines as fit into `max_tokens`; the first that does not fit is cut."""
    tokens_left = max_tokens - token_cost(TRUNCATED) - 1
    fitting: list[str] = []
    for line in lines:
        tokens = token_cost(line + "\n")
        if tokens > tokens_left:
            fitting += [*_cut_line(line, tokens_left), TRUNCATED]
            break
        fitting.append(line)
        tokens_left -= tokens
    return "\n".join(fitting)


def _cut_line(line: str, max_tokens: float) -> list[str]:
    """Return the start of a line that fits into `max_tokens`, or nothing."""
    # A token has about three characters, so this is a first guess.
    length = min(len(line), max(0, int(3 * max_tokens)))
    while length and token_cost(line[:length] + "\n") > max_tokens:
        length = length * 9 // 10
    return [line[:length]] if length else []
