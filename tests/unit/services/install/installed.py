"""A place to install hooks in: a settings file, and a home that remembers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.hosts import hook_settings
from holdfast.services.install import registration as action
from holdfast.services.install.registration import plan_install, plan_uninstall

NEW, OLD = "2.1.325", "2.1.50"
OTHERS = b'{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"command": "say"}]}]}\n}'


class Place:
    """A settings file that need not be there, and a home for Holdfast."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "claude" / "settings.json"
        self.home = str(root / "home")

    def write(self, data: bytes) -> None:
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(data)

    def install(self, version: str = NEW) -> action.SettingsChange:
        change = plan_install(str(self.file), version, self.home)
        action.install(change, self.home)
        return change

    def uninstall(self) -> action.SettingsChange:
        change = plan_uninstall(str(self.file), self.home)
        action.uninstall(change, self.home)
        return change

    def settings(self) -> Any:
        return json.loads(self.file.read_text(encoding="utf-8-sig"))

    def ours(self) -> dict[str, list[str]]:
        return hook_settings.find_our_entries(self.settings())


@contextmanager
def new_place(data: bytes) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.write(data)
        yield place
