import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { messageOf, TrinityError } from '../../base/error.js'
import { PACKAGE_ROOT } from '../../base/package-root.js'
import { type AddonFile, addonHint, findAddon, findWasm } from '../../machine/addon-file.js'

/** A model that lives in the addon. Opaque: only the addon's functions take it. */
export interface NativeHandle {
  readonly __native: never
}

/** What the addon needs to know of a model; see native/src/layout.h. */
export interface NativeConfig {
  hidden: number
  layers: number
  heads: number
  kvHeads: number
  headDim: number
  inner: number
  vocab: number
  maxLen: number
  /** −1: none. Its row gets no gradient as an input, as in PyTorch and Transformers. */
  padId: number
  eps: number
  tied: boolean
  qkvBias: boolean
  outBias: boolean
  mlpBias: boolean
  qkNorm: boolean
  /** q and k are normed as a whole, not head by head. */
  wideNorm: boolean
  /** Layers norm what attention and feed-forward part take; what they give. */
  normBefore: boolean
  normAfter: boolean
  /** Added to the weights of norms. */
  normUnit: number
  /** q, k and v are one matrix, gate and up another. */
  fused: boolean
  /** The gate's activation: GELU by tanh, else SiLU. */
  gelu: boolean
  /** Of the layers `sparse`: experts, those of a token, their width, and whether their shares add up to 1. */
  experts: number
  active: number
  expertInner: number
  normActive: boolean
  sparse: Int32Array
  embedScale: number
  /** Of q · k. */
  attentionScale: number
  /** Of scores and logits: cap · tanh(x / cap). 0: none. */
  attentionCap: number
  logitCap: number
  /** Of each layer: tokens that it sees; 0: all. Empty: no layer has a window. */
  windows: Int32Array
  /** Layers without positions. */
  unturned: Int32Array
  head: 'lm' | 'value' | 'reward'
  trainable: boolean
  checkpointing: boolean
  /** None: every parameter is trained. */
  adapters: readonly NativeAdapter[]
  /** Of each pair that is rotated. */
  invFreq: Float32Array
  /** The same for the layers `near`. */
  nearFreq: Float32Array
  near: Int32Array
  /** Of cosines and sines. */
  ropeScale: number
}

/** A low-rank adapter of one linear module, named in full: `model.layers.0.self_attn.q_proj`. */
export interface NativeAdapter {
  readonly module: string
  readonly rank: number
  readonly scale: number
}

export interface NativeParam {
  readonly name: string
  /** A vector has one row. */
  readonly rows: number
  readonly cols: number
  readonly vector: boolean
  readonly trained: boolean
}

/** Sequences one after the other, and which of their tokens are scored. */
export interface NativePack {
  readonly ids: Int32Array
  readonly lengths: Int32Array
  /** Of every sequence: the earlier one that it goes on from, to any depth; −1 or absent: none. */
  readonly prefix?: Int32Array
  /** Of every scored token: the packed position that predicts it, its id, 1 / temperature. */
  readonly rows: Int32Array
  readonly targets: Int32Array
  readonly invT: Float32Array
  /** Other tokens whose log-probs are asked for: one of every scored token, then the next of every one. */
  readonly others?: Int32Array
}

export interface NativeScores {
  logprob?: Float32Array
  entropy?: Float32Array
  sum_pi_squared?: Float32Array
  value?: Float32Array
  /** Of the pack's other tokens. */
  others?: Float32Array
}

export interface NativeStep {
  lr: number
  beta1: number
  beta2: number
  eps: number
  weightDecay: number
  gradClip: number
}

/** `merged`: the weight with its adapter added; to read only. */
export type ParamSlot = 'weight' | 'merged' | 'gradient' | 'm' | 'v'

/** Everything that returns a promise runs off the event loop, one call of a model after the other. */
export interface NativeAddon {
  readonly isa: string
  threads(): number
  setThreads(threads: number): void
  /** Floating-point operations per second that the pool reaches on fused multiply-adds alone. */
  peak(rounds: number): Promise<number>
  /** The same of a matrix product x[m × k]·wᵀ[k × n] and of its two gradients. */
  product(
    m: number,
    n: number,
    k: number,
    rounds: number,
  ): Promise<{ forward: number; inputGrad: number; weightGrad: number }>
  open(config: NativeConfig): Promise<NativeHandle>
  close(model: NativeHandle): Promise<void>
  /** Makes the call in hand fail with `native/aborted` at the next layer. */
  abort(model: NativeHandle): void
  params(model: NativeHandle): NativeParam[]
  write(model: NativeHandle, name: string, slot: ParamSlot, values: Float32Array): Promise<void>
  read(model: NativeHandle, name: string, slot: ParamSlot): Promise<Float32Array>
  memory(model: NativeHandle): { weights: number; gradients: number; optimizer: number; activations: number }
  forward(model: NativeHandle, pack: NativePack, adapter: boolean, keep: boolean): Promise<NativeScores>
  backward(model: NativeHandle, grads: NativeScores): Promise<void>
  step(model: NativeHandle, step: NativeStep): Promise<{ gradNorm: number; applied: boolean }>
  zeroGrad(model: NativeHandle): Promise<void>
  steps(model: NativeHandle): number
  setSteps(model: NativeHandle, steps: number): void
}

let loaded: NativeAddon | undefined
let instead: string | undefined

/** Of the engine that was loaded, where it is the slow one. */
export function addonNote(): string | undefined {
  return instead === undefined
    ? undefined
    : `the native engine runs as WebAssembly: the same results up to rounding, several times slower (${instead})`
}

/** Loads the compiled addon; the first call decides. */
export function loadAddon(): NativeAddon {
  if (loaded) return loaded
  const file = findAddon()
  if (file.path === undefined) {
    const message = `the native engine is not there: ${file.missing}, and it was not compiled here`
    throw new TrinityError('native/not-built', message, { path: PACKAGE_ROOT, hint: addonHint() })
  }
  try {
    return take(file)
  } catch (cause) {
    // A file that is there and does not load: made for a newer system, or addons are forbidden to this process.
    const wasm = file.origin === 'package' ? findWasm(`${file.path} does not load: ${reason(cause)}`) : undefined
    if (wasm?.path) return take(wasm)
    const message = `the native engine cannot be loaded: ${reason(cause)}`
    throw new TrinityError('native/load', message, { path: file.path, hint: addonHint() })
  }
}

/** Without the files of this package that asked for it, which Node lists. */
function reason(cause: unknown): string {
  return messageOf(cause).replace(/\nRequire stack:[\s\S]*$/, '')
}

function take(file: Extract<AddonFile, { path: string }>): NativeAddon {
  loaded = createRequire(import.meta.url)(resolve(file.path)) as NativeAddon
  instead = file.instead
  return loaded
}
