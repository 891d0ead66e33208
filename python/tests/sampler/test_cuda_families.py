"""Every family of models in the sampler's kernels on a GPU: against Transformers, recorded and not."""

from __future__ import annotations

import unittest

import torch
from transformers import AutoModelForCausalLM

from ..kernel_checks import check_all
from ..models import FAMILIES, F32, tiny
from .test_cuda_pool import CudaDesk
from .test_engine import prompt, wish

# large enough for every kernel
LARGER = dict(
    vocab_size=1000, hidden_size=256, intermediate_size=512, num_hidden_layers=3, head_dim=64, max_position_embeddings=512,
)  # fmt: skip
ROPE = {**FAMILIES["phi3"][2]["rope_parameters"], "short_factor": [1.0 + i / 48 for i in range(24)], "long_factor": [2.0] * 24}
MORE = {
    "gemma3": {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    "phi3": {"rope_parameters": ROPE, "original_max_position_embeddings": 512},
    "qwen3_moe": {"num_experts": 8, "moe_intermediate_size": 128},
}
PROMPTS = [(3, 5, 7), tuple(range(1, 200)), (9,) * 33]


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device")
class CudaFamilies(unittest.TestCase):
    def test_kernels_do_what_their_twins_do(self) -> None:
        check_all("cuda", torch.float32, 1e-5)
        check_all("cuda", torch.bfloat16, 2e-2)

    def test_each_is_as_transformers_has_it(self) -> None:
        for family in FAMILIES:
            with self.subTest(family):
                path = tiny(family, **{**LARGER, **MORE.get(family, {})})
                hf = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").cuda()
                recorded, worst = self.sampled(path, hf, {})
                eager, _ = self.sampled(path, hf, {"eager": True})
                self.assertEqual(recorded, eager)
                print(f"{family}: log-probs within {worst:.1e} of Transformers")

    def sampled(self, path: str, hf: torch.nn.Module, options: dict[str, bool]) -> tuple[list[list[int]], float]:
        desk = CudaDesk(**{**F32, **options})
        model = desk.open(path, cacheTokens=4096)
        numbers = [desk.ask("sample", prompt(*ids), model=model, n=1, wish=wish(greedy=True, maxTokens=40)) for ids in PROMPTS]
        desk.run()
        found, worst = [], 0.0
        for ids, number in zip(PROMPTS, numbers):
            (tokens,) = desk.samples(number)
            with torch.no_grad():
                logits = hf(torch.tensor([[*ids, *tokens]]).cuda()).logits[0, len(ids) - 1 : -1].float()
            log_p = logits.log_softmax(-1).cpu()
            self.assertEqual(tokens, log_p.argmax(-1).tolist())
            wanted = log_p[torch.arange(len(tokens)), torch.tensor(tokens)]
            worst = max(worst, (desk.answers[number][1]["logprobs"] - wanted).abs().max().item())
            found.append(tokens)
        self.assertLess(worst, 1e-4)
        desk.ask("close", model=model)
        return found, worst


if __name__ == "__main__":
    unittest.main()
