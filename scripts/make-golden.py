"""Makes the committed fixtures under test/fixtures and src/model/golden-chat.json with PyTorch and Transformers.

    scripts/test-python.sh && .venv/bin/python scripts/make-golden.py [NAME …]

Tiny seeded models, one per family (all of them, or those that are named), each with the features that tell the families apart, and what the reference
libraries compute with them: greedy tokens, log-probs, entropies, gradients, an AdamW trace. See test/fixtures/README.md.
"""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "test" / "fixtures"

SPECIAL = ["<|pad|>", "<|bos|>", "<|eos|>", "<|unk|>", "<|im_start|>", "<|im_end|>"]
CHARACTERS = "\n abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;?!+-*/=()<>|'"
VOCAB = len(SPECIAL) + len(CHARACTERS)

SHARED = {
    "hidden_act": "silu",
    "vocab_size": VOCAB,
    "max_position_embeddings": 128,
    "initializer_range": 0.02,
    "bos_token_id": 1,
    "pad_token_id": 0,
}

MODELS = {
    # Grouped-query attention, llama3 rope scaling in the newer spelling, untied, f32 in one file.
    "tiny-llama": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "rms_norm_eps": 1e-5,
        "rope_parameters": {
            "rope_type": "llama3",
            "rope_theta": 10000.0,
            "factor": 4.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16,
        },
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "eos_token_id": [2, 5],
        "dtype": "float32",
    },
    # q, k, v biases, tied embeddings, linear rope scaling in the older spelling, odd number of heads, bf16.
    "tiny-qwen2": {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "rope_scaling": {"type": "linear", "factor": 2.0},
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "eos_token_id": 5,
        "torch_dtype": "bfloat16",
    },
    # q and k norms, heads wider than hidden / heads, untied, f16 in two shards.
    "tiny-qwen3": {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "hidden_size": 32,
        "intermediate_size": 56,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 12,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "rope_scaling": None,
        "attention_bias": False,
        "tie_word_embeddings": False,
        "eos_token_id": 5,
        "torch_dtype": "float16",
    },
    # A window shorter than the sequences on every layer, yarn with frequencies that are kept, blended and stretched.
    "tiny-mistral": {
        "architectures": ["MistralForCausalLM"],
        "model_type": "mistral",
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 12,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
        "sliding_window": 11,
        "tie_word_embeddings": False,
        "eos_token_id": 5,
        "torch_dtype": "bfloat16",
    },
    # Every third layer without positions; tied because nothing is said.
    "tiny-smollm3": {
        "architectures": ["SmolLM3ForCausalLM"],
        "model_type": "smollm3",
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-6,
        "no_rope_layer_interval": 3,
        "eos_token_id": 5,
        "torch_dtype": "bfloat16",
    },
    # Norms behind attention and feed-forward part, q and k normed as a whole.
    "tiny-olmo2": {
        "architectures": ["Olmo2ForCausalLM"],
        "model_type": "olmo2",
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rope_theta": 500000.0,
        "tie_word_embeddings": False,
        "eos_token_id": 5,
        "torch_dtype": "bfloat16",
    },
}
# q, k, v in one matrix and gate, up in another; a window, a part of each head rotated, a factor for every pair.
MODELS["tiny-phi3"] = {
    "architectures": ["Phi3ForCausalLM"],
    "model_type": "phi3",
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.75,
    "original_max_position_embeddings": 100,
    "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1, 1.3], "long_factor": [1.5, 2.0, 4.0]},
    "sliding_window": 13,
    "tie_word_embeddings": False,
    "eos_token_id": 5,
    "torch_dtype": "bfloat16",
}
# Experts in the first and the last layer, of which each token has two; their shares add up to 1.
MODELS["tiny-qwen3-moe"] = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 12,
    "rope_theta": 1000000.0,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 20,
    "norm_topk_prob": True,
    "mlp_only_layers": [1],
    "tie_word_embeddings": False,
    "eos_token_id": 5,
    "torch_dtype": "bfloat16",
}
GEMMA = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 12,
    "query_pre_attn_scalar": 9,
    "sliding_window": 11,
    "eos_token_id": 5,
    "torch_dtype": "bfloat16",
}
# Norms around, capped scores and logits, every other layer with a window, tied because nothing is said.
MODELS["tiny-gemma2"] = {
    **GEMMA,
    "architectures": ["Gemma2ForCausalLM"],
    "model_type": "gemma2",
    "num_hidden_layers": 2,
    "attn_logit_softcapping": 2.0,
    "final_logit_softcapping": 6.0,
}
# Norms of q and k, two rotations of which one is stretched.
MODELS["tiny-gemma3"] = {
    **GEMMA,
    "architectures": ["Gemma3ForCausalLM"],
    "model_type": "gemma3_text",
    "num_hidden_layers": 3,
    "sliding_window_pattern": 3,
    "rope_theta": 50000.0,
    "rope_local_base_freq": 100.0,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
SEEDS = {"tiny-smollm3": 21}
DTYPES = {"tiny-llama": torch.float32, "tiny-qwen2": torch.bfloat16, "tiny-qwen3": torch.float16}

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def rounded(values, digits=7):
    """Significant digits, not decimals: gradients are small."""
    if isinstance(values, torch.Tensor):
        values = values.tolist()
    if isinstance(values, list):
        return [rounded(v, digits) for v in values]
    return float(f"{values:.{digits}g}")


def dump(path, value):
    """One line per entry: short files, readable differences."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
    path.write_text("{\n" + lines + "\n}\n")


def write_tokenizer(folder):
    vocab = {token: i for i, token in enumerate(SPECIAL + list(CHARACTERS))}
    added = [
        {"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i, t in enumerate(SPECIAL)
    ]
    model = {"type": "BPE", "dropout": None, "unk_token": "<|unk|>", "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": vocab, "merges": []}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
                 "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"}, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, indent=1, ensure_ascii=False) + "\n")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|bos|>", "eos_token": "<|im_end|>",
              "pad_token": "<|pad|>", "unk_token": "<|unk|>", "clean_up_tokenization_spaces": False,
              "model_max_length": 128, "chat_template": CHAT_TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


def by_expert(key, value):
    """The tensors of a checkpoint: Transformers has those of all experts in one, [experts, …], with gate and up joined."""
    if ".experts." not in key:
        return {key: value}
    prefix, last = key.rsplit(".", 1)
    if last == "down_proj":
        return {f"{prefix}.{e}.down_proj.weight": one for e, one in enumerate(value)}
    halves = (("gate_proj", 0), ("up_proj", 1))
    return {f"{prefix}.{e}.{part}.weight": one.chunk(2)[i] for e, one in enumerate(value) for part, i in halves}


def write_weights(folder, name, config):
    """Scaled so that the next token is far from uniform: ties would make greedy decoding depend on rounding."""
    torch.manual_seed(SEEDS.get(name, 20))
    empty = AutoModelForCausalLM.from_config(config)
    state = {}
    for key, value in sorted(empty.state_dict().items()):
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        noise = torch.randn(value.shape)
        if "norm" in key:
            tensor = (0 if "gemma" in name else 1) + 0.2 * noise
        elif key.endswith("bias"):
            tensor = 0.3 * noise
        elif "embed" in key or "lm_head" in key:
            tensor = 0.35 * noise
        else:
            tensor = noise / math.sqrt(value.shape[-1])
        for own, part in by_expert(key, tensor).items():
            state[own] = part.to(DTYPES.get(name, torch.bfloat16)).contiguous()
    if name != "tiny-qwen3":
        save_file(state, folder / "model.safetensors", {"format": "pt"})
        return
    shards = {"model-00001-of-00002.safetensors": {}, "model-00002-of-00002.safetensors": {}}
    for key, value in state.items():
        which = "model-00002-of-00002.safetensors" if "layers.1." in key else "model-00001-of-00002.safetensors"
        shards[which][key] = value
    index = {"metadata": {"total_size": sum(v.numel() * v.element_size() for v in state.values())}, "weight_map": {}}
    for shard, tensors in shards.items():
        save_file(tensors, folder / shard, {"format": "pt"})
        index["weight_map"].update({key: shard for key in sorted(tensors)})
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")


def scores(model, tokens, temperature):
    logits = model(torch.tensor([tokens])).logits[0, :-1].float() / temperature
    logp = torch.log_softmax(logits, -1)
    chosen = logp.gather(-1, torch.tensor(tokens[1:])[:, None])[:, 0]
    entropy = -(logp.exp() * logp).sum(-1)
    return chosen, entropy


def greedy(model, prompt, steps):
    tokens, gap = list(prompt), math.inf
    with torch.no_grad():
        for _ in range(steps):
            top = model(torch.tensor([tokens])).logits[0, -1].float().topk(2)
            gap = min(gap, float(top.values[0] - top.values[1]))
            tokens.append(int(top.indices[0]))
    assert gap > 1e-3, f"greedy choice is a near tie ({gap}); change the seed"
    return tokens[len(prompt):]


def sample_of(tensor):
    """Eight elements spread over a tensor, as [flat index, value]."""
    flat = tensor.detach().flatten()
    step = max(1, flat.numel() // 8)
    return [[i, rounded(flat[i].item())] for i in range(0, flat.numel(), step)][:8]


def gradient_report(model):
    named = [pair for k, p in model.named_parameters() if p.grad is not None for pair in by_expert(k, p.grad).items()]
    return {
        "norm": rounded(torch.cat([g.flatten() for _, g in named]).norm().item()),
        "norms": {k: rounded(g.norm().item()) for k, g in named},
        "samples": {k: sample_of(g) for k, g in named},
    }


def gradient_golden(model, rows):
    """loss = Σ w·logprob + v·entropy with given w, v: what an engine gets handed as d(loss)/d(score)."""
    model.zero_grad()
    random = torch.Generator().manual_seed(7)
    out, loss = [], 0.0
    for row in rows:
        w = torch.randn(len(row["tokens"]) - 1, generator=random) / 10
        v = torch.randn(len(row["tokens"]) - 1, generator=random) / 20
        logprob, entropy = scores(model, row["tokens"], row["temperature"])
        loss = loss + (w * logprob + v * entropy).sum()
        out.append({"tokens": row["tokens"], "temperature": row["temperature"], "d_logprob": rounded(w), "d_entropy": rounded(v)})
    loss.backward()
    return {"rows": out, "loss": rounded(loss.item()), **gradient_report(model)}


def value_golden(model, rows):
    """A value head (no lm head): value = score · final hidden state + bias. loss = Σ u·value over all tokens."""
    model.zero_grad()
    random = torch.Generator().manual_seed(8)
    weight = (torch.randn(model.config.hidden_size, generator=random) / 4).requires_grad_()
    bias = torch.tensor([0.25], requires_grad=True)
    out, loss = [], 0.0
    for row in rows:
        u = torch.randn(len(row["tokens"]), generator=random) / 10
        values = model.model(torch.tensor([row["tokens"]])).last_hidden_state[0] @ weight + bias
        loss = loss + (u * values).sum()
        out.append({"tokens": row["tokens"], "values": rounded(values), "d_value": rounded(u)})
    loss.backward()
    head = {"weight": rounded(weight), "bias": 0.25, "d_weight": rounded(weight.grad), "d_bias": rounded(bias.grad.item())}
    return {"rows": out, "loss": rounded(loss.item()), "head": head, **gradient_report(model)}


def adamw_golden(model, rows, steps=20):
    """Mean negative log-prob over every token of every row, T = 1; one optimizer step per pass."""
    options = {"lr": 0.005, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1}
    clip = 1.0
    optimizer = torch.optim.AdamW(model.parameters(), lr=options["lr"], betas=tuple(options["betas"]),
                                  eps=options["eps"], weight_decay=options["weight_decay"])
    trace = []
    for _ in range(steps):
        optimizer.zero_grad()
        logprobs = torch.cat([scores(model, row["tokens"], 1.0)[0] for row in rows])
        loss = -logprobs.mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        trace.append({"loss": rounded(loss.item()), "grad_norm": rounded(norm.item())})
    return {
        **options,
        "grad_clip": clip,
        "rows": [row["tokens"] for row in rows],
        "steps": trace,
        "final": {k: sample_of(v) for name, p in model.named_parameters() for k, v in by_expert(name, p).items()},
    }


def make_model(name, spec):
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shared = {key: value for key, value in SHARED.items() if key != "hidden_act" or "gemma" not in name}
    (folder / "config.json").write_text(json.dumps({**spec, **shared}, indent=2) + "\n")
    write_tokenizer(folder)
    write_weights(folder, name, AutoConfig.from_pretrained(folder))

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = ["What is 2 + 3?", "a", "The quick brown fox jumps over 13 lazy dogs."]
    prompts = [tokenizer(text)["input_ids"] for text in texts]
    generated = [{"prompt_ids": p, "greedy_ids": greedy(model, p, 24)} for p in prompts]
    with torch.no_grad():
        rows = []
        for i, g in enumerate(generated):
            for temperature in (1.0, 0.7):
                tokens = g["prompt_ids"] + g["greedy_ids"]
                logprob, entropy = scores(model, tokens, temperature)
                rows.append({"tokens": tokens, "temperature": temperature, "logprobs": rounded(logprob), "entropies": rounded(entropy)})
    mixed = [rows[0], rows[3], rows[4]]  # temperatures 1, 0.7, 1
    dump(folder / "golden.json", {
        "made_with": f"torch {torch.__version__}, transformers {transformers.__version__}, float32",
        "greedy": generated,
        "scores": rows,
        "gradient": gradient_golden(model, mixed),
        "value": value_golden(model, mixed[:2]),
        "adamw": adamw_golden(model, mixed),
    })
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{name}: {sum(p.numel() for p in model.parameters())} parameters, {size} bytes")


def make_chat_golden():
    """What Transformers renders with the Qwen2.5 template, tools included."""
    source = ROOT / "node_modules" / "@lenml" / "tokenizer-qwen2_5" / "models"
    tokenizer = AutoTokenizer.from_pretrained(source)
    tool = {"type": "function", "function": {"name": "get_weather", "description": "Wetter für «Ort»", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
    user = {"role": "user", "content": "How warm is it in Zürich? 🌡️"}
    call = {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 2]}}}]}
    result = {"role": "tool", "content": '{"celsius": 21.5}'}
    answer = {"role": "assistant", "content": "It is 21.5 °C."}
    cases = [
        {"messages": [user], "generation": True},
        {"messages": [{"role": "system", "content": "Be brief."}, user, answer], "generation": False},
        {"messages": [user], "tools": [tool], "generation": True},
        {"messages": [user, call, result, answer, {"role": "user", "content": "Thanks"}], "tools": [tool], "generation": True},
        {"messages": [user, {"role": "assistant", "content": "It is about"}], "continue": True},
    ]
    for case in cases:
        text = tokenizer.apply_chat_template(
            case["messages"], tools=case.get("tools"), tokenize=False,
            add_generation_prompt=case.get("generation", False), continue_final_message=case.get("continue", False))
        case["text"] = text
        case["ids"] = tokenizer(text, add_special_tokens=False)["input_ids"]
    golden = {"qwen": cases, "generation": generation_golden()}
    (ROOT / "src" / "model" / "golden-chat.json").write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")
    print("golden-chat.json:", len(cases), "cases")


def generation_golden():
    """Masks of templates that say with {% generation %} what the assistant wrote, with blanks in awkward places."""
    templates = [
        "{%- for m in messages -%}\n<|im_start|>{{ m.role }}:\n{%- if m.role == 'assistant' -%}\n  {% generation %}\n"
        "{{ m.content }}<|im_end|>\n  {% endgeneration %}\n{%- else -%}{{ m.content }}<|im_end|>{%- endif -%}\n{%- endfor -%}",
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}\n"
        "{%- generation -%}\n  {{ m.content }}<|im_end|>\n{%- endgeneration -%}\n{% else %}{{ m.content }}<|im_end|>\n"
        "{% endif %}{% endfor %}",
    ]
    tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "tiny-llama")
    messages = [{"role": "user" if i % 2 == 0 else "assistant", "content": text} for i, text in enumerate(["ab", "cd", "e f", "gh "])]
    out = []
    for template in templates:
        encoded = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=True, return_dict=True,
                                                return_assistant_tokens_mask=True)
        text = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False)
        out.append({"template": template, "messages": messages, "text": text, "ids": encoded["input_ids"],
                    "mask": encoded["assistant_masks"]})
    return out


if __name__ == "__main__":
    torch.set_num_threads(1)
    named = [name for name in sys.argv[1:] if name != "--models"]
    for name in named or MODELS:
        make_model(name, MODELS[name])
    if not named and "--models" not in sys.argv:
        make_chat_golden()
    subprocess.run(["npx", "biome", "format", "--write", "test/fixtures", "src/model"], cwd=ROOT, check=True)
