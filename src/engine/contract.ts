/**
 * The boundary between decisions (TypeScript) and arithmetic over weights (an engine).
 *
 * Five primitives serve every algorithm: forward, forwardBackward, optimStep, sample, save/load. A caller hands over
 * the whole mini-batch and never thinks about micro-batches, ranks or devices; an engine packs, shards and evens out,
 * and promises that none of that changes loss or gradient.
 *
 * Log-probs: everywhere (sampled, old, reference, teacher) `logprob` means log softmax(logits / T) before top-k, top-p
 * and penalties, T being the temperature the sequence was sampled with. An engine that cannot do this says so in `caps`.
 */
import type { JsonObject } from '../base/file/json-file.js'
import type { Loss, LossMetrics, LossRow, ScoreKind } from '../graph/loss.js'
import type { ChatMessage } from '../model/chat-template.js'

export type { Loss, LossMetric, LossMetrics, LossRow, ScoreKind } from '../graph/loss.js'

// ---------------------------------------------------------------------------------------------------- calls

/** Travels with every call. Every wait has a deadline and can be aborted. */
export interface Call {
  /**
   * Orders the calls that change one model, strictly increasing. A repeated `seq` answers with the result of the
   * first call and never adds a gradient or applies a step twice, so a caller may retry after a lost answer.
   */
  readonly seq: number
  readonly signal?: AbortSignal
  /** Milliseconds from now after which the call fails with `engine/deadline`. */
  readonly deadlineMs: number
}

// ---------------------------------------------------------------------------------------------------- engines

/** What an engine can do. */
export interface Caps {
  readonly train: boolean
  readonly sample: boolean
  readonly reward: boolean
  readonly heads: readonly Head[]
  readonly lora: boolean
  /** `model`: as defined above. `raw`: temperature is not applied. `processed`: after truncation, renormalized. */
  readonly logprobs: 'model' | 'raw' | 'processed'
  /** Reports the log-prob under the truncated distribution a token was really drawn from. */
  readonly drawnLogprobs: boolean
  readonly promptLogprobs: boolean
  /** Takes `allowed` of a request. */
  readonly allowedTokens?: boolean
  readonly streaming: boolean
  readonly abort: boolean
  /** Same request and seed give the same tokens, whatever else is in the batch. */
  readonly batchInvariant: boolean
  /** Ways in which weights leave this engine's trained models and reach its samplers. */
  readonly weights: readonly WeightWay[]
  /** Each sampler that is opened computes on its own; else one serves as well as many. */
  readonly replicas: boolean
  readonly maxModelLen?: number
}

/** `memory`: inside one home. `nccl`: over a process group. `checkpoint`: through a folder that both sides can reach. */
export type WeightWay = 'memory' | 'nccl' | 'checkpoint'

/** `lm`: next-token scores. `value`: one number per token (critic). `reward`: one number per sequence. */
export type Head = 'lm' | 'value' | 'reward'

/** An adapter of low rank that is trained instead of the weights. */
export interface LoraSpec {
  readonly rank: number
  readonly alpha: number
  /** Module names such as `q_proj`, or `all-linear`. */
  readonly targetModules: readonly string[] | 'all-linear'
  readonly excludeModules?: readonly string[]
  /** An adapter directory to start from. */
  readonly path?: string
}

/** Which model to open, and how. */
export interface ModelSpec {
  /** A Hugging Face model directory. */
  readonly path: string
  readonly head?: Head
  readonly lora?: LoraSpec
  /** Seeds everything the engine initializes by itself (a new head, a new adapter) and its default sampling. */
  readonly seed?: number
  readonly maxModelLen?: number
  /** Recompute activations in the backward pass instead of keeping them. */
  readonly gradientCheckpointing?: boolean
  /** Jinja source that is saved with the weights in place of the tokenizer's own chat template. */
  readonly chatTemplate?: string
  /** What the weights of a checkpoint are written as; default float32. */
  readonly saveDtype?: 'float32' | 'bfloat16'
  /** Which of the auxiliary models it is, for an engine that has devices for each; absent: none of them. */
  readonly auxiliary?: number
}

/** A model that only scores: reference, teacher. Holds no gradient and no optimizer state. */
export interface ScoreSpec extends ModelSpec {
  readonly lora?: undefined
}

