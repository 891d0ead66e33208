import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Words that may stand in a place of the command line; looked for only when somebody is there. */
type Words = readonly string[] | (() => Promise<readonly string[]>)

const HALF_FLOAT = ['f32', 'f16', 'bf16']
const AXES = ['steps', 'tokens', 'seconds']

/** By command and option, or by command alone for its first argument. What is not here is a file, or free. */
const WORDS: Readonly<Record<string, Words>> = {
  'init --have': async () => Object.keys((await questions()).have.answers),
  'init --sdk': async () => Object.keys((await questions()).sdk.answers),
  'init --where': async () => Object.keys((await questions()).where.answers),
  'sweep --axis': AXES,
  'plot --axis': AXES,
  plot: runFolders,
  'bench-rft': async () => (await import('../benchmark/templates.js')).BENCHMARKS,
  'bench-rft --sync-style': ['fixed', 'trainer_driven', 'explorer_driven', 'fully_async'],
  'bench-rft --trainer-strategy': ['fsdp', 'fsdp2', 'megatron'],
  'debug --module': ['inference_model', 'workflow', 'viewer'],
  'perf run --module': ['explorer', 'both'],
  'log --level': ['DEBUG', 'INFO', 'WARNING', 'ERROR'],
  'view --schema': ['experience', 'sft'],
  'convert --to': ['hf', 'gguf', 'ollama'],
  'convert --type': [...HALF_FLOAT, 'q8_0', 'q4_0', 'q4_k_m'],
  'convert --dtype': ['bfloat16', 'keep'],
  'model new --arch': ['llama', 'mistral', 'qwen2', 'qwen3'],
  'model new --head': ['lm', 'sequence', 'token'],
  'model new --dtype': HALF_FLOAT,
  'model new --tokenizer': ['bytes', 'chars:', 'from:'],
  completion: ['bash', 'zsh', 'fish'],
  play: async () => (await import('../environment/registry.js')).environments.names(),
  data: async () => (await import('../dataset/registry.js')).datasets.names(),
  chat: runFolders,
  serve: runFolders,
  'chat --compare': runFolders,
  'status --job-dir': runFolders,
  'convert --checkpoint-dir': runFolders,
}

/** Values of an option, or of the first argument, of a command. */
export async function valuesOf(command: string, option: string | undefined, begun: string): Promise<readonly string[]> {
  if (option === '--set') return overridesOf(begun)
  const words = WORDS[option === undefined ? command : `${command} ${option}`] ?? []
  return typeof words === 'function' ? words() : words
}

async function questions() {
  return (await import('../init/answers.js')).QUESTIONS
}

/** Runs below the usual folder; elsewhere the shell offers folders. */
async function runFolders(): Promise<string[]> {
  const below = (dir: string) =>
    existsSync(dir)
      ? readdirSync(dir, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [join(dir, one.name)] : []))
      : []
  return below('checkpoints')
    .flatMap(below)
    .flatMap((dir) => [dir, ...below(dir)])
    .filter((dir) => existsSync(join(dir, 'monitor')))
}

/** `key=` for every key that goes on as it was begun, or `key=value` where its values have names. */
async function overridesOf(begun: string): Promise<string[]> {
  const { keysOfConfig } = await import('../config/keys.js')
  const [key] = begun.split('=')
  if (!begun.includes('=')) return keysOfConfig().map(({ key: one }) => `${one}=`)
  const field = keysOfConfig().find((one) => one.key === key)
  const named = NAMED[key] ? await NAMED[key]() : (field?.values ?? [])
  return named.map((value) => `${key}=${value}`)
}

/** Keys whose values are names of a registry. */
const NAMED: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  'algorithm.algorithm_type': async () => (await import('../algorithm/registry.js')).algorithms.names(),
  'buffer.explorer_input.default_workflow_type': async () =>
    (await import('../workflow/registry.js')).workflows.names(),
  'buffer.explorer_input.default_reward_fn_type': async () => (await import('../reward/registry.js')).rewardFns.names(),
}
