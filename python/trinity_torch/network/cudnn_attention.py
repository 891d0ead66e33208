"""Causal attention over packed sequences by cuDNN's own kernels, where the package nvidia-cudnn-frontend is there.

PyTorch reaches these kernels too, but builds their plan anew for every call on sequences of varying lengths, which takes
longer than the attention. Here a plan serves every pack of about the same size: the number of sequences and the longest of
them are rounded up, and sequences that are not there have length 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

try:
    import cudnn
except Exception:  # absent, or it finds no cuDNN: PyTorch's flash kernel does the same more slowly
    cudnn = None

# the first release of cuDNN that takes sequences of length 0 and packed statistics
OLDEST = 90600
# names of operands in a plan
Q, K, V, O, STATS, D_O, D_Q, D_K, D_V, LENGTHS, AT_Q, AT_K, AT_V, AT_O, AT_STATS, AT_KV = range(1, 17)


@dataclass(frozen=True)
class Shape:
    """What a plan depends on."""

    dtype: torch.dtype
    sequences: int
    longest: int
    tokens: int  # at most; in the backward pass alone, for its workspace
    heads: int
    kv: int
    size: int
    # distance from token to token and from head to head of q, k, v
    strides: tuple[tuple[int, int], ...]
    scale: float
    backward: bool
    deterministic: bool


class Plan:
    """One pass of attention for a shape."""

    def __init__(self, shape: Shape, handle: int):
        kinds = cudnn.data_type
        half = kinds.BFLOAT16 if shape.dtype == torch.bfloat16 else kinds.HALF
        graph = cudnn.pygraph(
            io_data_type=half, intermediate_data_type=kinds.FLOAT, compute_data_type=kinds.FLOAT, handle=handle
        )
        b, s, heads, kv, size = shape.sequences, shape.longest, shape.heads, shape.kv, shape.size

        def places(uid: int) -> Any:
            return graph.tensor(dim=[b + 1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=kinds.INT32, uid=uid)

        def operand(uid: int, h: int, width: int, token: int, head: int, at: Any, kind: Any = half) -> Any:
            # the stride from sequence to sequence is never used: their places are given
            strides = [token * s, head, token, 1]
            return graph.tensor(dim=[b, h, s, width], stride=strides, data_type=kind, ragged_offset=at, uid=uid)

        def result(tensor: Any, uid: int, h: int, width: int, at: Any, kind: Any = half) -> None:
            tensor.set_output(True).set_uid(uid).set_data_type(kind)
            tensor.set_dim([b, h, s, width]).set_stride([h * width * s, width, h * width, 1]).set_ragged_offset(at)

        at = {uid: places(uid) for uid in (AT_Q, AT_K, AT_V, AT_O, AT_STATS)}
        lengths = graph.tensor(dim=[b, 1, 1, 1], stride=[1, 1, 1, 1], data_type=kinds.INT32, uid=LENGTHS)
        hosts = ((Q, heads, AT_Q), (K, kv, AT_K), (V, kv, AT_V))
        q, k, v = (operand(uid, h, size, *step, at[a]) for (uid, h, a), step in zip(hosts, shape.strides))
        common = {
            "attn_scale": shape.scale,
            "use_causal_mask": True,
            "use_padding_mask": True,
            "seq_len_q": lengths,
            "seq_len_kv": lengths,
        }
        if shape.backward:
            o, d_o = (operand(uid, heads, size, heads * size, size, at[AT_O]) for uid in (O, D_O))
            stats = operand(STATS, heads, 1, heads, 1, at[AT_STATS], kinds.FLOAT)
            d_q, d_k, d_v = graph.sdpa_backward(
                q=q, k=k, v=v, o=o, dO=d_o, stats=stats, **common,
                max_total_seq_len_q=shape.tokens, max_total_seq_len_kv=shape.tokens,
                use_deterministic_algorithm=shape.deterministic,
            )
            # q's gradient has the layout of the output; those of k and v lie like it, with fewer heads
            result(d_q, D_Q, heads, size, at[AT_O])
            at_kv = places(AT_KV)
            result(d_k, D_K, kv, size, at_kv)
            result(d_v, D_V, kv, size, at_kv)
        else:
            o, stats = graph.sdpa(q=q, k=k, v=v, generate_stats=True, **common)
            result(o, O, heads, size, at[AT_O])
            result(stats, STATS, heads, 1, at[AT_STATS], kinds.FLOAT)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        graph.build_plans()
        self.graph = graph
        self.workspace = int(graph.get_workspace_size())

    def run(self, operands: dict[int, Tensor], handle: int) -> None:
        space = torch.empty(self.workspace, dtype=torch.uint8, device=operands[Q].device)
        self.graph.execute({uid: x.data_ptr() for uid, x in operands.items()}, space.data_ptr(), handle=handle)


class Places:
    """Where the sequences of one pack begin, in numbers that a plan asks for."""

    def __init__(self, bounds: Tensor):
        # kept: as long as it is, nothing else lies at its address
        self.bounds = bounds
        self.sequences = rounded(bounds.numel() - 1, 4)
        self._all = bounds[-1:].repeat(self.sequences + 1)
        self._all[: bounds.numel()] = bounds
        self.lengths = self._all.diff()
        self._of: dict[int, Tensor] = {}

    def of(self, stride: int) -> Tensor:
        found = self._of.get(stride)
        if found is None:
            found = self._of[stride] = self._all * stride
        return found


def rounded(n: int, step: int) -> int:
    """Up, to a multiple of the step where n is small, to one of a quarter of its power of two where it is large."""
    unit = max(step, 1 << max(0, n.bit_length() - 3))
    return -(-n // unit) * unit


class Attention:
    """Plans and places of one device, kept between calls."""

    def __init__(self, device: torch.device):
        with torch.cuda.device(device):
            self.handle = cudnn.create_handle()
        self.device = device
        self.stream = -1
        self.plans: dict[Shape, Plan] = {}
        self.last: Places | None = None

    def places(self, bounds: Tensor) -> Places:
        last = self.last
        if last is None or last.bounds.data_ptr() != bounds.data_ptr() or last.bounds.numel() != bounds.numel():
            last = self.last = Places(bounds)
        return last

    def follow(self) -> None:
        """The stream that the caller computes on."""
        stream = torch.cuda.current_stream(self.device).cuda_stream
        if stream != self.stream:
            cudnn.set_stream(handle=self.handle, stream=stream)
            self.stream = stream

    def plan(self, shape: Shape) -> Plan:
        self.follow()
        found = self.plans.get(shape)
        if found is None:
            found = self.plans[shape] = Plan(shape, self.handle)
        return found

    def forward(self, q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int, scale: float) -> tuple[Tensor, Tensor]:
        places = self.places(bounds)
        q, k, v = (by_token(x) for x in (q, k, v))
        out = q.new_empty(q.shape)
        stats = q.new_empty(q.shape[:2], dtype=torch.float32)
        plan = self.plan(shape_of(q, k, v, places.sequences, longest, scale, backward=False))
        plan.run({**common(q, k, v, places), O: out, STATS: stats}, self.handle)
        return out, stats

    def backward(
        self, d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, stats: Tensor, bounds: Tensor, longest: int, scale: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        places = self.places(bounds)
        q, k, v = (by_token(x) for x in (q, k, v))
        d_q, d_k, d_v = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        plan = self.plan(shape_of(q, k, v, places.sequences, longest, scale, backward=True))
        grads = {D_O: d_out.contiguous(), D_Q: d_q, D_K: d_k, D_V: d_v, AT_KV: places.of(k.shape[1] * k.shape[2])}
        plan.run({**common(q, k, v, places), O: out, STATS: stats, **grads}, self.handle)
        return d_q, d_k, d_v


def by_token(x: Tensor) -> Tensor:
    """With strides that do not depend on the number of tokens."""
    return x if x.stride(2) == 1 and x.stride(0) >= x.stride(1) * x.shape[1] else x.contiguous()


def shape_of(q: Tensor, k: Tensor, v: Tensor, sequences: int, longest: int, scale: float, backward: bool) -> Shape:
    strides = tuple((x.stride(0), x.stride(1)) for x in (q, k, v))
    longest = max(128, 1 << (longest - 1).bit_length())
    tokens = rounded(q.shape[0], 1024) if backward else 0
    deterministic = backward and torch.are_deterministic_algorithms_enabled()
    return Shape(q.dtype, sequences, longest, tokens, q.shape[1], k.shape[1], q.shape[2], strides, scale, backward, deterministic)


def common(q: Tensor, k: Tensor, v: Tensor, places: Places) -> dict[int, Tensor]:
    _, heads, size = q.shape
    return {
        Q: q, K: k, V: v, LENGTHS: places.lengths,
        AT_Q: places.of(q.stride(0)), AT_K: places.of(k.stride(0)), AT_V: places.of(v.stride(0)),
        AT_O: places.of(heads * size), AT_STATS: places.of(heads),
    }  # fmt: skip


_devices: dict[torch.device, Attention] = {}


def _on(device: torch.device) -> Attention:
    found = _devices.get(device)
    if found is None:
        found = _devices[device] = Attention(device)
    return found


def forget(device: torch.device) -> None:
    """Where the sequences of the last pack begin: what lies at the address of its bounds may change."""
    if device in _devices:
        _devices[device].last = None


def usable(device: torch.device, dtype: torch.dtype, heads: int, kv: int, size: int) -> bool:
    """Whether a small case of this shape gives what it should: asked once, before layers are compiled."""
    if cudnn is None or device.type != "cuda" or dtype not in (torch.bfloat16, torch.float16) or size > 128 or size % 8:
        return False
    if torch.cuda.get_device_capability(device) < (9, 0) or cudnn.backend_version() < OLDEST:
        return False
    bounds = torch.tensor([0, 3, 64], dtype=torch.int32, device=device)
    q = torch.randn(64, heads, size, dtype=dtype, device=device)
    k, v = (torch.randn(64, kv, size, dtype=dtype, device=device) for _ in range(2))
    try:
        out, stats = _on(device).forward(q, k, v, bounds, 64, size**-0.5)
        found = _on(device).backward(out, q, k, v, out, stats, bounds, 64, size**-0.5)
        return all(bool(torch.isfinite(x).all()) for x in (out, stats, *found))
    except Exception as error:  # a card or release that has no such kernel
        print(f"cuDNN's attention cannot be used, PyTorch's is: {type(error).__name__}: {str(error).strip()[:300]}", flush=True)
        return False


_library = torch.library.Library("trinity", "FRAGMENT")
_library.define("attend(Tensor q, Tensor k, Tensor v, Tensor bounds, SymInt longest, float scale) -> (Tensor, Tensor)")
_library.define(
    "attend_backward(Tensor d_out, Tensor q, Tensor k, Tensor v, Tensor out, Tensor stats, Tensor bounds, SymInt longest, float scale)"
    " -> (Tensor, Tensor, Tensor)"
)
_library.impl("attend", lambda q, *more: _on(q.device).forward(q, *more), "CUDA")
_library.impl("attend_backward", lambda d_out, *more: _on(d_out.device).backward(d_out, *more), "CUDA")
_library.impl("attend", lambda q, *_: (q.new_empty(q.shape), q.new_empty(q.shape[:2], dtype=torch.float32)), "Meta")
_library.impl("attend_backward", lambda _, *more: tuple(x.new_empty(x.shape) for x in more[:3]), "Meta")


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int, scale: float) -> Tensor:
        out, stats = torch.ops.trinity.attend(q, k, v, bounds, longest, scale)
        ctx.save_for_backward(q, k, v, out, stats, bounds)
        ctx.longest, ctx.scale = longest, scale
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        grads = torch.ops.trinity.attend_backward(d_out, *ctx.saved_tensors, ctx.longest, ctx.scale)
        return *grads, None, None, None


def attend(q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int, scale: float) -> Tensor:
    """q, k, v: [T, heads, size]."""
    return _Attend.apply(q, k, v, bounds, longest, scale)
