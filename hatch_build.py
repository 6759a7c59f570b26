"""Copy what the page loads from npm packages into the wheel.

Runs when a wheel or an editable installation is built. Where npm is missing or cannot be reached,
the wheel has none of it: the page then shows tables in place of charts, and says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path("src", "holdfast", "server", "web")
# Files of packages, and their names in the page's folder.
FILES = {
    "htmx.org/dist/htmx.min.js": "htmx.js",
    "uplot/dist/uPlot.iife.min.js": "uplot.js",
    "uplot/dist/uPlot.min.css": "uplot.css",
}
NPM_TIMEOUT_SECONDS = 120


class NpmBuildHook(BuildHookInterface[Any]):
    """Installs the packages of package-lock.json into a temporary folder, and copies files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        web = Path(self.root) / WEB
        target = web / "static" / "vendor"
        problem = "" if is_up_to_date(target, web / "npm") else copy_files(web / "npm", target)
        if problem:
            self.app.display_warning(f"The page will have no charts: {problem}")
        build_data["artifacts"].append(f"/{(WEB / 'static' / 'vendor').as_posix()}/**")


def is_up_to_date(target: Path, npm: Path) -> bool:
    """Return whether the files were copied after the lock file last changed."""
    copied = [target / name for name in FILES.values()]
    locked_at = (npm / "package-lock.json").stat().st_mtime
    return all(file.exists() and file.stat().st_mtime >= locked_at for file in copied)


def copy_files(npm: Path, target: Path) -> str:
    """Copy the files of the locked packages; return why that is not possible, or ""."""
    program = shutil.which("npm")
    if program is None:
        return "npm is not installed"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(npm / name, folder)
        try:
            subprocess.run(
                [program, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=folder, check=True, capture_output=True, text=True,
                timeout=NPM_TIMEOUT_SECONDS, shell=os.name == "nt",
            )  # fmt: skip
        except (subprocess.SubprocessError, OSError) as problem:
            return f"`npm ci` failed: {getattr(problem, 'stderr', '') or problem}".strip()
        target.mkdir(parents=True, exist_ok=True)
        for source, name in FILES.items():
            (target / name).write_bytes((Path(folder) / "node_modules" / source).read_bytes())
    return ""


if __name__ == "__main__":
    web_folder = Path(__file__).parent / WEB
    sys.exit(copy_files(web_folder / "npm", web_folder / "static" / "vendor"))