/** A model that samples: where its weights come from, and how much it may hold. */
export interface SampleSpec extends ModelSpec {
  /** Sample with the weights of this model of the same engine: nothing is copied, a sync costs nothing. */
  readonly shareWith?: TrainModel
  /** Bound of waiting requests; one more is refused with `engine/busy`. */
  readonly maxQueue?: number
  /** Tokens that the key/value cache may hold. */
  readonly cacheTokens?: number
  readonly maxBatch?: number
  readonly prefixCaching?: boolean
  /** Where the model is, for one that is hosted. */
  readonly hosted?: HostedSpec
}

/** A model of a service: `path` is its name there. */
export interface HostedSpec {
  /** Variables of the environment that hold the address and the key. */
  readonly baseUrlEnv: string
  readonly apiKeyEnv: string
  /** The part of the configuration that says so, for errors. */
  readonly key: string
  /** Requests at once; more wait. */
  readonly maxInFlight: number
  readonly maxRetries: number
  /** Further fields of every request. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What computes: it opens models to train, to score with, to sample from and to judge with. */
export interface Engine {
  readonly name: string
  readonly caps: Caps
  /** A directory with tokenizer and chat template for models that have none, because they are hosted. */
  readonly textDir?: string
  /**
   * Samplers of the rollouts, or of an auxiliary model, that compute on their own; absent: one for each engine where
   * `caps.replicas` says so, else one.
   */
  samplers?(auxiliary?: number): number
  /**
   * Somebody will open a model to train, or only to sample: what takes long to start may begin. An error shows when a model is
   * opened.
   */
  begin?(what: 'train' | 'sample'): void
  openTrain(spec: ModelSpec, call: Call): Promise<TrainModel>
  openScore(spec: ScoreSpec, call: Call): Promise<ScoreModel>
  openSample(spec: SampleSpec, call: Call): Promise<SampleModel>
  openReward(spec: ModelSpec, call: Call): Promise<RewardModel>
  close(): Promise<void>
}

/** What every open model can say of itself. */
export interface OpenModel {
  readonly info: ModelInfo
  memory(): MemoryReport
  close(): Promise<void>
}

/** An open model in numbers. */
export interface ModelInfo {
  readonly architecture: string
  readonly parameters: number
  readonly trainableParameters: number
  readonly vocabSize: number
  readonly maxModelLen: number
  /** Tokens at which its samples end by themselves, where the engine knows them. */
  readonly endTokens?: readonly number[]
  /** It takes the chat behind a prompt (`SampleRequest.chat`), makes its own tokens of it and knows its own limits. */
  readonly readsChat?: boolean
  /** What a user should know of how it was opened. */
  readonly notes?: readonly string[]
}

/** Bytes held, by purpose. */
export interface MemoryReport {
  readonly weights: number
  readonly gradients: number
  readonly optimizer: number
  readonly activations: number
  readonly cache: number
  /** Of these, what lies in main memory while the rest is on a device. */
  readonly host?: number
}

// ---------------------------------------------------------------------------------------------------- training

/** One sequence. Score `i` = log p(tokens[start + i] | everything before), at this temperature. */
export interface Row extends LossRow {
  readonly id: string
  readonly tokens: Int32Array
  /** First scored position, ≥ 1. `mask` and every per-token column hold `tokens.length - start` entries. */
  readonly start: number
  readonly temperature: number
}

/** The WHOLE mini-batch. `tokenBudget` bounds the tokens of one packed micro-batch (a longer row goes alone). */
export interface Batch {
  readonly rows: readonly Row[]
  readonly tokenBudget: number
}

/** Which scores to compute. */
export interface Want {
  /** Ids for `logprob@x` stand in the rows' columns. */
  readonly scores: readonly ScoreKind[]
  /** `off`: score with the base weights; the reference of a LoRA run needs no second model. */
  readonly adapter?: 'on' | 'off'
}

/** The scores of one row, one number for each scored position. */
export interface RowScores extends Readonly<Partial<Record<ScoreKind, Float32Array>>> {
  readonly id: string
}

/** How AdamW applies the gradient. */
export interface AdamStep {
  readonly lr: number
  readonly betas: readonly [number, number]
  readonly eps: number
  readonly weightDecay: number
  /** Global gradient norm is clipped to this; 0 = not clipped. */
  readonly gradClip: number
}

/** What a forward and a backward pass give beside the gradient. */
export interface ForwardBackward {
  /** Where it is not finite the gradient must not be applied, even a finite one: the trainer discards it, on any engine. */
  readonly loss: number
  readonly metrics: LossMetrics
  /** Scores of this pass, in the order of the batch: they come for free and are the mismatch metric's input. */
  readonly scores: RowScores[]
  /** Seconds of arithmetic, where the engine is another process: the rest of the call is packing and transport. */
  readonly computeSeconds?: number
}

/** A model that scores given tokens. */
export interface ScoreModel extends OpenModel {
  forward(batch: Batch, want: Want, call: Call): Promise<RowScores[]>
}

/** Policy or critic. Gradients accumulate over forwardBackward calls until optimStep or discardGrad. */
export interface TrainModel extends ScoreModel {
  forwardBackward(batch: Batch, loss: Loss, call: Call): Promise<ForwardBackward>
  /** A non-finite gradient is never applied: `applied: false`, gradient dropped, weights and moments untouched. */
  optimStep(step: AdamStep, call: Call): Promise<{ gradNorm: number; applied: boolean }>
  discardGrad(call: Call): Promise<void>
  /**
   * Writes a resumable state into `dir`: `huggingface/` (a directory that any loader reads), optimizer and extra state.
   * The caller names a fresh directory and renames it when this returns.
   */
  save(dir: string, call: Call): Promise<void>
  load(dir: string, call: Call): Promise<void>
  /** Writes the weights alone, as a directory that `SampleModel.loadWeights` of any engine and any loader reads. */
  saveWeights(dir: string, call: Call): Promise<void>
  /** Where the weights lie. Samplers with the same home take them without a copy through disk or network. */
  readonly home: object
  /** Hands the weights to samplers of the same home, under the promises of a weight transfer. Gives their checksum. */
  handOver(to: readonly SampleModel[], version: number, inFlight: InFlight, call: Call): Promise<string>
  /** Sends the weights to samplers of other processes; absent where the engine cannot. */
  readonly sender?: WeightSender
}

// ---------------------------------------------------------------------------------------------------- sampling

/** How tokens are drawn, and when a sample ends. */
export interface SamplingParams {
  readonly temperature: number
  /** ≤ 0: off */
  readonly topK?: number
  readonly topP?: number
  readonly minP?: number
  /** Divides the logits of tokens of prompt and answer where they are positive, else multiplies them; 1: off. */
  readonly repetitionPenalty?: number
  /** Taken from the logits of tokens that stand in the answer so far, −2 … 2. */
  readonly presencePenalty?: number
  /** The same for every time that the token stands there. */
  readonly frequencyPenalty?: number
  /** Added to the logits of these tokens (by id) before everything else, −100 … 100. */
  readonly logitBias?: Readonly<Record<number, number>>
  readonly maxTokens: number
  readonly minTokens?: number
  /** Generation ends when the text holds one of these; the tokens that made it up stay in the sample. */
  readonly stop?: readonly string[]
  readonly stopTokenIds?: readonly number[]
  readonly ignoreEos?: boolean
  /** Sample `i` of the request draws from its own stream derived from (seed, i). */
  readonly seed?: number
}

/**
 * Which tokens sample `index` may go on with after `tokens`, its answer so far (valid during the call): bit t % 32 of word
 * ⌊t / 32⌋ stands for token t. Undefined: any. Asked once before each draw, and again where a draw is repeated.
 */
export type AllowedTokens = (index: number, tokens: Int32Array) => Uint32Array | undefined

/** The chat that a prompt was made of. */
export interface AskedChat {
  readonly messages: readonly ChatMessage[]
  /** What else was asked for, under the names of the OpenAI API: tools, response_format, … */
  readonly options: Readonly<Record<string, unknown>>
}

/** What to sample: a prompt, how many answers, and how they are drawn. */
export interface SampleRequest {
  readonly prompt: Int32Array
  /** Samples of one prompt share its prefill. */
  readonly n: number
  readonly params: SamplingParams
  readonly promptLogprobs?: boolean
  /** Log-probs of the k likeliest tokens at every generated position. */
  readonly topLogprobs?: number
  /** Constrains every draw: what a grammar or a schema needs. Only where `caps.allowedTokens` says so. */
  readonly allowed?: AllowedTokens
  /** For a model that reads it in place of the prompt. */
  readonly chat?: AskedChat
}

/** Tokens from `from` on (until the next span) were drawn with weights of this version. */
export interface VersionSpan {
  readonly version: number
  readonly from: number
}

/** One answer of the model. */
export interface Sample {
  readonly tokens: Int32Array
  readonly logprobs: Float32Array
  /** Only where truncation or penalties make it differ from `logprobs`. */
  readonly drawnLogprobs?: Float32Array
  /** 0 where `allowed` left nothing else to draw, see `withChoices`; absent: every token was a choice. */
  readonly choices?: Uint8Array
  readonly topLogprobs?: readonly { readonly tokens: Int32Array; readonly logprobs: Float32Array }[]
  /** Entry `i` belongs to prompt token `i`; the first is NaN: nothing predicts it. */
  readonly promptLogprobs?: Float32Array
  readonly finish: 'stop' | 'length' | 'abort'
  /** The stop string or token id that ended it; absent for length, abort and end of sequence. */
  readonly stoppedBy?: string | number
  readonly versions: readonly VersionSpan[]
  /** Prompt tokens that were found in the cache and not computed again. */
  readonly cachedTokens: number
}

/** `index` = which of the request's n samples. */
export type OnToken = (index: number, token: number, logprob: number) => void

/** A model that answers prompts. */
export interface SampleModel extends OpenModel {
  /** Version of the weights in use; −1 before the first transfer. */
  readonly version: number
  /** An aborted call resolves with `finish: 'abort'` and what it had; nothing sampled is lost. */
  sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]>
  /** Log-probs of given tokens under the sampler's weights. */
  score(rows: readonly Row[], call: Call): Promise<RowScores[]>
  /** Writes the weights in use as a Hugging Face directory: what an exact resume needs when they are not the newest. */
  saveWeights(dir: string, call: Call): Promise<void>
  /** Takes weights from a Hugging Face directory, under the promises of a weight transfer. */
  loadWeights(dir: string, version: number, inFlight: InFlight, call: Call): Promise<void>
  /** See `TrainModel.home`. */
  readonly home: object
  /** Takes weights that a sender of the same protocol broadcasts; absent where the engine cannot. */
  readonly receiver?: WeightReceiver
  stats(): SamplerStats
}

