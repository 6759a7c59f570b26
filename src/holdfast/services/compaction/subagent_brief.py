"""Build the brief of a sub-agent that was compacted, from its own log.

It has the sub-agent's task, files, findings and open ends, and the rules that bind it. What its
session works on beside that is not part of it.
"""

from __future__ import annotations

import os

from holdfast.brief.render import build_brief
from holdfast.brief.roles import SESSION_TEMPLATE, built_in_templates
from holdfast.brief.template import Template
from holdfast.errors import UnreadableTranscript
from holdfast.services.compaction.inherited_rules import render_inherited_rules
from holdfast.services.compaction.restore import (
    build_within_bytes,
    find_recall_command,
    quote_path,
)
from holdfast.services.compaction.templates import load_custom_templates
from holdfast.services.projects import find_project
from holdfast.state.completeness import count_items
from holdfast.state.fold import advance, new_state
from holdfast.tokens.estimate import token_cost, utf16_units
from holdfast.tokens.scales import load_scale
from holdfast.transcript.decoder import Decoder
from holdfast.transcript.reader import TranscriptReader
from holdfast.transcript.subagent_logs import (
    find_subagent_log,
    merge_subagent_events,
    strip_sidechain_marks,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.brief.render import Brief
    from holdfast.hosts.base import Host
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.settings import Settings
    from holdfast.state.types import State

# The prompt of a sub-agent was written by another agent, so its rules are not the user's.
SUBAGENT_TEMPLATE = Template(
    "sub-agent",
    "Where this task stands",
    {**SESSION_TEMPLATE.sections, "asked": "Your task", "rules": "Rules of your task"},
)
# The empty line between the brief and the rules of the session.
SEPARATOR = "\n\n"


def find_own_log(event: HookEvent) -> str:
    """Return the path of the sub-agent's log, or "" if it is missing or too large for a hook.

    The payload may name it; otherwise it is beside the session's transcript.
    """
    if event.agent_transcript_path:
        return event.agent_transcript_path
    if is_own_log(event, event.transcript_path):
        return event.transcript_path
    return find_subagent_log(event.transcript_path, event.agent_id)


def is_own_log(event: HookEvent, path: str) -> bool:
    """Whether this file is the log of the sub-agent that the event fired in."""
    return os.path.basename(path).startswith(f"agent-{event.agent_id}.")


def prepare_subagent_brief(
    event: HookEvent,
    log: str,
    session_state: State,
    summary: str,
    *,
    host: Host,
    settings: Settings,
    stop: Callable[[], bool] | None = None,
) -> tuple[str, list[str]]:
    """Return the brief with the rules of the session after it, and any problems.

    `summary` is the host's summary of the sub-agent, "" if it is not known. Without a readable log,
    or if nothing is in it, the text is only the rules.
    """
    rules = render_inherited_rules(session_state)
    if not log:
        return rules, ["no brief, because its log is missing or too large"]
    try:
        state = read_own_state(log, stop)
    except UnreadableTranscript as problem:
        return rules, [f"no brief, because its log cannot be read: {problem}"]
    template, problems = _choose_template(event, settings)
    if not count_items(state):
        return rules, problems
    extra = f"{SEPARATOR}{rules}" if rules else ""

    def build(characters: int) -> Brief:
        return build_brief(
            state,
            template=template,
            tokens=max(0, settings.brief_tokens - int(token_cost(extra))),
            characters=characters,
            summary=summary or None,
            recall=f"{find_recall_command()} --transcript {quote_path(log)}",
            session=f"{event.session_id}/{event.agent_id}",
            scale=load_scale(settings.home, state["usage"]["model"]),
        )

    max_bytes = host.MAX_BRIEF_BYTES and host.MAX_BRIEF_BYTES - len(extra.encode("utf-8"))
    brief = build_within_bytes(build, host.MAX_BRIEF_UNITS - utf16_units(extra), max_bytes)
    return (f"{brief.text.rstrip()}{extra}\n" if brief.text else rules), problems


def read_own_state(log: str, stop: Callable[[], bool] | None = None) -> State:
    """Fold a sub-agent's log as if it were a session's, without the compaction in progress.

    Raises UnreadableTranscript if the file cannot be read.
    """
    lines = strip_sidechain_marks(TranscriptReader(log).lines(stop=stop))
    state = new_state()
    advance(state, merge_subagent_events(Decoder().events(lines), log))
    compactions = state["compactions"]
    if compactions and not compactions[-1]["reply_line"]:
        # The brief counts the compaction that it is for itself.
        state["compactions"] = compactions[:-1]
    return state


def _choose_template(event: HookEvent, settings: Settings) -> tuple[Template, list[str]]:
    """Return the template that names this type of agent, or else the one of sub-agents."""
    custom, problems = load_custom_templates(find_project(event.cwd), settings.home)
    agent_type = event.agent_type.lower()
    for template in (*custom.values(), *built_in_templates().values()):
        if any(word in agent_type for word in template.agents):
            return template, problems
    return SUBAGENT_TEMPLATE, problems
