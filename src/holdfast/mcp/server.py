"""The MCP server: tools for lookups, notes and messages; brief and notes as resources.

Only this module imports the MCP SDK, which is an optional dependency.
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
from holdfast.brief.template import SECTIONS
from holdfast.errors import HoldfastError
from holdfast.mcp import tools
from holdfast.redaction import redact
from holdfast.search.documents import KINDS
from holdfast.search.search import Filter
from holdfast.services.time_parsing import parse_time

INSTRUCTIONS = (
    "Holdfast has everything that was said and done in this coding session, including what a "
    "compaction dropped. Before you ask the user again or redo work, look it up with recall: by "
    "words, or by a ref such as L12."
)
P = ParamSpec("P")
if TYPE_CHECKING:
    Kind: TypeAlias = str
    Section: TypeAlias = str
else:
    # Built from the constants, so that the schema is always complete. Type checkers reject that.
    Kind, Section = Literal[KINDS], Literal[tuple(SECTIONS)]
MaxTokens = Annotated[int, Field(ge=100, le=20_000, description="maximum tokens of the answer")]
AllProjects = Annotated[bool, Field(description="also search sessions of other projects")]
Team = Annotated[bool, Field(description="also search what other machines sent to the team")]
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)


def wrap_tool(tool: Callable[P, str], error: type[Exception] = ToolError) -> Callable[P, str]:
    """Return the tool with redacted results and with errors of Holdfast raised as `error`, whose
    message the model reads.
    """

    @wraps(tool)
    def answer(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return redact(tool(*args, **kwargs))
        except HoldfastError as problem:
            hint = f" ({problem.hint})" if problem.hint else ""
            raise error(redact(f"{problem}{hint}")) from None

    return answer


def recall(
    query: Annotated[
        str, Field(description="words to search for, or a ref: L12, notes:L12, ID:L12")
    ],
    max_tokens: MaxTokens = 800,
    kinds: Annotated[list[Kind] | None, Field(description="only these kinds of event")] = None,
    file: Annotated[str, Field(description="only what concerns this file")] = "",
    tool: Annotated[str, Field(description="only calls and results of this tool")] = "",
    since: Annotated[str, Field(description="only since then: 2h, 3d, 2026-11-15")] = "",
    session: Annotated[str | None, Field(description="only this session (exact id)")] = None,
    before_compaction: Annotated[
        bool, Field(description="only what is before the last compaction")
    ] = False,
    all_projects: AllProjects = False,
    team: Team = False,
) -> str:
    """Search everything said, done or printed in this project's sessions; verbatim, with refs."""
    filters = Filter(
        kinds=tuple(kinds or ()),
        tool=tool,
        file=file,
        since=parse_time(since, time.time()) if since else 0.0,
        before_compaction=before_compaction,
    )
    return tools.recall(
        query, max_tokens, filters, session=session, all_projects=all_projects, team=team
    )


def show(
    ref: Annotated[str, Field(description="L12, L12-15, notes:L12, or ID:L12 of another session")],
    max_tokens: MaxTokens = 2000,
    all_projects: AllProjects = False,
    team: Team = False,
) -> str:
    """Read the raw transcript lines of a ref."""
    return tools.show_lines(ref, max_tokens, all_projects=all_projects, team=team)


def state(
    section: Annotated[Section | None, Field(description="only this section")] = None,
    max_tokens: MaxTokens = 2000,
) -> str:
    """Read the state of this session: requests, rules, plan, decisions, files, failures."""
    return tools.state(section or "", max_tokens)


def brief(
    max_tokens: Annotated[
        int | None, Field(ge=100, le=3000, description="maximum tokens; default: the setting")
    ] = None,
) -> str:
    """Read the brief of this session: what would be restored after a compaction now."""
    return tools.brief(max_tokens)


def note(
    text: Annotated[str, Field(min_length=1, max_length=2000, description="the text of the note")],
    kind: Annotated[
        Literal["note", "decision", "blocker", "next", "unblocked"],
        Field(description="the kind of note; unblocked ends a blocker"),
    ] = "note",
) -> str:
    """Add an entry to the session's notes, which stay readable after a compaction."""
    return tools.note(text, kind)


def messages(
    agent: Annotated[str, Field(description="your agent id; default: this session")] = "",
    text: Annotated[
        str, Field(max_length=4000, description="send this text instead of reading")
    ] = "",
    to: Annotated[str, Field(description="the receiver; default: all agents")] = "",
    topic: Annotated[str, Field(max_length=200, description="the topic of the message")] = "",
    again: Annotated[bool, Field(description="also messages that were read before")] = False,
    max_tokens: MaxTokens = 1000,
) -> str:
    """Read new messages from other agents, each once; with `text`, send one."""
    if text:
        return tools.send_message(agent, to, topic, text)
    return tools.messages(agent, again, max_tokens)


def handoff(
    id: Annotated[
        str, Field(description="id of a handoff: read the sub-agent's whole response")
    ] = "",
    max_tokens: MaxTokens = 2000,
) -> str:
    """Read the handoffs of this session's sub-agents, at most 500 tokens each."""
    return tools.handoff(id, max_tokens)


def make_server() -> MCPServer:
    """Return the server with its tools and resources."""
    server = MCPServer(
        "holdfast", instructions=INSTRUCTIONS, version=holdfast.__version__, log_level="WARNING"
    )
    for tool in (recall, show, state, brief, handoff):
        server.tool(annotations=READS, structured_output=False)(wrap_tool(tool))
    for writing_tool in (note, messages):
        server.tool(annotations=WRITES, structured_output=False)(wrap_tool(writing_tool))

    def read_brief() -> str:
        """Read the brief of this session: what would be restored after a compaction now."""
        return tools.brief()

    def read_notes() -> str:
        """Read the notes of this session, by people, agents and Holdfast."""
        return tools.read_session_notes()

    for name, read in (("brief", read_brief), ("notes", read_notes)):
        resource = server.resource(f"holdfast://{name}", name=name, mime_type="text/markdown")
        resource(wrap_tool(read, ResourceError))
    return server


def main() -> None:
    """Serve on stdin and stdout until the host closes them."""
    make_server().run("stdio")