/** What a sampler is doing, and what it has done. */
export interface SamplerStats {
  readonly running: number
  readonly waiting: number
  readonly cacheTokensUsed: number
  readonly cacheTokens: number
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly sampledTokens: number
  /** Of a hosted model: requests that were sent, and how many of them again. */
  readonly requests?: number
  readonly retries?: number
}

/** Sequence classifiers. */
export interface RewardModel extends OpenModel {
  reward(rows: readonly Int32Array[], call: Call): Promise<Float32Array>
}

// ---------------------------------------------------------------------------------------------------- weights

/*
 * A weight transfer carries one version of the weights to samplers, both halves under one deadline. Afterward every
 * sampler has dropped its prefix cache and reports the version, or the call has failed and every sampler still runs with
 * the weights it had.
 */

/**
 * What becomes of requests when new weights arrive: they are finished first, continued with the new weights (their
 * samples then carry several version spans), or aborted.
 */
export type InFlight = 'finish' | 'continue' | 'abort'

/** How the members of a process group find each other. */
export type GroupSpec = JsonObject

/** One end of a broadcast of weights. Ends that name the same protocol understand each other. */
export interface GroupMember {
  readonly protocol: string
  join(group: GroupSpec, rank: number, signal: AbortSignal): Promise<void>
}

/** The end of a broadcast that has the weights. */
export interface WeightSender extends GroupMember {
  /** A group for so many members. The sender joins it as rank 0. */
  offer(size: number): Promise<GroupSpec>
  /** Gives the checksum of what was sent. */
  send(signal: AbortSignal): Promise<string>
}

/** The end of a broadcast that takes the weights. */
export interface WeightReceiver extends GroupMember {
  /** Processes that it stands for, with ranks one after the other; absent: one. */
  readonly members?: number
  /** Another number than before: it stands for other processes, which have to join anew. */
  readonly generation?: number
  /** Brings the sampler to a point between two steps, and keeps it there until `commit`. */
  hold(inFlight: InFlight, signal: AbortSignal): Promise<void>
  /** Takes the weights beside those in use. Gives the checksum of what arrived. */
  receive(signal: AbortSignal): Promise<string>
  /** Ends the hold: with the weights that arrived, or without a version with those it had. */
  commit(version?: number): Promise<void>
}
