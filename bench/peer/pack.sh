#!/usr/bin/env bash
# Packs TRL and vLLM's CUDA build with the Python packages they need, for a GPU machine that has Python 3.12, torch 2.11,
# Transformers 5 and Accelerate, and no network:
#   bench/peer/pack.sh FOLDER [trinity.tar]    →  FOLDER/piece_00 … of at most 48 MiB (PIECE=48M), to be carried one by one
#   bench/peer/pack.sh --trl FOLDER [trinity.tar]    TRL without vLLM: one piece of 30 MiB, enough for `bench learn`
# There:  cat piece_* | xz -d -T8 | tar x -C /tmp   →  /tmp/peer-python, for TRINITY_PEER_PYTHON, with its packages beside it in a
# folder that must be called site-packages (dill goes by that name); and /tmp/trinity, if scripts/carry.sh made the archive
# vLLM 0.24 is the last version built for torch 2.11; TRL 1.16 takes 0.22 to 0.31. Left out, as no dense model on Hopper needs
# them: FlashAttention 2, mixtures of experts, FlashInfer; numba is a stand-in.
set -euo pipefail
only=''
if [ "${1:-}" = --trl ]; then only=trl && shift; fi
out=$(realpath -m "${1:?usage: bench/peer/pack.sh [--trl] FOLDER [trinity.tar]}")
trinity=${2:+$(realpath "$2")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/wheels" "$work/all/site-packages"

platforms=$(for v in 2_39 2_35 2_34 2_31 2_28 2_27 2_24 2_17 2_12 2_5; do printf -- '--platform manylinux_%s_x86_64 ' $v; done)
# shellcheck disable=SC2086
get() { pip download -q --no-deps --python-version 3.12 $platforms --platform manylinux2014_x86_64 --platform manylinux1_x86_64 --only-binary=:all: -d "$work/wheels" "$@"; }
get trl==1.16.0 datasets==5.2.0 pyarrow==26.0.1 pandas==3.1.1 dill==0.4.1 multiprocess==0.70.19 xxhash python-dateutil six tzdata
if [ -z "$only" ]; then
  get vllm==0.24.0 uvloop openai==2.8.0 xgrammar==0.2.1 apache-tvm-ffi==0.1.9 'llguidance<1.8.0,>=1.7.0' lm-format-enforcer==0.11.3 outlines_core==0.2.14 \
    diskcache==5.6.3 lark==1.2.2 compressed-tensors==0.17.0 depyf==0.20.0 'fastapi<0.137.0,>=0.133.0' 'starlette>=1.0.1' cachetools blake3 \
    py-cpuinfo uvicorn pydantic==2.12.5 pydantic-core==2.41.5 annotated-types annotated-doc typing-inspection prometheus_client \
    'prometheus-fastapi-instrumentator>=8.0.0' distro jiter sniffio anyio httpx httpcore h11 idna aiohttp aiosignal aiohappyeyeballs frozenlist \
    multidict yarl propcache attrs interegular partial-json-parser 'jsonschema>=4.23.0' jsonschema-specifications referencing rpds-py pyzmq msgspec \
    'mistral_common>=1.11.3' pydantic-extra-types pycountry loguru astor cloudpickle watchfiles python-json-logger pybase64 cbor2 ijson setproctitle \
    openai-harmony anthropic docstring-parser model-hosting-container-standards mcp httpx-sse sse-starlette pydantic-settings python-dotenv \
    python-multipart pyjwt opentelemetry-sdk opentelemetry-api opentelemetry-semantic-conventions opentelemetry-semantic-conventions-ai \
    importlib-metadata zipp gguf einops jmespath supervisor tiktoken regex requests
fi

python3 - "$work" <<'PY'
import glob, os, sys, zipfile
work = sys.argv[1]
skip = {
    "vllm": ("_vllm_fa2_C", "_moe_C", "vllm-rs", "cpython-310", "cpython-311", "cpython-313", "cpython-314", "fmha_sm100", "deep_gemm/include", ".jpg", "swagger"),
    "pyarrow": ("/include/", "/tests/", "/src/", "flight", "gandiva", "s3", ".pyx", ".pxd"),
    "pandas": ("/tests/",),
    "xgrammar": ("libxgrammar.a",),
    "mistral_common": ("data/tekken",),
    "pycountry": ("/locales/",),
}
for wheel in glob.glob(f"{work}/wheels/*.whl"):
    unwanted = skip.get(os.path.basename(wheel).split("-")[0], ())
    with zipfile.ZipFile(wheel) as z:
        for one in z.infolist():
            if not any(part in one.filename for part in unwanted):
                z.extract(one, f"{work}/all/site-packages")
PY
if [ -z "$only" ]; then
  strip --strip-debug "$work/all/site-packages/xgrammar/libxgrammar_bindings.so"
  mkdir "$work/all/site-packages/numba"
  cat > "$work/all/site-packages/numba/__init__.py" <<'PY'
def jit(*a, **k):
    return a[0] if len(a) == 1 and callable(a[0]) and not k else (lambda f: f)
njit, prange = jit, range
def get_num_threads(): return 1
def set_num_threads(n): pass
PY
fi
# the peers' packages for the peers alone
cat > "$work/all/peer-python" <<'SH'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
# a machine without a network may not know its own name
export GLOO_SOCKET_IFNAME=lo NCCL_SOCKET_IFNAME=lo VLLM_HOST_IP=127.0.0.1
PYTHONPATH=$here/site-packages exec python3 "$@"
SH
chmod +x "$work/all/peer-python"
if [ -n "$trinity" ]; then tar -C "$work/all" -xf "$trinity"; fi
rm -f "$out"/piece_*
tar -C "$work/all" -cf - . | xz -6 -T0 | split -d -b "${PIECE:-48M}" - "$out/piece_"
ls -l "$out"
