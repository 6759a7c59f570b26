"""The MCP server: tools to look things up, and the current brief as a resource.

Only this module knows the SDK, which is an extra.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Literal, ParamSpec, TypeAlias

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

import holdfast
from holdfast.actions.moment import moment
from holdfast.brief.template import SECTIONS
from holdfast.errors import HoldfastError
from holdfast.index.search import Filter
from holdfast.index.texts import KINDS
from holdfast.surfaces.mcp import answers

INSTRUCTIONS = (
    "Holdfast keeps what this coding session did and said, also what a compaction dropped. Before "
    "asking the user again or redoing work, recall it: by words, or by a ref such as L12."
)
P = ParamSpec("P")
if TYPE_CHECKING:
    Kind: TypeAlias = str
    Section: TypeAlias = str
else:
    # Made of what there is, so that a schema never lags behind; no type checker can read it.
    Kind, Section = Literal[KINDS], Literal[tuple(SECTIONS)]
Budget = Annotated[int, Field(ge=100, le=20_000, description="most tokens to answer with")]
Everywhere = Annotated[bool, Field(description="also sessions of other projects")]
Team = Annotated[bool, Field(description="also what colleagues' machines sent to the team")]
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)


def explained(tool: Callable[P, str], error: type[Exception] = ToolError) -> Callable[P, str]:
    """What can be explained is an answer that the model reads, not a crash."""

    @wraps(tool)
    def answer(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return tool(*args, **kwargs)
        except HoldfastError as problem:
            hint = f" ({problem.hint})" if problem.hint else ""
            raise error(f"{problem}{hint}") from None

    return answer


def recall(
    query: Annotated[str, Field(description="words to look for, or a ref: L12, notes:L12, ID:L12")],
    max_tokens: Budget = 800,
    kinds: Annotated[list[Kind] | None, Field(description="only these kinds of event")] = None,
    file: Annotated[str, Field(description="only what has to do with this file")] = "",
    tool: Annotated[str, Field(description="only calls and results of this tool")] = "",
    since: Annotated[str, Field(description="not older than: 2h, 3d, 2026-11-15")] = "",
    session: Annotated[str | None, Field(description="only this session, by its exact id")] = None,
    before_compaction: Annotated[
        bool, Field(description="only what stands before the last compaction")
    ] = False,
    all_projects: Everywhere = False,
    team: Team = False,
) -> str:
    """Find anything said, done or printed in this project's sessions, verbatim, with refs."""
    only = Filter(
        kinds=tuple(kinds or ()),
        tool=tool,
        file=file,
        since=moment(since, time.time()) if since else 0.0,
        before_compaction=before_compaction,
    )
    return answers.recall(
        query, max_tokens, only, session=session, all_projects=all_projects, team=team
    )


def show(
    ref: Annotated[str, Field(description="L12, L12-15, notes:L12, or ID:L12 of another session")],
    max_tokens: Budget = 2000,
    all_projects: Everywhere = False,
    team: Team = False,
) -> str:
    """The raw transcript line or lines that a ref names."""
    return answers.show_lines(ref, max_tokens, all_projects=all_projects, team=team)


def state(
    section: Annotated[Section | None, Field(description="only this part of it")] = None,
    max_tokens: Budget = 2000,
) -> str:
    """All that is known of this session: requests, rules, plan, decisions, files, failures."""
    return answers.state(section or "", max_tokens)


def brief(
    max_tokens: Annotated[
        int | None, Field(ge=100, le=3000, description="most tokens; default: the setting")
    ] = None,
) -> str:
    """Where this session stands: what would be restored after a compaction now."""
    return answers.brief(max_tokens)


def note(
    text: Annotated[str, Field(min_length=1, max_length=2000, description="the words")],
    kind: Annotated[
        Literal["note", "decision", "blocker", "next", "unblocked"],
        Field(description="what it is; unblocked ends a blocker"),
    ] = "note",
) -> str:
    """Write something down for whoever works on after a compaction; notes outlive summaries."""
    return answers.note(text, kind)


def messages(
    agent: Annotated[str, Field(description="your agent id; default: this session")] = "",
    text: Annotated[str, Field(max_length=4000, description="say this instead of reading")] = "",
    to: Annotated[str, Field(description="to this agent; default: to all who listen")] = "",
    topic: Annotated[str, Field(max_length=200, description="what it is about")] = "",
    again: Annotated[bool, Field(description="also what you have read")] = False,
    max_tokens: Budget = 1000,
) -> str:
    """Messages from other agents, each told once; with `text`, send one."""
    if text:
        return answers.send_message(agent, to, topic, text)
    return answers.messages(agent, again, max_tokens)


def handoff(
    id: Annotated[str, Field(description="one handoff: all that its sub-agent said")] = "",
    max_tokens: Budget = 2000,
) -> str:
    """What this session's sub-agents handed on when they stopped, at most 500 tokens each."""
    return answers.handoff(id, max_tokens)


def server() -> MCPServer:
    """The server with everything that it offers."""
    made = MCPServer(
        "holdfast", instructions=INSTRUCTIONS, version=holdfast.__version__, log_level="WARNING"
    )
    for tool in (recall, show, state, brief, handoff):
        made.tool(annotations=READS, structured_output=False)(explained(tool))
    for writes in (note, messages):
        made.tool(annotations=ADDS, structured_output=False)(explained(writes))

    def current() -> str:
        """Where this session stands: what would be restored after a compaction now."""
        return answers.brief()

    def noted() -> str:
        """The notes of this session, by people, agents and Holdfast."""
        return answers.notes_text()

    for name, read in (("brief", current), ("notes", noted)):
        resource = made.resource(f"holdfast://{name}", name=name, mime_type="text/markdown")
        resource(explained(read, ResourceError))
    return made


def main() -> None:
    """Serve on stdin and stdout until the host closes them."""
    server().run("stdio")
