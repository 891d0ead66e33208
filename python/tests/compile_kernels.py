"""
Compiles the kernels of a sampler's steps for an H200, on a machine that has none: python -m tests.compile_kernels

The interpreter runs kernels that the compiler refuses, and knows nothing of a device's memory. Nothing is launched: tensors are on the
CPU, and what kernels would have written stays 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction

from trinity_torch import kernels

TARGET, SHARED = GPUTarget("cuda", 90, 32), 232448
# before anybody takes them from there
kernels.fast = lambda x: True
kernels.early = lambda: {"PDL": True, "launch_pdl": True}
kernels.hopper = lambda: True
kernels.shared_memory = lambda: SHARED
torch.empty, torch.empty_like = torch.zeros, torch.zeros_like

from transformers import AutoModelForCausalLM, Gemma2Config, Qwen2Config, Qwen3Config  # noqa: E402

from trinity_torch.sampler.common import Group  # noqa: E402
from trinity_torch.sampler.decoder import Decoder  # noqa: E402
from trinity_torch.sampler.runner import Chunk, Runner  # noqa: E402

compiled: dict[str, set[int]] = {}


class Driver:
    """Of a device that is not there."""

    get_current_target = staticmethod(lambda: TARGET)
    get_current_device = staticmethod(lambda: 0)
    get_current_stream = staticmethod(lambda device: 0)
    get_active_torch_device = staticmethod(lambda: torch.device("cpu"))


def compile_only() -> None:
    run = JITFunction.run

    def only(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = run(self, *args, grid=grid, warmup=True, **kwargs)
        shared = kernel.metadata.shared
        assert shared <= SHARED, f"{self.__name__} needs {shared} bytes of shared memory, an H200 has {SHARED}"
        compiled.setdefault(self.__name__, set()).add(kernel.hash)
        return kernel

    JITFunction.run = only
    triton.runtime.driver.set_active(Driver())


def model_of(kind: Any, head: int = 128, dtype: torch.dtype = torch.bfloat16) -> Any:
    config = kind(
        vocab_size=4096, hidden_size=1536, num_hidden_layers=1, num_attention_heads=12, num_key_value_heads=2, intermediate_size=8960,
        head_dim=head, max_position_embeddings=1024,
    )  # fmt: skip
    return AutoModelForCausalLM.from_config(config, dtype=dtype).eval()


def steps(decoder: Decoder, batches: tuple[int, ...], shared: bool) -> None:
    runner = Runner(decoder, 64, 512, graphs=False)
    with torch.no_grad():
        for batch in batches:
            runner.write_rows(list(range(batch)), [Group(0, 64, [0, 1])] if shared and batch > 1 else [])
            runner.decode(batch, 600, limited=batch == 1, needs=0)
        prompts(runner, [100])


def prompts(runner: Runner, sizes: list[int]) -> None:
    with torch.no_grad():
        runner.prefill([Chunk(i, np.zeros(size, dtype=np.int32), 0, draws=[i]) for i, size in enumerate(sizes)], False, 0)


def counts() -> dict[str, int]:
    return {name: len(found) for name, found in sorted(compiled.items())}


def check_sizes(decoder: Decoder) -> None:
    """How many prompts come and how long they are decides no variant: compiling one takes as long as a hundred steps."""
    runner = Runner(decoder, 64, 512, graphs=False)
    prompts(runner, [300, 20])
    before = counts()
    for sizes in ([200], [170, 8, 9], [64, 64, 5], [301], [129, 1, 1, 1, 33]):
        prompts(runner, sizes)
        assert counts() == before, f"prompts of {sizes} tokens need other kernels than those before: {counts()}, {before}"


def main() -> None:
    compile_only()
    plain = model_of(Qwen2Config)
    check_sizes(Decoder(plain, 1024, False))
    steps(Decoder(plain, 1024, False), (1, 7, 16, 32, 64, 128, 512), False)
    steps(Decoder(plain, 1024, False), (64,), True)
    steps(Decoder(plain, 1024, True), (1, 64, 512), False)
    steps(Decoder(model_of(Qwen3Config), 1024, False), (1, 64), False)
    steps(Decoder(model_of(Qwen2Config, 256), 1024, False), (1, 7, 64), True)
    steps(Decoder(model_of(Gemma2Config, 256), 1024, False), (64,), False)
    steps(Decoder(model_of(Qwen2Config, dtype=torch.float32), 1024, False), (1, 64), True)
    print(counts())


if __name__ == "__main__":
    main()
