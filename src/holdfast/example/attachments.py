"""What the client attaches to a conversation by itself: environment, tools, instructions, date."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.example.session import BRANCH, MODEL, Line, Session

DEFERRED_TOOLS = ["Monitor", "SendMessage", "TaskCreate", "TaskList", "TaskUpdate", "WebFetch"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """The client's own record, and the words the model sees of it (none: it is not sent)."""

    body: Line
    words: str = ""
    role: str = "system"

    def fields(self) -> Line:
        """The keys that stand after `uuid` and `timestamp` on the attachment's line."""
        if not self.words:
            return {}
        # As client 2.1.325 does: text inside a reminder cannot open another reminder.
        words = self.words.replace("<system-reminder>", "&lt;system-reminder>")
        content = f"<system-reminder>\n{words}\n</system-reminder>"
        return {"rendered": [{"content": content}], "renderedRole": self.role}


def environment(session: Session) -> Attachment:
    snapshot = {
        "workingDirectory": session.project_dir,
        "isWorktree": False,
        "isGitRepo": True,
        "additionalWorkingDirectories": [],
        "platform": "linux",
        "shell": "bash",
        "osVersion": "Linux 6.8.0",
    }
    words = (
        "# Environment\nYou have been invoked in the following environment: \n"
        f" - Primary working directory: {session.project_dir}\n - Is a git repository: true\n"
        " - Platform: linux\n - Shell: bash\n - OS Version: Linux 6.8.0"
    )
    return Attachment({"type": "environment", "snapshot": snapshot}, words)


def model() -> Attachment:
    identity = {
        "modelId": MODEL,
        "marketingName": "Sonnet 4.5",
        "knowledgeCutoff": "January 2025",
    }
    words = (
        f"You are powered by the model named Sonnet 4.5. The exact model ID is {MODEL}."
        " Assistant knowledge cutoff is January 2025."
    )
    return Attachment({"type": "model", "identity": identity, "text": words}, words)


def deferred_tools() -> Attachment:
    body: Line = {"type": "deferred_tools_delta", "addedNames": DEFERRED_TOOLS}
    body |= {"addedLines": DEFERRED_TOOLS, "removedNames": [], "readdedNames": []}
    words = "The following deferred tools are now available via ToolSearch.\n"
    return Attachment({**body, "pendingMcpServers": []}, words + "\n".join(DEFERRED_TOOLS))


def agents() -> Attachment:
    line = "- Explore: Read-only search agent for broad fan-out searches. (Tools: Glob, Grep, Read)"
    body: Line = {"type": "agent_listing_delta", "addedTypes": ["Explore"], "addedLines": [line]}
    body |= {"removedTypes": [], "isInitial": True, "showConcurrencyNote": True}
    return Attachment(body, f"Available agent types for the Agent tool:\n{line}")


def instructions(session: Session, text: str) -> Attachment:
    path = session.path("CLAUDE.md")
    file = {"path": path, "type": "Project", "content": text}
    words = (
        "Codebase and user instructions are shown below. Be sure to adhere to these instructions."
        f"\n\nContents of {path} (project instructions, checked into the codebase):\n\n{text}"
    )
    return Attachment({"type": "instructions", "files": [file]}, words, role="user")


def git_status() -> Attachment:
    status = (
        "This is the git status at the start of the conversation. Note that this status is a"
        " snapshot in time, and will not update during the conversation.\n\n"
        f"Current branch: {BRANCH}\n\nMain branch (you will usually use this for PRs): main\n\n"
        "Status:\n(clean)\n\nRecent commits:\n"
        "8c41d0e Give the scheduler its own lock\n"
        "b7729af Add run_after to the jobs table\n"
        "e05b3c2 Replay a dump from the command line"
    )
    words = "As you answer the user's questions, you can use the following context:\n"
    words += f"# gitStatus\n{status}"
    body = {"type": "session_context", "context": {"gitStatus": status}}
    return Attachment(body, words, role="user")


def date(session: Session, seconds: float) -> Attachment:
    today = session.stamp(seconds)[:10]
    return Attachment({"type": "date", "date": today}, f"Today's date is {today}.")


def tokens_left(used: int) -> Attachment:
    words = f"<total_tokens>{15_000_000 - used} tokens left</total_tokens>"
    return Attachment({"type": "total_tokens_reminder", "text": words}, words)


def file(session: Session, name: str, text: str) -> Attachment:
    """A recently used file, shown again after compaction."""
    path, lines = session.path(name), text.split("\n")
    content = {"filePath": path, "content": text, "numLines": len(lines)}
    content |= {"startLine": 1, "totalLines": len(lines)}
    numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 1))
    body: Line = {"type": "file", "filename": path, "content": {"type": "text", "file": content}}
    words = f"Result of calling the Read tool:\n{numbered}"
    body |= {"displayPath": name, "savedCopyFraming": {"enveloped": False}}
    return Attachment(body, words, role="user")


def opening(session: Session, claude_md: str) -> tuple[Attachment, ...]:
    """What the client attaches to the first prompt."""
    return (
        environment(session),
        model(),
        deferred_tools(),
        agents(),
        instructions(session, claude_md),
        git_status(),
        date(session, 0.0),
    )
