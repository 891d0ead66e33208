#!/bin/sh
# Makes the Python environment that optional tests and benchmarks compare against (.venv, ignored by git).
# Nothing in the product needs it. Optional tests look for .venv/bin/python and say so when they skip.
set -e
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
# On an x86-64 Linux without a GPU, pip can take the CPU build of torch from download.pytorch.org/whl/cpu:
#   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu scripts/oracles.sh
.venv/bin/pip install --quiet torch==2.13.0 transformers==5.22.2 safetensors==0.8.0 numpy==2.4.6
.venv/bin/python -c 'import torch, transformers; print("torch", torch.__version__, "transformers", transformers.__version__)'
