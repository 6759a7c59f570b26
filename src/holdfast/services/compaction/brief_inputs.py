"""Parts of a brief beside the transcript: rules of active commands, and notes by people."""

from __future__ import annotations

import os

from holdfast.services.projects import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.state.types import State
    from holdfast.store.protocols import Store

# The part of a brief that rules of active commands may take.
MAX_COMMAND_RULES_CHARS = 1600


def load_brief_inputs(
    store: Store, session: str, state: State, settings: Settings, folder: str
) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return the rules of active commands (name, text, file), and the notes that people wrote."""
    from holdfast.services.compaction.active_commands import load_active_rules

    commands = load_active_rules(state, store, settings, folder, MAX_COMMAND_RULES_CHARS, session)
    project = find_project_with_notes(settings, folder)
    if not project:
        return commands, []
    from holdfast.notes.files import list_user_notes

    return commands, list_user_notes(store, session, project)


def find_project_with_notes(settings: Settings, folder: str) -> str:
    """Return the project around a folder if it keeps notes, else an empty string."""
    if not settings.notes:
        return ""
    project = find_project(folder)
    return project if os.path.isdir(os.path.join(project, ".holdfast")) else ""
