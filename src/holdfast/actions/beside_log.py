"""What a brief tells that the transcript does not: rules of active commands, and people's notes."""

from __future__ import annotations

import os

from holdfast.actions.project import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.state.model import State
    from holdfast.store.base import Store

# Characters that the rules of active commands may take of a brief.
ROOM_IN_BRIEF = 1600


def beside_log(
    store: Store, session: str, state: State, chosen: Settings, folder: str
) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Name, text and file of what each active command asks to be kept; and what people noted."""
    from holdfast.actions.active_commands import active_rules

    commands = active_rules(state, store, chosen, folder, ROOM_IN_BRIEF, session)
    project = project_with_notes(chosen, folder)
    if not project:
        return commands, []
    from holdfast.actions.notes import said_by_people

    return commands, said_by_people(store, session, project)


def project_with_notes(chosen: Settings, folder: str) -> str:
    """The project around a folder if notes are kept there, or nothing."""
    if not chosen.notes:
        return ""
    project = project_of(folder)
    return project if os.path.isdir(os.path.join(project, ".holdfast")) else ""
