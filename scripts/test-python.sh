#!/bin/sh
# Makes the Python environment of the tests that need Python, and of benchmarks that compare with it (.venv, ignored by
# git). Nothing in the product needs it. More packages may be named: scripts/test-python.sh mlflow
# pip decides where packages come from, as it is set up on this machine. Where there is no GPU, a CPU build of torch will do.
set -eu
cd "$(dirname "$0")/.."

usable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

if [ ! -x .venv/bin/python ]; then
  for python in "${PYTHON:-python3.11}" python3.11 python3.12 python3.13 python3.10 python3 ''; do
    if [ -n "$python" ] && usable "$python"; then break; fi
  done
  if [ -z "$python" ]; then
    echo 'no Python 3.10 or newer with its venv module: install python3.11 and python3.11-venv, or set PYTHON' >&2
    exit 1
  fi
  "$python" -m venv .venv
fi
.venv/bin/pip install --quiet torch==2.13.0 transformers==5.22.2 safetensors==0.8.0 numpy==2.4.6 \
  triton==3.6.0 mypy==2.4.1 math-verify==0.9.0 tensorboard==2.21.0 gymnasium==1.4.0 \
  openai==3.49.0 requests==2.34.2 httpx==0.28.1 "$@"
.venv/bin/python -c 'import torch, transformers; print("torch", torch.__version__, "transformers", transformers.__version__)'
