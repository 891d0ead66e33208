import { totalmem } from 'node:os'
import { TrinityError } from '../../../base/error.js'
import type { ModelConfig } from '../../../model/config.js'
import type { ModelInfo, SampleSpec } from '../../contract.js'
import { endTokens } from '../../end-tokens.js'
import { type NativeModel, openNative } from '../native-model.js'
import type { SamplingDtype } from '../options.js'
import { samplingAddon } from './addon.js'
import { NativeSampleModel } from './native-sampler.js'

const MAX_BATCH = 256
const MAX_QUEUE = 4096
/** Most memory that a cache takes unless told otherwise: this, or an eighth of the machine's. It is taken as needed. */
const CACHE_BYTES = 2 ** 31

/** Opens a sampler on the weights of a directory, or on those of `source` without a copy. */
export async function openSampler(
  spec: SampleSpec,
  source: NativeModel | undefined,
  dtype: SamplingDtype,
  signal: AbortSignal,
  closed: (model: NativeSampleModel) => void,
): Promise<NativeSampleModel> {
  const addon = samplingAddon()
  const opened = source ?? (await openNative({ ...spec, head: 'lm' }, false, signal))
  const { handle, config, configJson } = opened
  let snapshot: Awaited<ReturnType<typeof addon.snapshot>> | undefined
  try {
    const maxModelLen = spec.maxModelLen ?? opened.info.maxModelLen
    checkNumbers(spec, maxModelLen, opened.info)
    const maxBatch = spec.maxBatch ?? MAX_BATCH
    snapshot = await addon.snapshot(handle)
    return new NativeSampleModel(
      addon,
      snapshot,
      { ...opened.info, trainableParameters: 0, maxModelLen, endTokens: await endTokens(spec.path) },
      {
        path: spec.path,
        source: { config, configJson },
        cacheTokens: spec.cacheTokens ?? defaultCache(config, maxModelLen, maxBatch, addon.pageTokens),
        maxBatch,
        maxQueue: spec.maxQueue ?? MAX_QUEUE,
        prefixCaching: spec.prefixCaching ?? true,
        seed: spec.seed ?? 0,
        dtype,
        shared: source !== undefined,
      },
      closed,
    )
  } finally {
    if (snapshot) addon.releaseSnapshot(snapshot)
    if (!source) await addon.close(handle)
  }
}

function checkNumbers(spec: SampleSpec, maxModelLen: number, info: ModelInfo): void {
  const check = (name: string, value: number | undefined, least: number, most = Infinity) => {
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
    if (name === 'maxQueue' && value === Infinity) return
    throw new TrinityError('engine/bad-spec', `${name} is ${value}`, {
      path: name,
      hint: most < Infinity ? `use ${least} … ${most}` : `use a whole number, ${least} or more`,
    })
  }
  check('maxModelLen', maxModelLen, 1, info.maxModelLen)
  check('maxQueue', spec.maxQueue, 0)
  check('maxBatch', spec.maxBatch, 1)
  check('cacheTokens', spec.cacheTokens, samplingAddon().pageTokens)
}

/** As many tokens as fit into the memory, at least one whole sequence, at most a full batch of them. */
function defaultCache(config: ModelConfig, maxModelLen: number, maxBatch: number, pageTokens: number): number {
  const perToken = config.layers * config.kvHeads * config.headDim * 2 * Float32Array.BYTES_PER_ELEMENT
  const fit = Math.floor(Math.min(CACHE_BYTES, totalmem() / 8) / perToken)
  const whole = Math.ceil(maxModelLen / pageTokens) * pageTokens
  return Math.max(whole, Math.min(fit, whole * maxBatch))
}
