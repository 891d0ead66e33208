import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { writeJsonFile } from '../../base/file/atomic-file.js'
import { type JsonObject, readJsonObject } from '../../base/file/json-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { architectureName } from '../../model/architecture.js'
import { writeModelConfig } from '../../model/config-json.js'
import { openModelDir } from '../../model/dir.js'
import { SafetensorsFile } from '../../model/safetensors.js'
import { type TensorToWrite, writeSafetensors } from '../../model/safetensors-write.js'
import { copyTokenizer } from '../../model/tokenizer-save.js'
import { moduleOf, readAdapterConfig } from './adapter-config.js'
import type { NativeParam, ParamSlot } from './addon.js'
import { isAdapter, peftConfig, peftName } from './lora.js'
import { checkShape, type NativeModel, shapeOf } from './native-model.js'

const stateFile = 'native_state.json'
const optimizerFile = 'optimizer.safetensors'
const version = 1

/**
 * `huggingface/`: a directory for any loader, an adapter merged in: f32 (the master weights, so that it resumes exactly), or
 * what `saveDtype` says. `lora_adapter/`: the adapter alone, as PEFT has it. `optimizer.safetensors`: both moments. `native_state.json`.
 */
export async function saveState(model: NativeModel, dir: string, signal: AbortSignal): Promise<void> {
  const dtype = model.spec.saveDtype === 'bfloat16' ? 'BF16' : 'F32'
  await saveHuggingFace(model, join(dir, 'huggingface'), signal, dtype)
  const trained = model.params.filter((param) => param.trained)
  if (model.lora) {
    const adapter = join(dir, 'lora_adapter')
    await makeFolder(adapter)
    await writeTensors(
      model,
      join(adapter, 'adapter_model.safetensors'),
      trained,
      ({ name }) => peftName(name),
      'weight',
      signal,
    )
    await writeJsonFile(
      join(adapter, 'adapter_config.json'),
      peftConfig(model.lora, model.spec.path, model.spec.head === 'value'),
    )
  }
  const moments = (['m', 'v'] as const).flatMap((slot) => trained.map((param) => ({ param, slot })))
  await writeSafetensors(
    join(dir, optimizerFile),
    moments.map(({ param, slot }) => tensor(model, param, `${param.name}.${slot}`, slot, signal)),
  )
  await writeJsonFile(join(dir, stateFile), {
    version,
    steps: model.addon.steps(model.handle),
    lora: model.spec.lora !== undefined,
  })
}

/** A directory for any loader; an adapter is merged in. */
export async function saveHuggingFace(
  model: NativeModel,
  dir: string,
  signal: AbortSignal,
  dtype: 'F32' | 'BF16' = 'F32',
): Promise<void> {
  await makeFolder(dir)
  const base = model.params.filter(({ name }) => !isAdapter(name))
  const slot = base.length < model.params.length ? 'merged' : 'weight'
  const tensors = base.map((param) => ({ ...tensor(model, param, param.name, slot, signal), dtype }))
  await writeSafetensors(join(dir, 'model.safetensors'), tensors)
  await writeModelConfig(dir, savedConfig(model, dtype))
  await copyTokenizer(model.spec.path, dir, model.spec.chatTemplate)
  const generation = 'generation_config.json'
  await copyFile(join(model.spec.path, generation), join(dir, generation)).catch(ignoreMissing)
}

function writeTensors(
  model: NativeModel,
  path: string,
  params: readonly NativeParam[],
  name: (param: NativeParam) => string,
  slot: ParamSlot,
  signal: AbortSignal,
): Promise<void> {
  return writeSafetensors(
    path,
    params.map((param) => tensor(model, param, name(param), slot, signal)),
  )
}

function tensor(
  model: NativeModel,
  param: NativeParam,
  name: string,
  slot: ParamSlot,
  signal: AbortSignal,
): TensorToWrite {
  const data = () => {
    signal.throwIfAborted()
    return model.addon.read(model.handle, param.name, slot)
  }
  return { name, dtype: 'F32', shape: shapeOf(param), data }
}

