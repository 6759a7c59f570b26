"""A settings file in which tests install hooks, and a home folder for Holdfast."""

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

NEW_VERSION, OLD_VERSION = "2.1.325", "2.1.50"
OTHER_SETTINGS = (
    b'{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"command": "say"}]}]}\n}'
)


class Installation:
    """A settings file that may not exist yet, and a home folder for Holdfast."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "claude" / "settings.json"
        self.home = str(root / "home")

    def write(self, data: bytes) -> None:
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(data)

    def install(self, version: str = NEW_VERSION) -> action.SettingsChange:
        change = plan_install(str(self.file), version, self.home)
        action.install(change, self.home)
        return change

    def uninstall(self) -> action.SettingsChange:
        change = plan_uninstall(str(self.file), self.home)
        action.uninstall(change, self.home)
        return change

    def settings(self) -> Any:
        return json.loads(self.file.read_text(encoding="utf-8-sig"))

    def our_entries(self) -> dict[str, list[str]]:
        return hook_settings.find_our_entries(self.settings())


@contextmanager
def new_installation(data: bytes) -> Iterator[Installation]:
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder))
        installation.write(data)
        yield installation
