// Whole GRPO steps by `trinity run`, explorer and trainer on one device: what each part takes, as the run's monitors saw it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { trinity } from '../grpo.mjs'
import { format, median, printTable } from '../lib.mjs'

/** `model`: a folder made by make.py. */
export async function loop(model, work) {
  await prepare(model, work)
  const found = ours(model, work, work.steps)
  reportParts(found.parts)
  const of = (what) => median(found.parts.map(what))
  const tokens = (name) => median(found.work.map((one) => one[name]))
  console.log(
    `${format(found.pace)} s from step to step; ${format(tokens('sampled') / of((one) => one.rollout))} tokens/s sampled, ` +
      `${format((tokens('sampled') + tokens('prompt')) / of((one) => one.train))} tokens/s trained`,
  )
  console.log(firstText(found))
}

/** A tokenizer for the model, and questions of `prompt` tokens. */
export async function prepare(model, { prompts, prompt, questions = prompts * 4 }) {
  await writeTokenizer(model)
  mkdirSync(tasksOf(model))
  const letters = 'abcdefghijklmnopqrstuvwxyz '
  // three tokens are the template's
  const question = () =>
    Array.from({ length: prompt - 3 }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
  const lines = Array.from({ length: questions }, () => JSON.stringify({ question: question(), answer: '' }))
  writeFileSync(join(tasksOf(model), 'train.jsonl'), `${lines.join('\n')}\n`)
}

export function tasksOf(model) {
  return join(model, 'tasks')
}

/** Steps by `trinity run`; nothing ends an answer before its time, so that every step is the same work. */
export function ours(model, { prompts, answers, prompt, response, budget }, steps, skip) {
  return trinity(
    {
      mode: 'colocate',
      'trainer.trainer_type': 'torch',
      'explorer.rollout_model.engine_type': 'torch',
      'explorer.rollout_model.ignore_eos': true,
      'model.model_path': model,
      'model.max_prompt_tokens': prompt,
      'model.max_response_tokens': response,
      'buffer.batch_size': prompts,
      'buffer.explorer_input.taskset.path': tasksOf(model),
      'buffer.explorer_input.taskset.data_selector.selector_type': 'sequential',
      'buffer.explorer_input.default_reward_fn_type': 'letters',
      'algorithm.repeat_times': answers,
      'algorithm.optimizer.lr': 1e-6,
      'explorer.runner_per_model': prompts,
      'trainer.max_token_len_per_gpu': budget,
      'trainer.trainer_config.actor_rollout_ref.model.enable_gradient_checkpointing': false,
    },
    steps,
    skip,
  )
}

export function reportParts(parts) {
  const of = (what) => median(parts.map(what))
  printTable(
    Object.keys(parts[0]).map((part) => ({
      part,
      s: format(of((one) => one[part])),
      '% of the step': format(of((one) => (100 * one[part]) / one.step)),
    })),
  )
}

export function firstText({ first }) {
  return `from \`trinity run\` to the first rollouts ${format(first.begun)} s, to the end of the first step's ${format(first.done)} s`
}

/** One token per byte, and for the rest of the vocabulary words that a sample may hold and no text is cut into. */
async function writeTokenizer(model) {
  const { writeNewTokenizer } = await import(new URL('../../dist/model/new-tokenizer.js', import.meta.url).href)
  await writeNewTokenizer(model, { kind: 'bytes' })
  const file = join(model, 'tokenizer.json')
  const tokenizer = JSON.parse(readFileSync(file, 'utf8'))
  const size = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8')).vocab_size
  const { vocab } = tokenizer.model
  for (let id = Object.keys(vocab).length; id < size; id++) vocab[`word${id}`] = id
  writeFileSync(file, JSON.stringify(tokenizer))
}
