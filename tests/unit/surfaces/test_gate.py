"""One writer at a time: of the threads of a process, and of the workers of a server."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from holdfast.surfaces.api.gate import Gate, Impatient

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are made by fork")


@contextmanager
def another(gate: Gate, work: Callable[[], None]) -> Iterator[int]:
    """A worker that has entered the gate; it leaves when it is killed, or its work is done."""
    entered, tell = os.pipe()
    worker = os.fork()
    if not worker:
        try:
            gate.acquire()
            os.write(tell, b"1")
            work()
            gate.release()
        finally:
            os._exit(0)
    try:
        assert os.read(entered, 1) == b"1"
        yield worker
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        os.close(entered)
        os.close(tell)


@pytest.fixture
def gate() -> Iterator[Gate]:
    with closing(Gate(workers=2)) as made:
        yield made


def test_one_thread_at_a_time() -> None:
    gate = Gate()
    assert gate.acquire()
    others: list[bool] = []
    thread = threading.Thread(target=lambda: others.append(gate.acquire(0.01)))
    thread.start()
    thread.join(30)
    assert others == [False]
    gate.release()
    assert gate.acquire(0.01)


@needs_fork
def test_one_worker_at_a_time(gate: Gate) -> None:
    with another(gate, lambda: time.sleep(60)):
        assert not gate.acquire(0.01)
        # Whoever was turned away has left nothing behind.
        assert not gate.acquire(0.01)
    assert gate.acquire(10)


@needs_fork
def test_a_worker_that_waits_gets_its_turn(gate: Gate) -> None:
    with another(gate, lambda: time.sleep(0.3)):
        assert gate.acquire()
        gate.release()


@needs_fork
def test_a_worker_that_is_killed_holds_nobody_up(gate: Gate) -> None:
    with another(gate, lambda: time.sleep(60)) as worker:
        os.kill(worker, signal.SIGKILL)
        assert gate.acquire(30)
    gate.release()


def test_the_impatient_are_turned_away() -> None:
    gate = Gate()
    impatient = Impatient(gate, 0.001)
    impatient.acquire()
    with pytest.raises(BlockingIOError):
        impatient.acquire()
    impatient.release()
    impatient.acquire()
