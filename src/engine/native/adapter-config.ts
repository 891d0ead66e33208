import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { type JsonObject, readJsonObject } from '../../base/file/json-file.js'
import { ConfigReader } from '../../model/config-reader.js'

/** What adapter_config.json says that decides what an adapter computes. */
export interface AdapterConfig {
  readonly path: string
  readonly rank: number
  readonly alpha: number
  readonly rslora: boolean
  readonly rankPattern: Readonly<Record<string, number>>
  readonly alphaPattern: Readonly<Record<string, number>>
  /** Ends of module names; absent where the file has a pattern or all-linear. */
  readonly targets?: readonly string[]
  /** Entries that define the adapter, as the file has them, to be written back with a checkpoint. */
  readonly entries: JsonObject
}

/** Entries that are written back as they were. */
const keptKeys = [
  ...['r', 'lora_alpha', 'use_rslora', 'rank_pattern', 'alpha_pattern'],
  ...['target_modules', 'exclude_modules', 'layers_to_transform', 'layers_pattern'],
]

/** Say who made the adapter and how it was trained, or are read above: they change nothing that is computed. */
const harmless = new Set<string>([
  ...keptKeys,
  ...['peft_type', 'task_type', 'auto_mapping', 'peft_version', 'base_model_name_or_path', 'revision'],
  ...['inference_mode', 'lora_dropout'],
  ...['megatron_core', 'qalora_group_size', 'eva_config', 'init_lora_weights', 'bias', 'modules_to_save'],
])

/** These only draw the first values; the others (PiSSA, OLoRA, …) change the weights of the base model too. */
const plainStarts = new Set<unknown>([true, false, 'gaussian', 'orthogonal', 'eva'])

/**
 * Reads adapter_config.json of an adapter directory. Whatever would make the adapter compute something else than here is
 * refused by its name. `head`: the model has a score head, which the adapter may bring along.
 */
export async function readAdapterConfig(dir: string, head: boolean): Promise<AdapterConfig> {
  const path = join(dir, 'adapter_config.json')
  const json = await readJsonObject(path, { keepNumbers: true })
  if (!json) {
    throw new TrinityError('model/adapter', `${dir} has no adapter_config.json`, {
      path: dir,
      hint: 'without it the scale of the adapter is unknown; save it again with PEFT: model.save_pretrained(…)',
    })
  }
  refuse(json, path, head)
  const reader = new ConfigReader(json, path)
  const target = json.target_modules
  return {
    path,
    rank: reader.integer('r', { min: 1 }),
    alpha: reader.positive('lora_alpha'),
    rslora: reader.flag('use_rslora', false),
    rankPattern: pattern(reader, json, 'rank_pattern'),
    alphaPattern: pattern(reader, json, 'alpha_pattern'),
    ...(Array.isArray(target) ? { targets: reader.texts('target_modules') } : {}),
    entries: kept(json),
  }
}

function kept(json: JsonObject): JsonObject {
  const entries = { ...json }
  for (const [key, value] of Object.entries(json)) if (value === null || !keptKeys.includes(key)) delete entries[key]
  return entries
}

function refuse(json: JsonObject, path: string, head: boolean): void {
  const unsupported = (what: string, hint: string) =>
    new TrinityError('model/adapter', `${path}: ${what} cannot be used here`, { path, hint })
  const merge = 'merge the adapter into its model with PEFT (merge_and_unload) and start from that model'
  if (json.peft_type !== 'LORA') throw unsupported(`peft_type ${shown(json.peft_type)}`, merge)
  if (json.use_dora === true) throw unsupported('DoRA (use_dora)', merge)
  const saved = (json.modules_to_save as unknown[] | null | undefined) ?? []
  const extra = [saved].flat().filter((name) => !(head && (name === 'score' || name === 'classifier')))
  if (extra.length > 0) throw unsupported(`modules_to_save (${extra.map(shown).join(', ')})`, merge)
  if ((json.bias ?? 'none') !== 'none') throw unsupported(`bias: ${shown(json.bias)}`, merge)
  if (!plainStarts.has(json.init_lora_weights ?? true)) {
    throw unsupported(
      `init_lora_weights: ${shown(json.init_lora_weights)}`,
      'convert it to a plain LoRA adapter with PEFT',
    )
  }
  for (const [key, value] of Object.entries(json)) {
    if (!harmless.has(key) && !isEmpty(value)) throw unsupported(`'${shown(key)}' (${shown(value)})`, merge)
  }
}

/** A value for an error message: text as it is, anything else as JSON. */
function shown(value: unknown): string {
  return (typeof value === 'string' ? value : String(JSON.stringify(value))).slice(0, 80)
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false) return true
  return typeof value === 'object' && Object.keys(value as object).length === 0
}

function pattern(reader: ConfigReader, json: JsonObject, key: string): Record<string, number> {
  const entries = reader.object(key)
  if (!entries) return {}
  const names = Object.keys(json[key] as JsonObject)
  return Object.fromEntries(names.map((name) => [name, entries.positive(name)]))
}

/** Rank and scale of one module. Patterns are regular expressions over the end of its name; the first that fits counts. */
export function moduleOf(config: AdapterConfig, module: string): { rank: number; scale: number } {
  const rank = byPattern(config.rankPattern, module, config.path) ?? config.rank
  const alpha = byPattern(config.alphaPattern, module, config.path) ?? config.alpha
  return { rank, scale: alpha / (config.rslora ? Math.sqrt(rank) : rank) }
}

function byPattern(patterns: Readonly<Record<string, number>>, module: string, path: string): number | undefined {
  for (const [pattern, value] of Object.entries(patterns)) {
    let expression: RegExp
    try {
      expression = new RegExp(`^(.*\\.)?(${pattern})$`)
    } catch (cause) {
      throw new TrinityError('model/adapter', `${path}: '${pattern}' is not a pattern that can be read`, {
        path,
        cause,
      })
    }
    if (expression.test(module)) return value
  }
  return undefined
}
