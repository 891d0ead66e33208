// Whole GRPO steps by `trinity run` before and after TRL's GRPOTrainer, which samples with vLLM in the same process: the same
// model, questions, order, batch and lengths, one gradient a batch, no KL term, weights in float32, products in bfloat16.
import { join } from 'node:path'
import { reportWork } from '../grpo.mjs'
import { format, median } from '../lib.mjs'
import { startPeer } from '../peer/peer.mjs'
import { firstText, ours, prepare, reportParts, tasksOf } from './loop.mjs'

/** The first steps compile and warm up. */
const [OWN, OWN_SKIP] = [4, 2]
const [THEIRS, THEIR_SKIP] = [2, 1]
const TARGET = 2

/** `rows`: sequences that TRL trains on at once. `vllm: false`: it samples with Transformers, for a machine without a GPU. */
export async function againstTrl(model, work, { rows, vllm }) {
  await prepare(model, { ...work, questions: work.prompts * OWN })
  const runs = []
  const here = () => {
    runs.push(ours(model, work, OWN, OWN_SKIP))
    console.log(`\nhere: ${format(runs.at(-1).pace)} s a step`)
    reportParts(runs.at(-1).parts)
    console.log(firstText(runs.at(-1)))
  }
  here()
  const theirs = await trl(model, work, rows, vllm)
  here()
  reportWork(
    runs.flatMap((one) => one.work),
    [theirs],
  )
  const pace = median(runs.map((one) => one.pace))
  const steps = theirs.parts
  const faster = median(steps.map((one) => one.step)) / pace
  const bare = median(steps.map((one) => one.step - one.logprobs)) / pace
  console.log(
    `× ${format(faster)} (target ≥ ${TARGET} ${faster >= TARGET ? 'met' : 'MISSED'}); without TRL's pass for log-probs of its own × ${format(bare)}`,
  )
}

async function trl(model, { prompts, answers, prompt, response }, rows, vllm) {
  const peer = startPeer('grpo_trl.py', {
    echo: true,
    env: { VLLM_USE_FLASHINFER_SAMPLER: '0', VLLM_LOGGING_LEVEL: 'ERROR', VLLM_NO_USAGE_STATS: '1' },
  })
  try {
    const { torch, trl: version, cuda } = await peer.call({ cmd: 'open', model })
    const device = cuda ? { bf16: true } : { use_cpu: true, bf16: false }
    const sampler = vllm
      ? {
          use_vllm: true,
          vllm_mode: 'colocate',
          vllm_max_model_length: prompt + response + 16,
          generation_kwargs: { ignore_eos: true },
        }
      : { generation_kwargs: { min_new_tokens: response } }
    const found = await peer.call(
      {
        cmd: 'run',
        ...{ tasks: join(tasksOf(model), 'train.jsonl'), tasks_per_step: prompts, answers, response },
        ...{ steps: THEIRS, skip: THEIR_SKIP, lr: 1e-6, reward: 'letters', split: (prompts * answers) / rows },
        settings: { ...device, ...sampler },
      },
      { seconds: 300 },
    )
    const parts = found.seconds.map((step, i) => {
      const [prepare, generated, sync, logprobs] = ['prepare', 'generate', 'sync', 'logprobs'].map(
        (name) => found[name][i],
      )
      const generate = generated - sync
      return { generate, logprobs, train: step - prepare, sync, other: prepare - generate - logprobs - sync, step }
    })
    console.log(
      `\nTRL ${version}, PyTorch ${torch}, ${vllm ? 'vLLM' : 'Transformers'}: started in ${format(found.started)} s`,
    )
    reportParts(parts)
    return { ...found, parts }
  } finally {
    await peer.close()
  }
}
