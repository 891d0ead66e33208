import { type Item, item } from '../draft.js'
import { parseHydraValue, type Value } from '../value.js'
import { fallbackOf, type Mapping } from './mapping.js'

const SPLITS = /^(train|training|test|testing|val|valid|validation|dev|eval)$/i

interface DataFile {
  name: string
  path: string
  split: string
}

/** `data.train_files` and `data.val_files` as tasksets and evaluation tasksets. */
export function mapTasksets(mapping: Mapping): void {
  const { draft } = mapping
  const used = new Set<string>()
  const shuffle = mapping.bool('data.shuffle')
  const seed = mapping.has('data.seed') ? mapping.number('data.seed', 42).written : undefined
  const reward = rewardRows(mapping)
  const train = files(mapping, 'data.train_files').map((file) =>
    item(
      [
        ...fileRows(mapping, file, unique(file.name, used), 'data.train_files'),
        [
          'data_selector.selector_type',
          shuffle === undefined ? undefined : shuffle ? 'shuffle' : 'sequential',
          'data.shuffle',
        ],
        ['data_selector.seed', shuffle ? seed : undefined, 'data.seed'],
        ...reward,
      ],
      shuffle === undefined
        ? ['data_selector: { selector_type: shuffle }  would shuffle, as veRL does unless data.shuffle=False']
        : [],
    ),
  )
  if (!shuffle) mapping.cover('data.seed', 'the order of the tasks is not random')
  draft.list('buffer.explorer_input.tasksets', train)
  const evaluation = evaluationRows(mapping)
  const tests = files(mapping, 'data.val_files')
  if (tests.length === 0) return
  const items: Item[] = tests.map((file) =>
    item(
      [...fileRows(mapping, file, unique(`${file.name}_eval`, used), 'data.val_files'), ...evaluation.rows, ...reward],
      evaluation.rows.length === 0
        ? ['rollout_args: { temperature: 0 }  would evaluate greedily, as veRL does by default']
        : [],
    ),
  )
  draft.list('buffer.explorer_input.eval_tasksets', items)
}

function fileRows(mapping: Mapping, file: DataFile, name: string, key: string): [string, Value | undefined, string?][] {
  const format = (from: string, fallback: string): [Value, string] => {
    const given = mapping.text(from)
    return [given ?? fallback, given === undefined ? `${from}: default` : from]
  }
  const media = (from: string, usual: string): Value | undefined => {
    const given = mapping.text(from)
    return mapping.source.complete && given === usual ? undefined : given
  }
  return [
    ['name', name],
    ['storage_type', 'file'],
    ['path', file.path, key],
    ['split', file.split],
    ['format.prompt_key', ...format('data.prompt_key', 'prompt')],
    // Where veRL's own data preparation puts it, and where its reward managers look.
    ['format.response_key', ...format('data.response_key', 'reward_model.ground_truth')],
    ['format.image_key', media('data.image_key', 'images'), 'data.image_key'],
    ['format.video_key', media('data.video_key', 'videos'), 'data.video_key'],
  ]
}

/** `rollout.val_kwargs`: how evaluation samples, and how often. */
function evaluationRows(mapping: Mapping): { rows: [string, Value | undefined, string?][] } {
  const prefix = 'actor_rollout_ref.rollout.val_kwargs'
  const rows: [string, Value | undefined, string?][] = []
  if (mapping.has(`${prefix}.n`)) rows.push(['repeat_times', mapping.number(`${prefix}.n`, 1).written, `${prefix}.n`])
  const sample = mapping.bool(`${prefix}.do_sample`)
  if (sample === false) {
    rows.push(['rollout_args.temperature', 0, `${prefix}.do_sample=False`])
    for (const name of ['temperature', 'top_p', 'top_k'])
      mapping.cover(`${prefix}.${name}`, 'evaluation is greedy (do_sample=False)')
    return { rows }
  }
  for (const [name, fallback] of [
    ['temperature', 0],
    ['top_p', 1],
    ['top_k', -1],
  ] as const) {
    if (mapping.has(`${prefix}.${name}`))
      rows.push([`rollout_args.${name}`, mapping.number(`${prefix}.${name}`, fallback).written, `${prefix}.${name}`])
  }
  return { rows }
}