function savedConfig(model: NativeModel, dtype: 'F32' | 'BF16'): JsonObject {
  const { head = 'lm' } = model.spec
  const kept = head === 'lm' ? 'lm' : head === 'value' ? 'token' : 'sequence'
  const json: JsonObject = { ...model.configJson, architectures: [architectureName(model.config.family, kept)] }
  if (head !== 'lm') Object.assign(json, { num_labels: 1, id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } })
  for (const key of ['dtype', 'torch_dtype']) if (key in json) json[key] = dtype === 'F32' ? 'float32' : 'bfloat16'
  return json
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Everything is looked at before anything is changed, so that a bad checkpoint leaves the model as it was. */
export async function loadState(model: NativeModel, dir: string, signal: AbortSignal): Promise<void> {
  const path = join(dir, stateFile)
  const state = await readJsonObject(path)
  if (state?.version !== version || !Number.isInteger(state.steps) || state.lora !== (model.spec.lora !== undefined)) {
    throw new TrinityError('engine/bad-checkpoint', `${dir} holds no state that this model can resume from`, {
      path,
      hint: state
        ? 'was it saved with the same LoRA setting, by a release as new as this one?'
        : `there is no ${stateFile}`,
    })
  }
  if (model.lora) await checkScales(model, join(dir, 'lora_adapter'))
  const weights = await openSaved(model, dir)
  const optimizer = await SafetensorsFile.open(join(dir, optimizerFile)).catch(async (error) => {
    await weights.close()
    throw error
  })
  try {
    const trained = model.params.filter((param) => param.trained)
    for (const param of trained) {
      checkShape(param, weights.shape(param), dir)
      for (const slot of ['m', 'v']) checkShape(param, optimizer.info(`${param.name}.${slot}`).shape, optimizer.path)
    }
    for (const param of trained) {
      signal.throwIfAborted()
      const { addon, handle } = model
      await addon.write(handle, param.name, 'weight', await weights.read(param))
      for (const slot of ['m', 'v'] as const) {
        await addon.write(handle, param.name, slot, await optimizer.readFloat32(`${param.name}.${slot}`))
      }
    }
    model.addon.setSteps(model.handle, state.steps as number)
    await model.addon.zeroGrad(model.handle)
  } finally {
    await weights.close()
    await optimizer.close()
  }
}

/** The same numbers under another scale are another model. */
async function checkScales(model: NativeModel, dir: string): Promise<void> {
  const saved = await readAdapterConfig(dir, model.spec.head === 'value')
  for (const { module, rank, scale } of model.lora?.modules ?? []) {
    const was = moduleOf(saved, module)
    if (was.rank === rank && Math.abs(was.scale - scale) <= 1e-6 * scale) continue
    const is = (one: { rank: number; scale: number }) => `rank ${one.rank} and scale ${one.scale}`
    throw new TrinityError(
      'engine/bad-checkpoint',
      `the adapter was saved with ${is(was)} for ${module}, this model has ${is({ rank, scale })}`,
      { path: saved.path, hint: 'set lora_rank and lora_alpha, or the path of the adapter, as they were' },
    )
  }
}

/** What is trained lies in the adapter of a LoRA run, else in the model directory. */
async function openSaved(model: NativeModel, dir: string) {
  if (model.spec.lora) {
    const file = await SafetensorsFile.open(join(dir, 'lora_adapter', 'adapter_model.safetensors'))
    return {
      shape: ({ name }: NativeParam) => file.info(peftName(name)).shape,
      read: ({ name }: NativeParam) => file.readFloat32(peftName(name)),
      close: () => file.close(),
    }
  }
  const saved = await openModelDir(join(dir, 'huggingface'))
  return {
    shape: ({ name }: NativeParam) => saved.tensorInfo(name).shape,
    read: ({ name }: NativeParam) => saved.readTensor(name),
    close: () => saved.close(),
  }
}
