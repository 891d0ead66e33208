"""What surrounds cuDNN's attention: places of sequences, plans that are shared, the way through autograd and a compiler."""

from __future__ import annotations

import unittest
from functools import partial

import torch
from torch import Tensor, nn

from trinity_torch.network import attention, cudnn_attention
from trinity_torch.network.cudnn_attention import Places, by_token, rounded, shape_of


def plain_forward(q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int, scale: float) -> tuple[Tensor, Tensor]:
    return attention.each_sequence(q, k, v, bounds, scale, None).contiguous(), torch.zeros(q.shape[:2])


def plain_backward(d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, stats: Tensor, bounds: Tensor, longest: int, scale: float):
    with torch.enable_grad():
        given = [x.detach().requires_grad_() for x in (q, k, v)]
        return torch.autograd.grad(attention.each_sequence(*given, bounds, scale, None), given, d_out)


# the operations on the CPU, where cuDNN is not
cudnn_attention._library.impl("attend", plain_forward, "CPU")
cudnn_attention._library.impl("attend_backward", plain_backward, "CPU")


class CudnnAttention(unittest.TestCase):
    def test_places_of_sequences_that_are_not_there_have_length_0(self):
        places = Places(torch.tensor([0, 3, 10, 12], dtype=torch.int32))
        self.assertEqual(places.sequences, 4)
        self.assertEqual(places.lengths.tolist(), [3, 7, 2, 0])
        self.assertEqual(places.of(256).tolist(), [0, 768, 2560, 3072, 3072])
        self.assertEqual(places.of(256).dtype, torch.int32)
        self.assertIs(places.of(256), places.of(256))

    def test_few_sizes_are_ever_asked_for(self):
        self.assertEqual([rounded(n, 4) for n in (1, 4, 5, 12, 33, 100, 1000)], [4, 4, 8, 12, 40, 112, 1024])
        for n in range(1, 3000):
            self.assertGreaterEqual(rounded(n, 4), n)
            self.assertLessEqual(rounded(n, 4), max(n + 3, n * 1.25))
        self.assertLess(len({rounded(n, 4) for n in range(1, 3000)}), 50)

    def test_a_shape_does_not_depend_on_the_number_of_tokens(self):
        shapes = set()
        for tokens in (7936, 8064, 8192):
            qkv = torch.zeros(tokens, 8, 16)
            # k lies head by head, which would put the number of tokens into its strides
            q, k, v = qkv[:, :4], torch.zeros(2, tokens, 16).transpose(0, 1), qkv[:, 6:]
            parts = [by_token(x) for x in (q, k, v)]
            shapes.add(shape_of(*parts, 12, 1500, 0.25, backward=True))
        self.assertEqual(len(shapes), 1)
        (shape,) = shapes
        self.assertEqual((shape.longest, shape.tokens), (2048, 8192))
        self.assertEqual(shape.strides, ((128, 16), (32, 16), (128, 16)))

    def test_gradients_pass_through_it_compiled_or_not(self):
        attend = partial(attention.packed_attention, by_cudnn=True)

        def layer(x: Tensor, w: Tensor, bounds: Tensor, longest: int, attend=attend) -> Tensor:
            q, k, v = ((part * 2).transpose(1, 2) for part in (x @ w).view(1, -1, 8, 16).split([4, 2, 2], 2))
            return attend(nn.Module(), q, k, v, None, scaling=0.25, bounds=bounds, longest=longest)[0].square().sum()

        compiled = torch.compile(layer, dynamic=True, backend="aot_eager")
        w = torch.randn(32, 128, requires_grad=True)
        for bounds, longest in (([0, 5, 20], 16), ([0, 5, 20, 37], 32)):
            x, ends = torch.randn(1, bounds[-1], 32, requires_grad=True), torch.tensor(bounds, dtype=torch.int32)
            plain = torch.autograd.grad(layer(x, w, ends, longest, attention.packed_attention), (x, w))
            for work in (layer, compiled):
                for mine, other in zip(torch.autograd.grad(work(x, w, ends, longest), (x, w)), plain):
                    torch.testing.assert_close(mine, other)

    def test_small_layers_and_the_cpu_keep_the_attention_of_pytorch(self):
        self.assertFalse(cudnn_attention.usable(torch.device("cpu"), torch.bfloat16, 4, 2, 64))
        config = type("Config", (), {"get_text_config": lambda self: self.fail("a small layer was asked about")})()
        attention.choose(type("Model", (), {"config": config})(), nn.Linear(8, 8), torch.device("cuda"), torch.bfloat16)


if __name__ == "__main__":
    unittest.main()
