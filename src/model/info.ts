import { bytes } from '../base/bytes.js'
import { TrinityError } from '../base/error.js'
import type { ModelConfig } from './config.js'
import { openModelDir } from './dir.js'
import { estimateMemory, type MemoryEstimate } from './estimate.js'
import { Tokenizer } from './tokenizer.js'

/** What a model directory holds and needs. */
export interface ModelDescription {
  readonly path: string
  readonly config: ModelConfig
  readonly eosTokenIds: readonly number[]
  /** Tensors by the type they are stored in. */
  readonly stored: Readonly<Record<string, { tensors: number; bytes: number }>>
  readonly memory: MemoryEstimate
  /** Absent where the directory has no tokenizer. */
  readonly tokenizer?: { readonly tokens: number; readonly chatTemplate: boolean }
}

/** Opens and checks a model directory, and says what it holds and what it needs. */
export async function describeModel(path: string): Promise<ModelDescription> {
  const dir = await openModelDir(path)
  try {
    const stored: Record<string, { tensors: number; bytes: number }> = {}
    for (const name of dir.tensorNames()) {
      const info = dir.tensorInfo(name)
      stored[info.dtype] ??= { tensors: 0, bytes: 0 }
      stored[info.dtype].tensors++
      stored[info.dtype].bytes += info.bytes
    }
    const tokenizer = await Tokenizer.load(path).catch((error) => {
      if (error instanceof TrinityError && error.code === 'tokenizer/missing') return undefined
      throw error
    })
    return {
      path,
      config: dir.config,
      eosTokenIds: dir.eosTokenIds,
      stored,
      memory: estimateMemory(dir.config),
      tokenizer: tokenizer && { tokens: tokenizer.vocabSize, chatTemplate: tokenizer.chatTemplate !== undefined },
    }
  } finally {
    await dir.close()
  }
}

/** Tokens of the micro-batch and the cache that the estimates are shown for. */
const exampleTokens = 4096

export function renderModel(info: ModelDescription): string {
  const { config: c, memory: m } = info
  const stored = Object.entries(info.stored).map(([type, { tensors, bytes: b }]) => `${tensors} × ${type}, ${bytes(b)}`)
  const rope = c.rope.scaling.type === 'default' ? '' : `, ${c.rope.scaling.type} scaling`
  const extras = [c.tieEmbeddings && 'tied embeddings', c.qkvBias && 'q/k/v biases', c.qkNorm !== 'none' && 'q/k norms']
  const shape = `${c.layers} layers, hidden ${c.hiddenSize}, intermediate ${c.intermediateSize}`
  const tokenizer = info.tokenizer
    ? `${info.tokenizer.tokens} tokens, ${info.tokenizer.chatTemplate ? 'with' : 'without'} chat template`
    : 'none (text cannot be encoded)'
  const rows: [string, string][] = [
    ['architecture', c.architecture],
    ['parameters', m.parameters.toLocaleString('en')],
    ['shape', [shape, ...extras.filter((extra) => extra !== false)].join(', ')],
    ['attention', `${c.heads} heads of ${c.headDim} over ${c.kvHeads} for k and v`],
    ['positions', `${c.maxPositions}, rope theta ${c.rope.theta}${rope}`],
    ['vocabulary', `${c.vocabSize}`],
    ['tokenizer', tokenizer],
    ['end tokens', info.eosTokenIds.join(', ') || 'none'],
    ['stored', stored.join('; ')],
    ['training', `${bytes(m.training)} + activations: ${example(m.activationsPerToken)},`],
    ['', `or ${example(m.checkpointedPerToken)} with gradient checkpointing`],
    ['sampling', `${bytes(m.weights)} + cache: ${example(m.cachePerToken)}`],
    ['compute', `${(m.trainingFlopsPerToken / 1e9).toPrecision(3)} GFLOP per trained token`],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

function example(perToken: number): string {
  return `${bytes(perToken * exampleTokens)} per ${exampleTokens} tokens`
}
