"""GRPO with TRL's GRPOTrainer, the peer of bench/grpo.mjs, bench/learn.mjs and bench/torch.

    {"cmd": "open", "model": DIR, "threads": 2}  -> versions, parameters
    {"cmd": "run", "tasks": FILE, "tasks_per_step": 16, "answers": 8, "response": 16, "split": 1, "steps": 4, "skip": 1,
     "lr": 3e-4, "reward": "countdown", "seed": 1, "test": FILE, "settings": {}}
        -> seconds, prepare, generate, sync, logprobs, forward, prompt, sampled, longest, equal, rewards, cpu, right, started

`seconds` holds the time of every optimizer step but the first `skip`: generation, rewards, advantages, training. One
gradient per batch of rollouts, no KL term, f32, temperature 1: what the quick start does. The batch goes through the
model in `split` parts; the tasks come in the order of their file. Nothing is logged, saved or evaluated.
`settings` are further fields of GRPOConfig, by default those of a CPU; weights are float32, and `bf16` computes in bfloat16.
`prepare` is all that comes before the training of a step: `generate`, `sync` (weights to vLLM), `logprobs` (the trainer's
own, with which TRL corrects those of vLLM), rewards and padding. `forward` is a part of the training; the rest of it is
the backward pass and the optimizer. `started`: seconds until the trainer was there. `prompt` and
`sampled` the tokens of the prompts and of the answers of a step, `longest` the longest answer, `equal` the share of
answers without a gradient, `rewards` the mean reward of each step, `cpu` the processor time of the training. `right`, if there
is a `test`: the share of its puzzles that one sampled answer solves, after training.
"""

import json
import os
import re
import tempfile
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import transformers
import trl
from datasets import Dataset
from protocol import serve
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

state = {}


def countdown(completions, target, numbers, **_):
    """1 for an equation that uses every number once and reaches the target, 0.1 for another answer, 0 for none."""
    rewards = []
    for messages, goal, given in zip(completions, target, numbers):
        found = re.search(r"<answer>(.*?)</answer>", messages[0]["content"], re.DOTALL)
        if not found:
            rewards.append(0.0)
            continue
        said = found.group(1)
        used = sorted(int(n) for n in re.findall(r"\d+", said))
        fine = re.fullmatch(r"[\d+\- ]+", said) is not None and used == sorted(given)
        try:
            rewards.append(1.0 if fine and eval(said) == goal else 0.1)  # digits, plus and minus only
        except SyntaxError:
            rewards.append(0.1)
    return rewards


def letters(completions, **_):
    """How many different letters an answer uses."""
    return [float(len({c for c in messages[0]["content"] if c.isalpha()})) for messages in completions]


REWARDS = {"countdown": countdown, "letters": letters}


def now():
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


