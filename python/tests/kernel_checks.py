"""Kernels against their plain twins, on the device given; run by sampler/test_kernels.py in Triton's interpreter, by bench/torch on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, Qwen2Config

from tests.models import small_config
from trinity_torch.exact import back
from trinity_torch.network import gate
from trinity_torch.sampler import cache, draw, experts, few, flash, fused, limits, paged, product, shape
from trinity_torch.sampler.common import Group
from trinity_torch.sampler.decoder import Decoder, Pass
from trinity_torch.kernels import INTERPRETED
from trinity_torch.sampler.runner import Chunk, Runner
from trinity_torch.sampler.shape import Shaping

if INTERPRETED:
    # the interpreter turns arrays of one number into indices, which numpy no longer does by itself
    from triton.runtime import interpreter

    _patch = interpreter._patch_lang_tensor

    def _patched(tensor, scope):
        _patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = _patched

    def _dot(self, a, b, d, *_):
        # Terms are added in their order: some BLAS sum a row up in another order where it stands elsewhere in a tile, tensor cores do not.
        total = d.data.copy()
        for column, row in zip(a.data.T.astype(total.dtype), b.data.astype(total.dtype), strict=True):
            total += column[:, None] * row
        return interpreter.TensorHandle(total, d.dtype.scalar)

    interpreter.InterpreterBuilder.create_dot = _dot


def near(name: str, found: Tensor, wanted: Tensor, tolerance: float) -> None:
    worst = (found.float().cpu() - wanted.float().cpu()).abs().max().item() / max(1.0, wanted.float().abs().max().item())
    assert worst <= tolerance, f"{name}: {worst:.2e} > {tolerance:.0e}"


def check_fused(device: str, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    heads, kv, size, page, tokens, hidden = 6, 2, 24, 16, 5, 96
    width = (heads + 2 * kv) * size
    here = dict(device=device, dtype=dtype)
    x, residual, weight = torch.randn(3, tokens, hidden, device=device), torch.randn(tokens, hidden, **here), torch.rand(hidden, **here)
    other = residual.clone()
    wanted = fused.norm_plain((residual.cpu() + x.cpu().sum(0).to(dtype)), weight.cpu(), 1e-6)
    near("add_norm", fused.add_norm(x, other, weight, 1e-6), wanted, tolerance)
    for unit in (0.0, 1.0):
        wanted = fused.norm_plain(residual.cpu(), weight.cpu(), 1e-6, unit)
        near("norm", fused.norm(residual, weight, 1e-6, unit), wanted, tolerance)
    x = torch.randn(2, tokens, 2 * hidden, device=device)
    for gelu in (False, True):
        near("gated", fused.gated(x, dtype, gelu), fused.gated_plain(x.cpu(), dtype, gelu), tolerance)
    x = torch.randn(2, tokens, width, device=device)
    for bias, norm, pairs, unit in ((0, 0, 12, 0.0), (1, 0, 12, 0.0), (0, 1, 12, 1.0), (0, 0, 9, 0.0), (1, 1, 9, 1.0)):
        angles = torch.outer(torch.arange(64.0), torch.rand(pairs))
        parts = [
            x, torch.randn(width, **here) if bias else None,
            torch.rand(size, **here) if norm else None, torch.rand(size, **here) if norm else None, 1e-6,
            (angles.cos().to(device), angles.sin().to(device)), torch.tensor([0, 3, 40, 7, 9], device=device),
            torch.tensor([0, 19, -1, 47, 33], device=device),
        ]  # fmt: skip
        pages = [torch.zeros(4, kv, page, size, **here) for _ in range(2)]
        plain = [p.cpu().clone() for p in pages]
        q = fused.rope_write(*parts, *pages, heads, unit)
        cpu = [tuple(t.cpu() for t in p) if isinstance(p, tuple) else p.cpu() if isinstance(p, Tensor) else p for p in parts]
        near("rope", q, fused.rope_write_plain(*cpu, *plain, heads, unit), tolerance)
        near("keys", pages[0], plain[0], tolerance)
        near("values", pages[1], plain[1], tolerance)


def check_backward(device: str, dtype: torch.dtype, tolerance: float) -> None:
    """The derivatives of the small operations."""
    torch.manual_seed(0)
    here = dict(device=device, dtype=dtype)
    # more rows than programs
    back.PROGRAMS, programs = 7, back.PROGRAMS
    for width in (96, 24):
        x, d, more = torch.randn(3, 17, width, **here).unbind()
        weight = torch.rand(width, **here)
        for unit, added in ((0.0, more), (1.0, None)):
            found = back.norm(x, weight, d, added, 1e-6, unit)
            wanted = back.norm_plain(x.cpu(), weight.cpu(), d.cpu(), None if added is None else added.cpu(), 1e-6, unit)
            near("norm by x", found[0], wanted[0], tolerance)
            near("norm by its weight", found[1], wanted[1], tolerance)
    back.PROGRAMS = programs
    x, d = torch.randn(5, 2 * 1100, **here), torch.randn(5, 1100, **here)
    near("gate back", gate.gated_back(x, d), gate.back_plain(x.cpu(), d.cpu()), tolerance)
    for heads, kv, size in ((6, 2, 24), (4, 4, 64)):
        angles = torch.outer(torch.arange(64.0), torch.rand(size // 2))
        turn = (angles.cos().to(device, dtype), angles.sin().to(device, dtype))
        given = [torch.randn(5, count, size, **here) for count in (heads, kv, kv)]
        positions = torch.tensor([0, 3, 40, 7, 9], dtype=torch.int32, device=device)
        found = back.turned(*given, turn, positions)
        wanted = back.turned_plain(*(x.cpu() for x in given), tuple(x.cpu() for x in turn), positions.cpu())
        near("rotation back", found, wanted, tolerance)


def check_experts(device: str, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    count, hidden, inner, active = 5, 96, 48, 2
    here = dict(device=device, dtype=dtype)
    given = experts.Experts(
        torch.randn(count, hidden, **here), torch.randn(count, 2 * inner, hidden, **here) / hidden**0.5,
        torch.randn(count, hidden, inner, **here) / inner**0.5, active, True,
    )  # fmt: skip
    x = torch.randn(90, hidden, **here)
    chosen = experts.route(x, given, True)[1]
    # one expert that nobody wants, and one that everybody wants
    chosen[:, 0], chosen[:, 1] = 3, torch.where(chosen[:, 1] == 3, 1, chosen[:, 1] % 3)
    order = experts.sort(chosen, count)
    found = experts.grouped(x, given.gate_up, order, order.tokens)
    near("grouped", found, experts.grouped_plain(x, given.gate_up, order, order.tokens), tolerance)
    whole = experts.feed(x, given, True)
    for some in (1, 7, 40):
        assert torch.equal(experts.feed(x[:some].contiguous(), given, True), whole[:some]), f"{some} tokens by themselves"


def check_product(device: str, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    for rows, columns in ((96, 512), (200, 1024)):
        weight = torch.randn(rows, columns, device=device, dtype=dtype) / columns**0.5
        x = torch.randn(300, columns, device=device, dtype=dtype)
        wanted = x.double().cpu() @ weight.double().cpu().t()
        product.ENOUGH, enough = 1, product.ENOUGH
        whole = product.product(x, weight)
        product.ENOUGH = enough
        assert whole.shape[0] == 1 and product.cuts(rows, columns) > 1
        near("product", whole[0], wanted, tolerance)
        for count in (1, 3, 17, 50, 100):
            some = product.product(x[:count].contiguous(), weight)
            total = some[0].clone()
            for part in some[1:]:
                total += part
            assert torch.equal(total.to(dtype), whole[0, :count]), f"a product changed with the batch ({count} of 300)"


def check_attention(device: str, dtype: torch.dtype, tolerance: float, window: int = 0, cap: float = 0.0) -> None:
    torch.manual_seed(0)
    heads, kv, size, page = 6, 2, 24, 32
    tables = torch.randperm(60)[:54].view(3, 18).int().to(device)
    keys, values = (torch.randn(60, kv, page, size, device=device, dtype=dtype) for _ in range(2))
    lengths = [1, 300, 570]
    q = torch.randn(4, heads, size, device=device, dtype=dtype)

    def tiles(*fields: list[int], longest: int = 1) -> paged.Tiles:
        return paged.Tiles(*(torch.tensor(f, dtype=torch.int32, device=device) for f in fields), longest)

    one = tiles([0, 1, 0, 2], [0, 1, 2, 3], [1, 1, 0, 1], [0, 299, 5, 569])
    cpu = paged.Tiles(*(t.cpu() for t in (one.slot, one.first, one.count, one.position)), 1)
    wanted = paged.attend_plain(q.cpu(), keys.cpu(), values.cpu(), tables.cpu(), cpu, 0.2, window, cap)
    joined = paged.attend(q, keys, values, tables, one, 0.2, window=window, cap=cap)
    some = [0, 1, 3]
    near("attention", joined[some], wanted[some], tolerance)
    for lanes in (1, 2, 3):
        room = torch.full((4, 4, heads, size + 2), float("nan"), device=device)
        apart = paged.attend(q, keys, values, tables, one, 0.2, room, lanes, window, cap)
        assert torch.equal(apart[some], joined[some]), "attention depends on where its spans are computed"
    # a prompt: the last query of every tile is the single one from above
    longest = paged.tile_tokens(heads // kv)
    assert longest == 5
    q2 = torch.randn(10, heads, size, device=device, dtype=dtype)
    q2[4], q2[9] = q[1], q[3]
    many = tiles([1, 2], [0, 5], [5, 5], [295, 565], longest=longest)
    cpu = paged.Tiles(*(t.cpu() for t in (many.slot, many.first, many.count, many.position)), longest)
    lse = torch.zeros(heads, 10, device=device).t()
    found = paged.attend(q2, keys, values, tables, many, 0.2, window=window, cap=cap, lse=lse)
    if not window and not cap:
        near("sums of exponents", lse[9], exponents(q[3], keys, tables[2], 570, 0.2), tolerance)
    wanted = paged.attend_plain(q2.cpu(), keys.cpu(), values.cpu(), tables.cpu(), cpu, 0.2, window, cap)
    near("prompt", found, wanted, tolerance)
    assert torch.equal(found[4], joined[1]) and torch.equal(found[9], joined[3]), "a prompt gives other bits than a new token"
    assert max(lengths) <= 18 * page


def check_flash(device: str, dtype: torch.dtype, tolerance: float, window: int = 0, cap: float = 0.0) -> None:
    """Attention that need not be exact: new tokens of sequences that share pages and of some that do not, and prompts."""
    torch.manual_seed(0)
    heads, kv, size, page, group = 6, 2, 24, 32, 3
    keys, values = (torch.randn(60, kv, page, size, device=device, dtype=dtype) for _ in range(2))
    pages = torch.randperm(60)
    tables = torch.stack([torch.cat([pages[:5], pages[5 + 7 * i : 12 + 7 * i]]) for i in range(6)]).int()
    # nobody in the fourth row; the fifth begins as the first do and is in no group
    slots, counts = [0, 3, 1, 0, 4, 2], [1, 1, 1, 0, 1, 1]
    positions = [200, 160, 383, 5, 170, 10]
    integers = lambda x: torch.tensor(x, dtype=torch.int32)  # noqa: E731
    tiles = paged.Tiles(integers(slots), integers(range(6)), integers(counts), integers(positions), 1)
    q = torch.randn(6, heads, size, device=device, dtype=dtype)
    wanted = paged.attend_plain(q.cpu(), keys.cpu(), values.cpu(), tables, tiles, 0.2, window, cap)
    there = paged.Tiles(*(x.to(device) for x in (tiles.slot, tiles.first, tiles.count, tiles.position)), 1)
    some = [0, 1, 2, 4, 5]
    many = flash.members(group)
    rows = torch.full((3, many), -1, dtype=torch.int32)
    rows[1, :3] = integers([2, 0, 1])
    common = flash.Common(*(x.to(device) for x in (integers([160, 160, 160, 0, 0, 0]), integers([0, 1, 0]), integers([0, 160, 0]), rows)))
    tables = tables.to(device)
    for own, more, shares in ((1, 0, None), (3, 0, None), (8, 0, None), (1, 1, common), (1, 4, common), (2, 5, common)):
        room = torch.full((6, own + more, heads, size + 2), float("nan"), device=device)
        pieces = flash.Pieces(own, more, room)
        found = flash.attend_tokens(q, keys, values, tables, there, 0.2, pieces, shares, window, cap)
        near(f"new tokens in {own} + {more} pieces", found[some], wanted[some], tolerance)
    longest = flash.prompt_tokens(group, size * q.element_size())
    sizes = [longest, longest, longest - 3]
    q = torch.randn(sum(sizes), heads, size, device=device, dtype=dtype)
    starts = [0, 77, 64]
    tiles = paged.Tiles(integers([0, 1, 2]), integers([0, longest, 2 * longest]), integers(sizes), integers(starts), longest)
    wanted = paged.attend_plain(q.cpu(), keys.cpu(), values.cpu(), tables.cpu(), tiles, 0.2, window, cap)
    there = paged.Tiles(*(x.to(device) for x in (tiles.slot, tiles.first, tiles.count, tiles.position)), longest)
    near("prompts", flash.attend_prompts(q, keys, values, tables, there, 0.2, window, cap), wanted, tolerance)


def exponents(q: Tensor, keys: Tensor, pages: Tensor, length: int, scale: float) -> Tensor:
    """Of one query, for each head the logarithm of the sum over all keys."""
    held = keys[pages.long()].transpose(1, 2).flatten(0, 1)[:length].float()
    each = held.repeat_interleave(q.shape[0] // held.shape[1], 1)
    return torch.einsum("hd,khd->hk", q.float(), each).mul(scale).logsumexp(-1)


def settings(**fields: float) -> list[int]:
    """A row of state."""
    row = [0] * draw.WIDTH
    given = {"inverse_t": 1.0, "top_p": 1.0, "min_p": 0.0, "penalty": 1.0, **fields}
    names = ["token", "length", "made", "greedy", "inverse_t", "top_k", "top_p", "min_p", "penalty"]
    names += ["seed_low", "seed_high", "index", "min_tokens", "", "presence", "frequency", "needs"]
    floats = ("inverse_t", "top_p", "min_p", "penalty", "presence", "frequency")
    for i, name in enumerate(names):
        value = given.get(name, 0)
        row[i] = torch.tensor(float(value)).view(torch.int32).item() if name in floats else int(value)
    bans = given.get("bans", [])
    row[draw.BANS] = len(bans)
    row[draw.FIRST_BAN : draw.FIRST_BAN + len(bans)] = bans
    return row


def shaping_of(slots: int, vocabulary: int, device: str) -> Shaping:
    """Something of everything for the first `slots` slots."""

    def put(values: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int32)).to(device)

    shaping = Shaping(vocabulary, torch.device(device), put, lambda: None)
    words = np.full(-(-vocabulary // 32), 0x7FFFFFF1, dtype=np.int32)
    words[-1] = -16
    for slot in range(slots):
        shaping.begin_bias(slot, [3, 700, slot], [2.5, -100.0, -1.0])
        shaping.begin_used(slot, np.arange(0, vocabulary, 3, dtype=np.int32), np.asarray([4, 4, 4, 9, slot], dtype=np.int32))
    if slots > 0:
        shaping.mask({slot: None if slot % 5 == 4 else words for slot in range(slots)})
    return shaping


def check_draw(device: str) -> None:
    torch.manual_seed(0)
    vocabulary = 2503
    counted = dict(needs=shape.USED)
    rows = [
        settings(seed_low=7), settings(seed_low=7, index=1), settings(seed_low=-7, seed_high=3, made=5, inverse_t=1.4),
        settings(greedy=1), settings(top_k=5, seed_low=1), settings(top_p=0.7, seed_low=2), settings(min_p=0.05, seed_low=3),
        settings(top_k=40, top_p=0.9, min_p=0.01, penalty=1.3, inverse_t=1.2, seed_low=4, **counted),
        settings(min_tokens=2, bans=[1, 2400], greedy=1, needs=shape.BANS),
        settings(min_tokens=2, made=2, bans=[1, 2400], greedy=1, needs=shape.BANS),
        settings(top_k=3, seed_low=9), settings(top_p=0.45, seed_low=11, index=2), settings(seed_low=12),
        settings(presence=0.7, frequency=-0.4, seed_low=13, **counted), settings(seed_low=14, needs=shape.BIAS),
        settings(seed_low=15, needs=shape.MASK, top_p=0.8), settings(greedy=1, needs=shape.MASK, top_k=4),
        settings(penalty=1.1, presence=1.5, frequency=0.3, top_k=50, seed_low=16, needs=shape.BIAS | shape.USED | shape.MASK),
    ]  # fmt: skip
    logits = torch.randn(len(rows), vocabulary, device=device) * 3
    logits[8:10, 2400] = 40.0
    logits[10] = 0.0  # nothing but ties: the lowest ids stay
    logits[11, 10:20] = 30.0
    logits[12, 77] = float("nan")
    logits[3, [60, 900]] = 50.0
    slots = torch.tensor([*range(len(rows)), -1], dtype=torch.int32, device=device)
    which = torch.tensor([*range(len(rows)), 0], dtype=torch.int32, device=device)
    everything = shape.BIAS | shape.USED | shape.BANS | shape.MASK
    whole = draw.PART
    for needs, limited, part in (
        (0, True, 512), (everything, True, 512), (everything, False, whole), (shape.BANS, True, whole), (0, False, 256), (0, False, whole),
    ):  # fmt: skip
        draw.PART = part
        held = [list(row) for row in rows]
        for row in held:
            if not limited:
                row[draw.TOP_K : draw.MIN_P + 1] = rows[0][draw.TOP_K : draw.MIN_P + 1]
        state = torch.tensor(held, dtype=torch.int32, device=device)
        shaping, twin = (shaping_of(len(rows), vocabulary, one) for one in (device, "cpu"))
        plain = state.cpu().clone()
        out = torch.zeros(3, len(rows) + 1, dtype=torch.int32, device=device)
        wanted = torch.zeros_like(out, device="cpu")
        draw.draw(logits, state, shaping, slots, which, out, limited, needs)
        draw.draw_plain(logits.cpu(), plain, twin, slots.cpu(), which.cpu(), wanted, needs)
        out = out.cpu()
        assert torch.equal(out[0], wanted[0]), f"tokens {out[0].tolist()} instead of {wanted[0].tolist()}"
        assert int(out[0, 12]) == -1 and (not limited or int(out[0, 10]) < 3) and int(out[0, 3]) == 60
        fine = wanted[0, : len(rows)] >= 0
        for field in (1, 2):
            a, b = (x[field, : len(rows)].view(torch.float32)[fine] for x in (out, wanted))
            near(f"log-probs {field}", a, b, 1e-5)
        assert torch.equal(state.cpu(), plain), "the state went another way"
        assert torch.equal(shaping.used.cpu(), twin.used), "the used tokens went another way"
    draw.PART = whole
    shaping = shaping_of(1, vocabulary, device)
    shaping.mask({0: np.zeros(-(-vocabulary // 32), dtype=np.int32)})
    for greedy in (0, 1):
        state = torch.tensor([settings(needs=shape.MASK, greedy=greedy)], dtype=torch.int32, device=device)
        out = torch.zeros(3, 1, dtype=torch.int32, device=device)
        draw.draw(logits, state, shaping, slots[:1], which[:1], out, False, shape.MASK)
        assert int(out[0, 0]) == -2, "nothing may be drawn, and something was"


def check_limits(device: str) -> None:
    """Exactly the tokens of the sorted twin stay."""
    torch.manual_seed(1)
    rows = [settings(top_k=k, top_p=p, min_p=m) for k in (0, 7, 200) for p in (1.0, 0.9) for m in (0.0, 0.02)]
    state = torch.tensor(rows, dtype=torch.int32, device=device)
    logits = (torch.randn(len(rows), 499, device=device) * 2).round(decimals=1)  # many ties
    all_rows = torch.arange(len(rows), dtype=torch.int32, device=device)
    bounds = torch.empty(len(rows), 2, device=device)
    limits.search(logits, state, all_rows, all_rows, bounds)
    least, last = bounds[:, :1], bounds[:, 1:].contiguous().view(torch.int32)
    ids = torch.arange(499, device=device)
    found = ((logits > least) | ((logits == least) & (ids <= last))).cpu()
    wanted = limits.keep_plain(logits.cpu(), state.cpu())
    wrong = (found != wanted).any(1).nonzero()[:, 0].tolist()
    # where the mass up to a token equals top-p times the whole, rounding decides: one token more or less
    assert all((found[i] != wanted[i]).sum() <= 1 and rows[i][6] != rows[0][6] for i in wrong), f"rows {wrong}"


def check_few(device: str, dtype: torch.dtype, tolerance: float) -> None:
    """Layers of few tokens by fewer kernels: hidden states, and what goes into the cache."""
    torch.manual_seed(0)
    PAGES = 4
    shapes = [(True, 128, 32, 320, (1, 2, 16)), (False, 128, 32, 320, (3, 32, 40))]
    if not INTERPRETED:
        # as plans are made for: several steps, some in pieces, the last of one token's not whole; dozens of tokens by bulk.py
        shapes += [
            (True, 2560, 32, 8960, (1, 7, 32)), (True, 1536, 128, 8960, (33, 64, 100, 128)), (False, 896, 64, 4864, (50, 128)),
            (True, 576, 64, 1536, (64, 100)), (False, 2048, 64, 8192, (64,)),
        ]  # fmt: skip
    for bias, hidden, size, inner, counts in shapes:
        config = Qwen2Config(
            vocab_size=64, hidden_size=hidden, num_hidden_layers=2, num_attention_heads=hidden // size, num_key_value_heads=2, intermediate_size=inner,
            max_position_embeddings=64,
        )  # fmt: skip
        hf: Any = AutoModelForCausalLM.from_config(config, dtype=torch.float32).to(device, dtype).eval()
        for p in hf.parameters():
            p.data += torch.randn_like(p) * (0.1 if hidden == 128 else 0.01)
        decoder = Decoder(hf, 64, False)
        assert decoder._few is not None
        if not bias:
            for layer in decoder.layers:
                layer.bias = None
        # those of bulk.py are of bfloat16 alone
        most = max(counts) if INTERPRETED else decoder._few.most if dtype == torch.bfloat16 else few.MOST
        for count in (count for count in counts if count <= most):
            ids = torch.randint(0, 64, (count,), device=device)
            positions = torch.randint(0, 64, (count,), dtype=torch.int32, device=device)
            places = torch.randperm(PAGES * cache.PAGE, device=device)[:count].int()
            places[count // 2] = -1 if count > 1 else places[0]
            found = []
            for body in (decoder._body, lambda x, given: decoder._body_of_few(decoder._few, x, given)):
                held = torch.zeros(2, 2, PAGES, 2, cache.PAGE, size, device=device, dtype=dtype)
                given = Pass(positions, places, held[0], held[1], lambda i, q, keys, values: q.flatten(1) * 0.1)
                found.append((body(decoder.embedding[ids].clone(), given), held))
            near(f"{count} tokens", found[1][0], found[0][0], tolerance)
            near(f"keys and values of {count} tokens", found[1][1], found[0][1], tolerance)
            assert int(decoder._few.ended.sum()) == 0


def check_common_steps(device: str) -> None:
    """Decode steps of sequences that share pages give the same log-probs, read once or for each."""
    torch.manual_seed(0)
    hf: Any = AutoModelForCausalLM.from_config(small_config(256), dtype=torch.float32).to(device).eval()
    for p in hf.parameters():
        p.data += torch.randn_like(p) * 0.05
    prompt = np.random.default_rng(0).integers(1, 200, 2 * cache.PAGE + 7)
    runner = Runner(Decoder(hf, 256, False), 8, 4, graphs=device != "cpu")
    assert runner.attending.can_share
    # two pages of the prompt are everybody's, the last is copied
    pages = np.asarray([[0, 1, 2], [0, 1, 3], [0, 1, 4]])
    runner.write_tables(np.stack([np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3), pages.flatten()]))
    runner.write_state([0], [settings(length=len(prompt) - 1)])
    runner.prefill([Chunk(0, prompt, 0, [0])], False, 0)
    runner.copy_pages([2, 2], [3, 4])
    found = []
    for groups in ([], [Group(0, 2 * cache.PAGE, [0, 1, 2])]):
        runner.write_state([0, 1, 2], [settings(token=5, length=len(prompt), seed_low=slot) for slot in range(3)])
        runner.write_rows([0, 1, 2], groups)
        steps = [runner.decode(3, 100, False, 0).read() for _ in range(2)]
        found.append((np.stack([s[0] for s in steps]), np.stack([s[1] for s in steps])))
    assert (found[0][0] == found[1][0]).all(), "other tokens with pages in common"
    near("log-probs with pages in common", torch.tensor(found[0][1]), torch.tensor(found[1][1]), 1e-4)


def check_all(device: str, dtype: torch.dtype, tolerance: float) -> None:
    check_fused(device, dtype, tolerance)
    check_backward(device, dtype, tolerance)
    check_product(device, dtype, tolerance)
    check_experts(device, dtype, tolerance)
    check_few(device, dtype, tolerance)
    check_attention(device, dtype, tolerance)
    check_attention(device, dtype, tolerance, window=40)
    check_attention(device, dtype, tolerance, window=40, cap=0.7)
    check_flash(device, dtype, tolerance)
    check_flash(device, dtype, tolerance, window=40)
    check_flash(device, dtype, tolerance, window=190, cap=0.7)
    check_draw(device)
    check_limits(device)
    check_common_steps(device)
