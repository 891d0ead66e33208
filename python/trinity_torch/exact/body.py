"""The layers of a trained network, computed as the sampler computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ..errors import WorkerError
from ..kernels import power
from ..network import attention
from ..network.rows import Pack
from ..sampler import product
from ..sampler.decoder import Decoder, Dense, modules
from ..sampler.family import turns
from .functions import AddNorm, Attend, Attention, Gate, Norm, Sink, Step
from .layout import Layout, layout_of

if TYPE_CHECKING:
    from ..train.train_model import TrainModel

KEY = "trainer.exact_logprobs"
# families all of whose operations have a derivative here
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "smollm3")


class Exact:
    """
    Of one network. Its parameters become views of the tensors that products are made with, and stay so: whoever gives them
    other memory parts the two.
    """

    def __init__(self, hf: Any, max_len: int, totals: dict[Tensor, Tensor], checkpointing: bool):
        """`totals`: float32 sums of gradients by parameter; a parameter without one gets its gradient from autograd."""
        self.decoder = decoder = Decoder(hf, max_len, True)
        self.checkpointing = checkpointing
        # lengths of packs are rounded up to a power of two
        self.longest = power(max_len)
        kinds = {layer.turn for layer in decoder.layers}
        decoder.turns = turns(hf.base_model.rotary_emb, kinds, self.longest, decoder.device, decoder.dtype)
        layers = list(hf.base_model.layers)
        following = [*(layer.input_layernorm.weight for layer in layers[1:]), hf.base_model.norm.weight]
        sink = lambda *parameters: Sink(parameters, totals)  # noqa: E731
        by_cudnn = hf.config._attn_implementation == attention.CUDNN_NAME
        self.first = sink(layers[0].input_layernorm.weight)
        self.layers: list[tuple[Attention, Step, Tensor, Sink, Step]] = []
        nexts = [*(one.attention.before for one in decoder.layers[1:]), decoder.last]
        for number, (layer, own, after, after_weight) in enumerate(zip(layers, decoder.layers, following, nexts)):
            attends = layer.self_attn
            three = modules(attends, "qkv_proj", "q_proj", "k_proj", "v_proj")
            norms = None if own.q_norm is None else (sink(attends.q_norm.weight), sink(attends.k_norm.weight))
            biases = None if own.bias is None else sink(*(m.bias for m in three))
            halves = modules(layer.mlp, "gate_up_proj", "gate_proj", "up_proj")
            dense, before = own.fed, own.feed.before
            assert isinstance(dense, Dense) and before is not None and after_weight is not None
            step = lambda weight, norm, module, norm_of: Step(  # noqa: E731
                weight, norm, sink(module.weight), sink(norm_of), decoder.eps, decoder.unit
            )
            self.layers.append(
                (
                    Attention(decoder, number, sink(*(m.weight for m in three)), biases, norms, by_cudnn),
                    step(own.o, before, attends.o_proj, layer.post_attention_layernorm.weight),
                    dense.gate_up,
                    sink(*(m.weight for m in halves)),
                    step(dense.down, after_weight, layer.mlp.down_proj, after),
                )
            )

    @staticmethod
    def of(model: TrainModel) -> Exact:
        """For a trained model as it is, once it has its optimizer."""
        refuse(model)
        optimizer = model.optimizer
        totals: dict[Tensor, Tensor] = {}
        if optimizer.store.separate:
            totals.update(zip(optimizer.params, optimizer.grads))
        found = Exact(model.network.hf, model.info["maxModelLen"], totals, bool(model.spec.get("gradientCheckpointing")))
        optimizer.follow()
        return found

    def hidden(self, pack: Pack, embeds: Tensor) -> Tensor:
        """Hidden states [tokens, size] after the last norm. `embeds`: of the pack's tokens, of the same shape."""
        if pack.longest > self.longest:
            raise WorkerError(
                "engine/max-model-len",
                f"a row of a pack has up to {pack.longest} tokens, and the model was opened for {self.longest}",
                "raise model.max_model_len",
            )
        decoder = self.decoder
        layout = layout_of(pack, decoder.heads // decoder.kv)
        x, weight = embeds, decoder.layers[0].attention.before
        assert weight is not None
        h = Norm.apply(x, weight, self.first, decoder.eps, decoder.unit, *self.first.inputs)
        for layer in self.layers:
            if self.checkpointing and embeds.requires_grad:
                x, h = checkpoint(_layer, x, h, layer, layout, use_reentrant=False, preserve_rng_state=False)
            else:
                x, h = _layer(x, h, layer, layout)
        return h

    def logits(self, hidden: Tensor, weight: Tensor) -> Tensor:
        return product.logits(hidden, weight, True)


def _layer(x: Tensor, h: Tensor, layer: tuple[Attention, Step, Tensor, Sink, Step], layout: Layout) -> tuple[Tensor, Tensor]:
    attends, out, gate_up, gate_sink, down = layer
    mixed = Attend.apply(h, attends, layout, *attends.inputs)
    x, h = AddNorm.apply(mixed, x, out, *out.inputs)
    inner = Gate.apply(h, gate_up, gate_sink, *gate_sink.inputs)
    return AddNorm.apply(inner, x, down, *down.inputs)


def refuse(model: TrainModel) -> None:
    """What would not give the sampler's bits, or is not known to."""
    kind = model.network.config.model_type
    reasons = {
        "LoRA (the sampler adds the adapter to the weights and rounds them, training computes it apart)": model.lora is not None,
        "several GPUs for the trainer": model.ranks.several,
        "param_offload": bool(model.options.get("paramOffload")),
        f"models of type '{kind}' (it knows {', '.join(FAMILIES)})": kind not in FAMILIES,
    }
    for what, there in reasons.items():
        if there:
            hint = f"leave one of them out; without {KEY}, mismatch/logprob_diff says how far the two are apart"
            raise WorkerError("engine/unsupported", f"{KEY} does not go together with {what}", hint, KEY)
