"""A hook that hangs is ended, and the log names what it was doing."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast import diagnostics
from holdfast.hooks import main


class ProcessEnded(BaseException):
    """Raised instead of ending the test process."""


def end_process(_: int) -> None:
    raise ProcessEnded


def test_the_watchdog_of_the_payload_is_cancelled_once_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running: list[str] = []

    def start_watchdog(_: float, task: str) -> Callable[[], None]:
        running.append(task)
        return lambda: running.remove(task)

    monkeypatch.setattr(main, "_exit_after", start_watchdog)
    monkeypatch.setattr(main, "run_hook", lambda *_: running.append("handler") or "")
    monkeypatch.setattr(main.os, "_exit", end_process)
    monkeypatch.setattr(main.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"{}")))
    with pytest.raises(ProcessEnded):
        main.main()
    assert running == ["handler"]


def test_a_watchdog_that_is_cancelled_does_not_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    ended = threading.Event()
    monkeypatch.setattr(main.os, "_exit", lambda _: ended.set())
    threads_before = threading.active_count()
    # A cancelled watchdog does not wait for its time to be over.
    main._exit_after(1000.0, "reading the payload")()
    main._exit_after(0.01, "Stop")
    assert ended.wait(10)
    log = diagnostics.read_tail(str(tmp_path / "holdfast.log"))
    assert [line.split(" ", 1)[1] for line in log] == ["hook: Stop: gave up after 0.0 s"]
    assert threading.active_count() == threads_before
