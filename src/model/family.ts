import type { Family } from './architecture.js'
import type { ModelConfig } from './config.js'

/** What sets a family apart, and what it takes where its file says nothing. */
export interface FamilyTraits {
  readonly positions: number
  readonly kvHeads?: number
  readonly headDim?: number
  readonly eps?: number
  readonly theta?: number
  readonly tied?: boolean
  /** Which biases a file may ask for. */
  readonly attentionBias: boolean
  readonly mlpBias?: boolean
  readonly qkNorm?: ModelConfig['qkNorm']
  readonly norms?: ModelConfig['norms']
  /** One matrix for q, k and v, and one for gate and up. */
  readonly fused?: boolean
  /** Feed-forward parts of experts. */
  readonly experts?: true
  /** Norms multiply by 1 + weight, embeddings are scaled by √hidden, the gate is a GELU, scores have a scale and a cap of their own. */
  readonly gemma?: { readonly attentionCap?: number; readonly logitCap?: number }
}

const gemma = { kvHeads: 4, headDim: 256, tied: true, attentionBias: true, norms: 'both' } as const

export const traits: Record<Family, FamilyTraits> = {
  gemma2: { ...gemma, positions: 8192, gemma: { attentionCap: 50, logitCap: 30 } },
  gemma3_text: { ...gemma, positions: 131072, theta: 1e6, qkNorm: 'head', gemma: {} },
  llama: { positions: 2048, attentionBias: true, mlpBias: true },
  mistral: { positions: 131072, kvHeads: 8, attentionBias: false },
  olmo2: { positions: 2048, eps: 1e-5, attentionBias: true, qkNorm: 'whole', norms: 'after' },
  phi3: { positions: 4096, eps: 1e-5, attentionBias: false, fused: true },
  qwen2: { positions: 32768, attentionBias: false },
  qwen3: { positions: 32768, headDim: 128, attentionBias: true, qkNorm: 'head' },
  qwen3_moe: { positions: 32768, kvHeads: 4, attentionBias: true, qkNorm: 'head', experts: true },
  smollm3: { positions: 32768, kvHeads: 4, theta: 2e6, tied: true, attentionBias: true, mlpBias: true },
}
