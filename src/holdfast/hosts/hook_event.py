"""One hook payload, translated from the host's field names into ours."""

from __future__ import annotations


class HookEvent:
    """What the host said when a hook fired. A missing field is an empty string."""

    __slots__ = (
        "agent_id", "agent_transcript_path", "agent_type", "cwd", "host", "is_compaction_fork",
        "last_message", "name", "prompt", "session_id", "slash_command", "source", "summary",
        "tool_name", "transcript_path", "trigger",
    )  # fmt: skip

    def __init__(
        self,
        *,
        host: str,
        name: str,
        session_id: str,
        transcript_path: str = "",
        cwd: str = "",
        source: str = "",
        trigger: str = "",
        summary: str = "",
        agent_id: str = "",
        agent_type: str = "",
        agent_transcript_path: str = "",
        slash_command: str = "",
        last_message: str = "",
        prompt: str = "",
        tool_name: str = "",
        is_compaction_fork: bool = False,
    ) -> None:
        self.host = host
        self.name = name
        """The event by Claude Code's name, such as PreCompact, whatever the host calls it."""
        self.session_id = session_id
        self.transcript_path = transcript_path
        self.cwd = cwd
        self.source = source
        """How a session started (startup, resume, clear, compact), or why it ended."""
        self.trigger = trigger
        """What started a compaction: manual or auto."""
        self.summary = summary
        """The host's summary, where its payload carries one."""
        self.agent_id = agent_id
        """The sub-agent in which the hook fired, or "" for the session itself."""
        self.agent_type = agent_type
        self.agent_transcript_path = agent_transcript_path
        """The sub-agent's own log, where the payload names it."""
        self.slash_command = slash_command
        """The name of the slash command that the user typed."""
        self.last_message = last_message
        self.prompt = prompt
        """The prompt that the user has just sent; the transcript does not hold it yet."""
        self.tool_name = tool_name
        self.is_compaction_fork = is_compaction_fork
        """Whether the sub-agent that stopped is the fork that wrote a compaction's summary."""
