import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../../model/config.js'
import { layerModule, linearModules } from '../../model/layout.js'
import { SafetensorsFile } from '../../model/safetensors.js'
import type { LoraSpec } from '../contract.js'
import { type AdapterConfig, moduleOf, readAdapterConfig } from './adapter-config.js'
import type { NativeAdapter } from './addon.js'
import { checkRank, type Lora, peftName } from './lora.js'

/** An adapter directory as PEFT writes it, to start from. */
export interface SavedAdapter {
  readonly file: SafetensorsFile
  readonly lora: Lora
  /** Where the file says other than what was asked for: the file counts. */
  readonly note?: string
}

/** `head`: the model has a score head, whose tensors may lie in the file. */
export async function openAdapter(spec: LoraSpec, config: ModelConfig, head: boolean): Promise<SavedAdapter> {
  const dir = spec.path as string
  const saved = await readAdapterConfig(dir, head)
  const file = await SafetensorsFile.open(join(dir, 'adapter_model.safetensors'))
  try {
    const modules = modulesOf(file, saved, config, head)
    const peft = {
      r: saved.rank,
      lora_alpha: saved.alpha,
      use_rslora: saved.rslora,
      rank_pattern: saved.rankPattern,
      alpha_pattern: saved.alphaPattern,
      ...saved.places,
    }
    return { file, lora: { modules, peft }, note: noteOf(spec, saved) }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The tensors say which modules are adapted; every one of them must belong to such a module. */
function modulesOf(file: SafetensorsFile, saved: AdapterConfig, config: ModelConfig, head: boolean): NativeAdapter[] {
  const left = new Set(file.tensors.keys())
  if (head) for (const name of ['score.weight', 'score.bias']) left.delete(peftName(name))
  const modules: NativeAdapter[] = []
  for (let layer = 0; layer < config.layers; layer++) {
    for (const { part } of linearModules(config)) {
      const module = layerModule(layer, part)
      const both = ['lora_A', 'lora_B'].map((name) => peftName(`${module}.${name}.weight`))
      const found = both.filter((name) => left.delete(name))
      if (found.length === 0) continue
      if (found.length === 1) throw unfit(file, `has '${found[0]}' without its other half`)
      const { rank, scale } = moduleOf(saved, module)
      checkRank(rank, config, saved.path)
      const rows = file.info(both[0]).shape[0]
      if (rows !== rank) throw unfit(file, `'${both[0]}' has rank ${rows}, adapter_config.json says ${rank}`)
      modules.push({ module, rank, scale })
    }
  }
  const [extra] = left
  if (extra !== undefined) throw unfit(file, `'${extra}' belongs to no linear module of the layers of this model`)
  checkTargets(file, saved, modules)
  return modules
}

function checkTargets(file: SafetensorsFile, saved: AdapterConfig, modules: readonly NativeAdapter[]): void {
  if (modules.length === 0) throw unfit(file, 'holds no adapter of a linear module')
  if (!saved.targets) return
  const fits = (module: string, target: string) => module === target || module.endsWith(`.${target}`)
  const without = saved.targets.find((target) => !modules.some(({ module }) => fits(module, target)))
  if (without !== undefined) throw unfit(file, `target_modules names '${without}', which has no tensors`)
  const stray = modules.find(({ module }) => !saved.targets?.some((target) => fits(module, target)))
  if (stray) throw unfit(file, `'${stray.module}' is not among target_modules`)
}

function noteOf(spec: LoraSpec, saved: AdapterConfig): string | undefined {
  const parts: string[] = []
  if (spec.rank !== saved.rank) parts.push(`rank ${saved.rank} instead of ${spec.rank}`)
  if (spec.alpha !== saved.alpha) parts.push(`alpha ${saved.alpha} instead of ${spec.alpha}`)
  if (saved.rslora) parts.push('alpha / √rank as its scale (rsLoRA)')
  const asked = spec.targetModules
  const same = asked === 'all-linear' || !saved.targets || [...asked].sort().join() === [...saved.targets].sort().join()
  if (!same) parts.push(`the modules ${saved.targets?.join(', ')}`)
  return parts.length === 0
    ? undefined
    : `the adapter in ${spec.path} has ${parts.join(', ')}: its own settings are used`
}

function unfit(file: SafetensorsFile, what: string): TrinityError {
  return new TrinityError('model/adapter', `the adapter does not fit: ${what}`, {
    path: file.path,
    hint: 'use an adapter of this model, with linear modules of its layers only; others can be merged with PEFT first',
  })
}
