import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { ModelDir } from '../../model/dir.js'
import { SafetensorsFile } from '../../model/safetensors.js'
import type { Head, LoraSpec } from '../contract.js'
import { factorNames, loraTargets } from '../lora-targets.js'
import { type AdapterConfig, moduleOf, readAdapterConfig } from './adapter-config.js'
import type { NativeAdapter } from './addon.js'
import { checkRank, checkTied, type Lora, peftName } from './lora.js'

/** An adapter directory as PEFT writes it, to start from. */
export interface SavedAdapter {
  readonly file: SafetensorsFile
  readonly lora: Lora
  /** Where the file says other than what was asked for: the file counts. */
  readonly note?: string
}

/** Tensors of a score head may lie in the file. */
export async function openAdapter(spec: LoraSpec, base: ModelDir, head: Head): Promise<SavedAdapter> {
  const dir = spec.path as string
  const saved = await readAdapterConfig(dir, head === 'value')
  const file = await SafetensorsFile.open(join(dir, 'adapter_model.safetensors'))
  try {
    const modules = await modulesOf(file, saved, base, head)
    const peft = {
      r: saved.rank,
      lora_alpha: saved.alpha,
      use_rslora: saved.rslora,
      rank_pattern: saved.rankPattern,
      alpha_pattern: saved.alphaPattern,
      ...saved.entries,
    }
    return { file, lora: { modules, peft }, note: noteOf(spec, saved) }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The tensors say which modules are adapted; every one of them must belong to such a module. */
async function modulesOf(
  file: SafetensorsFile,
  saved: AdapterConfig,
  base: ModelDir,
  head: Head,
): Promise<NativeAdapter[]> {
  const left = new Set(file.tensors.keys())
  if (head === 'value') for (const name of ['score.weight', 'score.bias']) left.delete(peftName(name))
  const modules: NativeAdapter[] = []
  for (const target of loraTargets(base.config, head)) {
    for (const module of target.modules) {
      if (!target.layered) await takeBase(file, base, module, left)
      const adapter = adapterIn(file, saved, module, left)
      if (!adapter) continue
      checkTied(target, base.config, head, file.path)
      checkRank(adapter.rank, base.config, saved.path)
      modules.push(adapter)
    }
  }
  const [extra] = left
  if (extra !== undefined) throw unfit(file, `'${extra}' belongs to no module that can have an adapter here`)
  checkTargets(file, saved, modules)
  return modules
}

function adapterIn(
  file: SafetensorsFile,
  saved: AdapterConfig,
  module: string,
  left: Set<string>,
): NativeAdapter | undefined {
  const both = factorNames(module).map(peftName)
  const found = both.filter((name) => left.delete(name))
  if (found.length === 0) return undefined
  if (found.length === 1) throw unfit(file, `has '${found[0]}' without its other half`)
  const { rank, scale } = moduleOf(saved, module)
  const rows = file.info(both[0]).shape[0]
  if (rows !== rank) throw unfit(file, `'${both[0]}' has rank ${rows}, adapter_config.json says ${rank}`)
  return { module, rank, scale }
}

/** PEFT saves embeddings and heads that are adapted, beside their adapters: they must be those of the model. */
async function takeBase(file: SafetensorsFile, base: ModelDir, module: string, left: Set<string>): Promise<void> {
  for (const name of [`${module}.base_layer.weight`, `${module}.weight`].map(peftName)) {
    if (!left.delete(name)) continue
    const [theirs, own] = [await file.readFloat32(name), await base.readTensor(`${module}.weight`)]
    // rounded to 16 bits in one of the files they are still the same
    const same = theirs.length === own.length && theirs.every((x, i) => Math.abs(x - own[i]) <= Math.abs(own[i]) / 128)
    if (!same) throw unfit(file, `'${name}' is not the weight of this model: the embedding was resized or trained`)
  }
}

function checkTargets(file: SafetensorsFile, saved: AdapterConfig, modules: readonly NativeAdapter[]): void {
  if (modules.length === 0) throw unfit(file, 'holds no adapter of a module')
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
    hint: 'use an adapter of this model; what cannot be read here can be merged with PEFT first',
  })
}
