"""One firing of a hook, in our words."""

from __future__ import annotations


class HookCall:
    """What a host told us. Missing fields are empty, never absent."""

    __slots__ = (
        "agent", "agent_type", "command", "cwd", "event", "host", "is_compaction_fork",
        "last_message", "prompt", "session", "source", "summary", "tool", "transcript", "trigger",
    )  # fmt: skip

    def __init__(
        self,
        *,
        host: str,
        event: str,
        session: str,
        transcript: str = "",
        cwd: str = "",
        source: str = "",
        trigger: str = "",
        summary: str = "",
        agent: str = "",
        agent_type: str = "",
        command: str = "",
        last_message: str = "",
        prompt: str = "",
        tool: str = "",
        is_compaction_fork: bool = False,
    ) -> None:
        self.host = host
        self.event = event
        self.session = session
        self.transcript = transcript
        self.cwd = cwd
        self.source = source
        """How a session started, or why it ended."""
        self.trigger = trigger
        self.summary = summary
        self.agent = agent
        self.agent_type = agent_type
        self.command = command
        """The slash command that a person typed, by its name."""
        self.last_message = last_message
        self.prompt = prompt
        """What a person has just sent; the transcript does not have it yet."""
        self.tool = tool
        self.is_compaction_fork = is_compaction_fork
