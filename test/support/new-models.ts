import type { CreateModelOptions } from '../../src/model/create.js'
import { parseNewTokenizer } from '../../src/model/new-tokenizer.js'

/** One of each kind that `trinity model new` makes. */
export const small = { layers: 2, hidden: 32, heads: 4, kvHeads: 2, intermediate: 48 }
export const kinds: Record<string, Omit<CreateModelOptions, 'out'>> = {
  llama: { ...small, arch: 'llama', tokenizer: parseNewTokenizer('chars:0123456789+=\\n'), tie: true },
  qwen2: { ...small, arch: 'qwen2', dtype: 'BF16' },
  qwen3: { ...small, arch: 'qwen3', dtype: 'F16', headDim: 12, vocab: 320 },
  reward: { ...small, arch: 'llama', head: 'sequence' },
  scaled: {
    ...small,
    rope: {
      theta: 500000,
      scaling: { type: 'llama3', factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositions: 64 },
    },
  },
}
