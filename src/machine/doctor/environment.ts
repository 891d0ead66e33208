import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, resolve } from 'node:path'
import { nearest } from '../../base/nearest.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

interface Variable {
  readonly name: string
  /** Shown when it is absent. */
  readonly use: string
  /** Names one local path, several, or something else. */
  readonly kind?: 'path' | 'paths' | 'url'
  /** Not worth a line when it is absent. */
  readonly quiet?: boolean
}

const VARIABLES: readonly Variable[] = [
  { name: 'HF_TOKEN', use: 'gated models and data sets of the Hugging Face hub' },
  { name: 'WANDB_API_KEY', use: 'the wandb monitor' },
  { name: 'OPENAI_API_KEY', use: 'hosted judges and teachers' },
  { name: 'OPENAI_BASE_URL', use: 'an OpenAI-compatible service other than the default', kind: 'url', quiet: true },
  { name: 'TINKER_API_KEY', use: 'training on a Tinker service' },
  { name: 'TINKER_BASE_URL', use: 'a Tinker service other than the default', kind: 'url', quiet: true },
  { name: 'TRINITY_MODEL_PATH', use: 'the model in example configurations' },
  { name: 'TRINITY_TASKSET_PATH', use: 'the task set in example configurations' },
  {
    name: 'TRINITY_CHECKPOINT_ROOT_DIR',
    use: 'the folder for runs in example configurations and sweeps, otherwise ./checkpoints',
  },
  { name: 'TRINITY_PLUGIN_DIRS', use: 'folders of plugins', kind: 'paths', quiet: true },
  { name: 'TRINITY_PYTHON', use: 'the Python of the torch engine', quiet: true },
]

/** Conventions of configurations; listed when set, and offered when a name is misspelled. */
const OTHERS = [
  'TRINITY_SFT_DATASET_PATH',
  'TRINITY_AUX_MODEL_PATH',
  'TRINITY_VLM_MODEL_PATH',
  'TRINITY_MOE_MODEL_PATH',
  'TRINITY_LARGE_MODEL_PATH',
  'TRINITY_DATASET_PATH',
  'TRINITY_BUFFER_PATH',
  'TRINITY_GROUP',
  'TRINITY_NAME',
  'TRINITY_LOG_DIR',
  'TRINITY_LOG_LEVEL',
  'TRINITY_LOG_NODE_IP',
  'TRINITY_MAX_EXP_SIZE',
  'TRINITY_BUILD_NATIVE',
  'TRINITY_NATIVE_ADDON',
  'TRINITY_NATIVE_ISA',
  'TRINITY_NATIVE_THREADS',
  'TRINITY_SKIP_NATIVE',
  'TRINITY_TORCH_GRACE',
] as const

const LISTED = /^(TRINITY|TINKER|OPENAI)_[A-Z0-9_]+$/

/** Says which variables are set, and never what they hold: reports are pasted into public places. */
export async function checkEnvironment(host: Host): Promise<Check[]> {
  const known = new Set<string>([...VARIABLES.map((variable) => variable.name), ...OTHERS])
  const listed = VARIABLES.filter((variable) => !variable.quiet || host.env[variable.name] !== undefined)
  const extra = Object.keys(host.env).filter((name) => LISTED.test(name) && !VARIABLES.some((v) => v.name === name))
  return Promise.all([
    ...listed.map((variable) => checkVariable(variable, host)),
    ...extra.sort().map((name) => checkExtra(name, known, host)),
  ])
}

async function checkVariable(variable: Variable, host: Host): Promise<Check> {
  const { name, kind } = variable
  const value = host.env[name]
  const base = { id: `env.${name}`, section: 'environment', name, required: false } as const
  if (value === undefined) {
    return { ...base, status: 'missing', found: 'not set', fix: `set it for ${variable.use}`, data: { set: false } }
  }
  const data = { set: true }
  const fault = faultOf(value) ?? (kind === 'url' && !URL.canParse(value) ? 'not a URL' : undefined)
  if (fault) return { ...base, status: 'wrong', found: `set, but ${fault}`, fix: `set ${name} again`, data }
  if (kind === 'paths' && !(await allExist(value.split(delimiter), host))) {
    return { ...base, status: 'wrong', found: 'set, but a folder in it does not exist', fix: `correct ${name}`, data }
  }
  return { ...base, status: 'ok', found: 'set', data }
}

async function checkExtra(name: string, known: ReadonlySet<string>, host: Host): Promise<Check> {
  if (known.has(name)) return checkVariable({ name, use: '' }, host)
  const base = { id: `env.${name}`, section: 'environment', name, required: false, data: { set: true } } as const
  const near = closeName(name, known)
  if (!near) return { ...base, status: 'ok', found: 'set' }
  return { ...base, status: 'warning', found: 'set, but nothing here reads it', fix: `did you mean ${near}?` }
}

/** Only a slip of the finger: a user's own TRINITY_… variables are as good as ours. */
function closeName(name: string, known: ReadonlySet<string>): string | undefined {
  const stem = (text: string) => text.slice(text.indexOf('_') + 1)
  const prefix = name.slice(0, name.indexOf('_') + 1)
  const candidates = [...known].filter((candidate) => candidate.startsWith(prefix)).map(stem)
  const near = nearest(stem(name), candidates)
  return near !== undefined && near.length >= 6 && Math.abs(near.length - stem(name).length) <= 1
    ? prefix + near
    : undefined
}

/** What tokens suffer from when they are pasted. */
function faultOf(value: string): string | undefined {
  if (value.trim() === '') return 'empty'
  if (value !== value.trim()) return 'with white space around it'
  if (/^(['"]).*\1$/.test(value)) return 'with quotes around it'
  return undefined
}

async function allExist(paths: readonly string[], host: Host): Promise<boolean> {
  const found = paths
    .filter((path) => path !== '')
    .map((path) =>
      access(resolve(host.cwd, path), constants.R_OK).then(
        () => true,
        () => false,
      ),
    )
  return (await Promise.all(found)).every(Boolean)
}
