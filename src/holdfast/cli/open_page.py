"""Open the page in the browser; start the server first if none is running.

The server goes on in the background, for your user only, until `holdfast open --stop` ends it or
the machine is shut down. `holdfast serve` runs one in the foreground instead.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from contextlib import closing, suppress

from holdfast import fast_json, own_files, settings
from holdfast.cli.console import print_message
from holdfast.cli.serve import DEFAULT_PORT
from holdfast.errors import StoreUnavailable
from holdfast.ledger.connect import open_ledger
from holdfast.services.sessions import current_folder

STATE_FILE, LOG_FILE = "server.json", "server.log"
START_SECONDS, POLL_SECONDS = 15.0, 0.1
REQUEST_SECONDS = 3.0
UNAUTHORIZED = 401


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default="/", metavar="PATH", help="page to open (/)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, metavar="N", help="(%(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--stop", action="store_true", help="stop the server that this started")


def run(args: argparse.Namespace) -> int:
    home = settings.load(os.environ, current_folder()).home
    if args.stop:
        return _stop(home)
    url = f"http://127.0.0.1:{args.port}"
    status = _request(url)
    if status is None:
        _start(home, args.port)
        status = _wait(url, home)
    address = url + "/" + args.path.lstrip("/")
    if status == UNAUTHORIZED:
        address = _make_link(address)
    if args.no_browser or not webbrowser.open(address):
        print(address)
    else:
        print_message(f"{url} is open in your browser.")
    return 0


def _request(url: str) -> int | None:
    """Return the status of the page, or None if no server answers there."""
    try:
        with urllib.request.urlopen(f"{url}/", timeout=REQUEST_SECONDS) as response:
            return int(response.status)
    except urllib.error.HTTPError as refused:
        with closing(refused):
            return refused.code
    except (OSError, ValueError):
        return None


def _start(home: str, port: int) -> None:
    """Start a server that outlives this command."""
    os.makedirs(home, own_files.FOLDER_MODE, exist_ok=True)
    log = os.open(
        os.path.join(home, LOG_FILE), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, own_files.FILE_MODE
    )
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "holdfast", "serve", "--port", str(port)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            cwd=home,
        )  # fmt: skip
    state = fast_json.dumps({"pid": process.pid, "port": port})
    own_files.replace(os.path.join(home, STATE_FILE), state)


def _wait(url: str, home: str) -> int:
    """Wait for the server; raises StoreUnavailable with its own words if it does not start."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if (status := _request(url)) is not None:
            return status
        time.sleep(POLL_SECONDS)
    with open(os.path.join(home, LOG_FILE), encoding="utf-8", errors="replace") as log:
        said = log.read()[-500:].strip()
    raise StoreUnavailable(
        f"the server did not start: {said or 'it said nothing'}",
        hint="`holdfast serve` runs it in the foreground; `--port` chooses another port",
    )


def _make_link(address: str) -> str:
    """Return a link that works once, for a system that does not tell which user calls."""
    from holdfast.ledger import tokens

    ledger = open_ledger(settings.load(os.environ, current_folder()).ledger, os.environ)
    with closing(ledger.database):
        return f"{address}#code={tokens.issue_link_code(ledger, time.time())}"


def _stop(home: str) -> int:
    try:
        with open(os.path.join(home, STATE_FILE), encoding="utf-8") as file:
            pid = int(fast_json.loads(file.read())["pid"])
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError, KeyError, TypeError):
        print_message("No server that `holdfast open` started is running.")
        return 0
    finally:
        with suppress(OSError):
            os.unlink(os.path.join(home, STATE_FILE))
    print_message("The server was stopped.")
    return 0