class Watched(GRPOTrainer):
    """Notes how long the parts of a step take, and how much work they had."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        parts = ("prepare", "generate", "sync", "logprobs", "forward", "prompt", "sampled", "longest", "equal")
        self.notes = {name: [] for name in parts}
        if self.use_vllm:
            self._sync = self.vllm_generation.sync_weights
            self.vllm_generation.sync_weights = lambda: self._timed("sync", self._sync, (), {})

    def _prepare_inputs(self, *args, **kwargs):
        return self._timed("prepare", super()._prepare_inputs, args, kwargs)

    def _generate(self, *args, **kwargs):
        return self._timed("generate", super()._generate, args, kwargs)

    def _get_per_token_logps_and_entropies(self, *args, **kwargs):
        work = super()._get_per_token_logps_and_entropies
        # with gradients it is a part of the training
        return work(*args, **kwargs) if torch.is_grad_enabled() else self._timed("logprobs", work, args, kwargs)

    def compute_loss(self, *args, **kwargs):
        return self._timed("forward", super().compute_loss, args, kwargs)

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        self.notes["prompt"].append(int(output["prompt_mask"].sum()))
        lengths = output["completion_mask"].sum(1)
        self.notes["sampled"].append(int(lengths.sum()))
        self.notes["longest"].append(int(lengths.max()))
        self.notes["equal"].append(float((output["advantages"] == 0).float().mean()))
        return output

    def _timed(self, name, work, args, kwargs):
        begin = now()
        try:
            return work(*args, **kwargs)
        finally:
            spent = self.notes[name]
            spent += [0.0] * (self.state.global_step + 1 - len(spent))
            spent[-1] += now() - begin


class StepTimes(TrainerCallback):
    def __init__(self):
        self.seconds = []
        self.begin = 0.0

    def on_step_begin(self, *_, **__):
        self.begin = now()

    def on_step_end(self, *_, **__):
        self.seconds.append(now() - self.begin)
        print(f"TRL: step {len(self.seconds)}, {self.seconds[-1]:.2f} s", flush=True)


def read_tasks(path):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    return Dataset.from_list(
        [
            {
                "prompt": [{"role": "user", "content": row["question"]}],
                **(row["answer"] if isinstance(row["answer"], dict) else {}),
            }
            for row in rows
        ]
    )


def open_model(model, threads=2):
    torch.set_num_threads(threads)
    state["model"] = model
    state["tokenizer"] = AutoTokenizer.from_pretrained(model)
    net = AutoModelForCausalLM.from_pretrained(model)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "trl": trl.__version__}
    return {"parameters": sum(p.numel() for p in net.parameters()), "threads": threads, "cuda": torch.cuda.is_available(), **versions}


@torch.no_grad()
def right(net, path, response, seed, size=100):
    """The share of puzzles that one answer at temperature 1 solves."""
    rows = list(read_tasks(path))
    tokenizer = state["tokenizer"]
    torch.manual_seed(seed)
    net.eval()
    solved = 0
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        texts = [tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True) for row in part]
        given = tokenizer(texts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False)
        out = net.generate(
            **given.to(net.device), do_sample=True, temperature=1.0, top_k=0, max_new_tokens=response, pad_token_id=tokenizer.pad_token_id
        )
        said = tokenizer.batch_decode(out[:, given["input_ids"].shape[1] :], skip_special_tokens=True)
        answers = [[{"content": text}] for text in said]
        solved += countdown(answers, [row["target"] for row in part], [row["numbers"] for row in part]).count(1.0)
    return solved / len(rows)


CPU = {"use_cpu": True, "bf16": False}


def run(
    tasks, tasks_per_step, answers, response, steps, lr, reward="countdown", split=1, skip=1, seed=1, test=None, settings=CPU
):
    opened = time.perf_counter()
    net = AutoModelForCausalLM.from_pretrained(state["model"], dtype=torch.float32)
    times = StepTimes()
    rewards = []

    def judged(completions, **columns):
        scores = REWARDS[reward](completions, **columns)
        rewards.append(sum(scores) / len(scores))
        return scores

    with tempfile.TemporaryDirectory() as folder:
        trainer = Watched(
            model=net,
            processing_class=state["tokenizer"],
            reward_funcs=judged,
            train_dataset=read_tasks(tasks),
            callbacks=[times],
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=tasks_per_step * answers // split,
                gradient_accumulation_steps=split,
                shuffle_dataset=False,
                num_generations=answers,
                max_completion_length=response,
                temperature=1.0,
                beta=0.0,
                learning_rate=lr,
                lr_scheduler_type="constant",
                max_steps=steps + skip,
                seed=seed,
                gradient_checkpointing=False,
                report_to=[],
                logging_strategy="no",
                save_strategy="no",
                disable_tqdm=True,
                **settings,
            ),
        )
        started = time.perf_counter() - opened
        begin = time.process_time()
        trainer.train()
        cpu = time.process_time() - begin
    return {
        "seconds": times.seconds[skip:],
        "rewards": rewards[skip:],
        "cpu": cpu,
        "started": started,
        "right": right(net, test, response, seed) if test else None,
        **{name: (values + [0.0] * len(times.seconds))[skip : len(times.seconds)] for name, values in trainer.notes.items()},
    }


if __name__ == "__main__":
    serve({"open": open_model, "run": run})