const OVERLONG = [
  'reward_model.overlong_buffer',
  'custom_reward_function.overlong_buffer',
  'reward_model.reward_kwargs.overlong_buffer_cfg',
  'reward.reward_kwargs.overlong_buffer_cfg',
  'reward.reward_model.overlong_buffer',
]
const MANAGERS = ['reward_model.reward_manager', 'reward.reward_manager.name', 'reward_manager.name']

/** veRL's DAPO reward manager with its penalty for long answers is Trinity's `math_dapo_reward`. */
function rewardRows(mapping: Mapping): [string, Value | undefined, string?][] {
  const manager = MANAGERS.find((key) => mapping.has(key))
  if (manager === undefined || mapping.settings.get(manager)?.value !== 'dapo') return []
  mapping.take(manager)
  const rows: [string, Value | undefined, string?][] = [
    ['default_reward_fn_type', 'math_dapo_reward', `${manager}=dapo`],
  ]
  const prefix = OVERLONG.find((key) => mapping.bool(`${key}.enable`) === true)
  for (const key of OVERLONG) for (const name of ['enable', 'log']) mapping.take(`${key}.${name}`)
  const length = mapping.settings.get('data.max_response_length')?.value ?? fallbackOf('data.max_response_length')
  for (const key of ['reward_model.reward_kwargs.max_resp_len', 'reward.reward_kwargs.max_resp_len'])
    mapping.cover(key, 'is max_response_length of reward_fn_args')
  if (prefix === undefined) {
    for (const key of OVERLONG)
      for (const name of ['len', 'penalty_factor'])
        mapping.cover(`${key}.${name}`, 'the penalty for long answers is off')
    return rows
  }
  rows.push(['reward_fn_args.enable_overlong_penalty', true, `${prefix}.enable`])
  rows.push([
    'reward_fn_args.penalty_factor',
    mapping.number(`${prefix}.penalty_factor`, 1).written,
    `${prefix}.penalty_factor`,
  ])
  rows.push(['reward_fn_args.max_response_length', length, 'data.max_response_length'])
  rows.push(['reward_fn_args.cache_length', mapping.number(`${prefix}.len`, 4096).written, `${prefix}.len`])
  return rows
}

function files(mapping: Mapping, key: string): DataFile[] {
  const setting = mapping.take(key)
  if (mapping.settings.get(key)?.value === null) return []
  let value = setting?.value ?? fallbackOf(key)
  // A list that went through two layers of quotes arrives as text.
  if (typeof value === 'string' && /^\s*\[[\s\S]*\]\s*$/.test(value)) value = parseHydraValue(value)
  const paths = (Array.isArray(value) ? value : [value]).filter((path) => path !== null && path !== '')
  return paths.map((path) => describeFile(mapping.fileName(String(path), key)))
}

/** `…/gsm8k/train.parquet` is the split `train` of the directory `…/gsm8k`; any other file stands for itself. */
function describeFile(path: string): DataFile {
  const parts = path.split('/')
  const file = parts.at(-1) ?? ''
  const stem = file.replace(/\.(parquet|jsonl?|csv|arrow)$/i, '')
  const directory = parts.slice(0, -1).join('/')
  const parent = parts.at(-2) ?? ''
  if (SPLITS.test(stem) && stem !== file && directory !== '') {
    return { name: nameOf(parent) || stem, path: directory, split: stem }
  }
  return { name: nameOf(stem) || 'taskset', path, split: 'train' }
}

/** A name without references to variables. */
function nameOf(text: string): string {
  return /[$<>]/.test(text) || text === '.' || text === '..' ? '' : text
}

function unique(name: string, used: Set<string>): string {
  let candidate = name
  for (let i = 2; used.has(candidate); i++) candidate = `${name}_${i}`
  used.add(candidate)
  return candidate
}
