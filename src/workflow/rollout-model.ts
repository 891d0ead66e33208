import { TrinityError } from '../base/error.js'
import { linkSignals } from '../base/link-signals.js'
import type { Logger } from '../base/log/logger.js'
import { deriveSeed } from '../base/random/derive-seed.js'
import { timeSlice } from '../base/time-slice.js'
import { answerFormat } from '../dialect/answer-format.js'
import type { ChatArgs, SamplingArgs } from '../dialect/chat-args.js'
import type { Answered, ChatModel, OnText, Said } from '../dialect/chat-model.js'
import { createOpenAI, type OpenAIClient } from '../dialect/openai/client.js'
import type { Parsers } from '../dialect/parsers.js'
import { NoteCounter, type NoteCounts, type RequestNotes, type UnknownFields } from '../dialect/request-notes.js'
import { nextCall } from '../engine/calls.js'
import type { AskedChat, Sample, SampleModel } from '../engine/contract.js'
import { Conversation, joined, type Prompt } from '../experience/conversation.js'
import { DIVERGENCES, type DivergenceCounts } from '../experience/divergence.js'
import type { Experience } from '../experience/index.js'
import { allowedFor, type Format } from '../grammar/index.js'
import type { ChatMessage, Tokenizer } from '../model/index.js'
import { callExperience, truncatedExperience } from './experiences.js'
import { PromptLimit } from './prompt-limit.js'
import { type Answer, sampleAnswers, wholeTokens } from './sample.js'
import { endsByItself, type ModelLimits, merged, samplingParams } from './sampling.js'
import type { ModelText } from './text.js'
import { Wording } from './wording.js'

export interface RolloutModelParts {
  readonly sampler: Pick<SampleModel, 'info' | 'version' | 'sample' | 'score'>
  readonly text: ModelText
  readonly limits: ModelLimits
  /** Sampling of the task set. */
  readonly defaults?: SamplingArgs
  /** Answers to a call that does not say how many. */
  readonly n?: number
  /** The seed of the run's i-th call. */
  readonly seedOf: (call: number) => number
  readonly signal?: AbortSignal
  readonly deadlineMs: number
  readonly history?: boolean
  /** `explorer.rollout_model.tool_call_parser` and `reasoning_parser`, for the OpenAI client. */
  readonly toolCallParser?: string | null
  readonly reasoningParser?: string | null
  /** `explorer.rollout_model.unknown_request_fields`, for clients of its APIs. Default: `ignore`. */
  readonly unknownFields?: UnknownFields
  /** Receives what requests of its OpenAI client lost while they were read. */
  readonly logger?: Pick<Logger, 'warn'>
  /** What the OpenAI client says its model is called. */
  readonly name?: string
}

/** What a model was made to do. */
export interface RolloutStats {
  readonly calls: number
  readonly sampledTokens: number
  /** Calls that could not go on from what was said before, and their reasons. */
  readonly divergences: number
  readonly diverged: DivergenceCounts
  /** Fields, tools and media of requests that did not reach the model, by label. */
  readonly notes: NoteCounts
}

/**
 * A model as a workflow sees it: messages or a prompt in, experiences out. It belongs to one run: it remembers what was
 * said, token by token, so that later turns go on from the tokens that were sampled.
 * @example
 * import { workflows } from 'trinity-rft'
 *
 * workflows.add('answer', async ({ model, task }) => {
 *   const [answer] = await model.chat([{ role: 'user', content: String(task.taskDesc) }], { temperature: 0.7 })
 *   return { ...answer, reward: answer.responseText === task.truth ? 1 : 0 }
 * })
 */
export class RolloutModel implements ChatModel {
  readonly name: string
  readonly conversation = new Conversation()
  readonly #parts: RolloutModelParts
  #limits: ModelLimits
  #limit: PromptLimit
  readonly #history: Experience[] = []
  /** Of the last prompt that was too long. */
  #standIns: Experience[] = []
  readonly #wording: Wording
  #recording: boolean
  #calls = 0
  #sampledTokens = 0
  readonly #notes = new NoteCounter()
  #openai: OpenAIClient | undefined
  readonly #branches: RolloutModel[] = []

  constructor(parts: RolloutModelParts) {
    this.#parts = parts
    this.#recording = parts.history ?? false
    this.name = parts.name ?? 'policy'
    this.#wording = new Wording(parts.text, this.conversation)
    const { limits, sampler } = parts
    const { readsChat, maxModelLen } = sampler.info
    // a model that makes its own tokens knows by itself what is too long
    this.#limits = readsChat
      ? { ...limits, maxModelLen, maxPromptTokens: null }
      : { ...limits, maxModelLen: Math.min(limits.maxModelLen, maxModelLen) }
    this.#limit = new PromptLimit(this.tokenizer, this.#limits)
  }

  get tokenizer(): Tokenizer {
    return this.#parts.text.tokenizer
  }

  get text(): ModelText {
    return this.#parts.text
  }

  get parsers(): Parsers {
    return this.#parts
  }

  get defaults(): SamplingArgs | undefined {
    return this.#parts.defaults
  }

  get unknownFields(): UnknownFields | undefined {
    return this.#parts.unknownFields
  }

  /** Counts what a request of a client lost while it was read. */
  noted(notes: RequestNotes): void {
    this.#notes.add(notes)
  }

  /** Version of the weights in use. */
  get version(): number {
    return this.#parts.sampler.version
  }

  get limits(): Readonly<ModelLimits> {
    return this.#limits
  }

  get signal(): AbortSignal | undefined {
    return this.#parts.signal
  }

  /** Those of its branches are among them. */
  get stats(): RolloutStats {
    const { divergences, diverged } = this.conversation
    const notes = this.#notes.read()
    const total = {
      calls: this.#calls,
      sampledTokens: this.#sampledTokens,
      divergences,
      diverged: { ...diverged },
      notes,
    }
    for (const { stats } of this.#branches) {
      total.calls += stats.calls
      total.sampledTokens += stats.sampledTokens
      total.divergences += stats.divergences
      for (const reason of DIVERGENCES) total.diverged[reason] += stats.diverged[reason]
    }
    return total
  }

  /**
   * The same model with a conversation and random numbers of its own, for what a run says beside its main conversation.
   * Answers come one at a time, and a prompt that is too long gives the stand-in.
   */
  branch(name: string): RolloutModel {
    const { seedOf, limits, ...rest } = this.#parts
    const branch = new RolloutModel({
      ...rest,
      n: 1,
      limits: { ...limits, truncatePrompts: true },
      seedOf: (call) => deriveSeed(seedOf(call), name),
    })
    this.#branches.push(branch)
    return branch
  }

  /**
   * An answer as if it had been given to these messages. Its tokens are those that were sampled, its log-probs those of
   * the prompt that it was sampled for. What was said so far goes on with it.
   */
  retell(messages: readonly ChatMessage[], { sample, raw, experience }: Answered): Experience {
    const { temperature, responseText = '' } = experience
    const prompt = this.#prompt(this.#render(messages, {}), temperature)
    const { tokenizer } = this
    const recorded = tokenizer.decode(sample.tokens, { skipSpecial: false })
    const seen = typeof sample.stoppedBy === 'string' ? wholeTokens(raw, sample.tokens, tokenizer) : undefined
    return this.#record(prompt, { sample, raw, text: responseText, recorded, seen }, messages)
  }

  /**
   * Answers to a chat. Messages that end with the assistant's are continued. One experience per answer.
   * @example
   * import type { WorkflowContext } from 'trinity-rft'
   *
   * export async function best({ model }: WorkflowContext) {
   *   const answers = await model.chat([{ role: 'user', content: 'Name a color.' }], { n: 4, max_tokens: 16 })
   *   return answers.map(({ responseText }) => responseText)
   * }
   */
  async chat(messages: readonly ChatMessage[], args: ChatArgs = {}, onText?: OnText): Promise<Experience[]> {
    return (await this.answers(messages, args, onText)).map(({ experience }) => experience)
  }

  /** Continues a plain text, or tokens as they are. One experience per answer. */
  async generate(prompt: string | ArrayLike<number>, args: SamplingArgs = {}, onText?: OnText): Promise<Experience[]> {
    return (await this.complete(prompt, args, onText)).map(({ experience }) => experience)
  }

  /** Like `generate`, with the sample behind each experience. */
  async complete(
    prompt: string | ArrayLike<number>,
    args: SamplingArgs = {},
    onText?: OnText,
    signal?: AbortSignal,
  ): Promise<Answered[]> {
    await timeSlice()
    const sampling = merged(args, this.#parts.defaults ?? {})
    const temperature = sampling.temperature ?? 1
    const { tokenizer } = this
    const tokens =
      typeof prompt === 'string'
        ? this.#prompt(prompt, temperature)
        : this.conversation.promptOfTokens(Int32Array.from(prompt), temperature, (ids) =>
            tokenizer.decode(ids, { skipSpecial: false }),
          )
    return this.#call(tokens, sampling, { onText, signal, format: answerFormat(sampling, { reasoning: false }) })
  }

  /** Like `chat`, with the sample behind each experience: what the OpenAI client needs. */
  async answers(
    messages: readonly ChatMessage[],
    args: ChatArgs = {},
    onText?: OnText,
    signal?: AbortSignal,
  ): Promise<Answered[]> {
    await timeSlice()
    const { tools, tool_choice, parallel_tool_calls, enable_thinking, chat_template_kwargs, ...rest } = args
    this.#limit.checkCount(messages.length + (tools?.length ?? 0))
    const sampling = merged(rest, this.#parts.defaults ?? {})
    const asked = { ...sampling, tools, tool_choice, parallel_tool_calls }
    const format = answerFormat(asked, { reasoning: Boolean(this.#parts.reasoningParser) })
    const text = this.#render(messages, { tools, enable_thinking, chat_template_kwargs })
    const prompt = this.#prompt(text, sampling.temperature ?? 1)
    const { response_format, guided_json, guided_regex, guided_choice } = sampling
    const template = enable_thinking ?? this.#limits.enableThinking
    const variables = { ...(template == null ? {} : { enable_thinking: template }), ...chat_template_kwargs }
    const options = {
      ...{ tools, tool_choice, parallel_tool_calls, response_format, guided_json, guided_regex, guided_choice },
      ...(Object.keys(variables).length > 0 ? { chat_template_kwargs: variables } : {}),
    }
    return this.#call(prompt, sampling, { messages, tools, onText, signal, format, chat: { messages, options } })
  }

  /** Log-probs of tokens[1…] under the weights in use. */
  async logprobs(tokens: ArrayLike<number>, args: { temperature?: number } = {}): Promise<Float32Array> {
    const all = Int32Array.from(tokens)
    const { sampler, signal, deadlineMs } = this.#parts
    const row = {
      id: 'logprobs',
      tokens: all,
      start: 1,
      mask: new Uint8Array(Math.max(0, all.length - 1)).fill(1),
      temperature: args.temperature ?? 1,
      columns: {},
    }
    const [scores] = await sampler.score([row], nextCall(signal, deadlineMs))
    return scores.logprob!
  }

  /** The prompt that these messages make. */
  promptTokens(messages: readonly ChatMessage[], args: Pick<ChatArgs, 'tools' | 'enable_thinking'> = {}): Int32Array {
    return this.tokenizer.encode(this.#render(messages, args))
  }

  /**
   * What was said since the run began: one experience per unbroken sequence, usually one, masked to what the model wrote.
   * Where not even the first prompt fitted, the stand-in for its answer.
   *
   * The next turn does not see what a stop string hid of an answer, and so it is no part of the sequence. With `hidden`
   * the answer is learned with it as well, in a sequence that ends there.
   */
  toExperiences({ hidden = false }: { hidden?: boolean } = {}): Experience[] {
    if (this.conversation.segments === 0) return [...this.#standIns]
    const whole = hidden ? undefined : this.conversation.whole()
    return whole ? [whole] : this.conversation.experiences()
  }

  /** The same where the conversation is known to be one sequence. */
  toExperience(): Experience {
    const all = this.toExperiences()
    if (all.length === 1) return all[0]
    const text = all.length === 0 ? 'the model was not called' : `the conversation split into ${all.length} sequences`
    throw new TrinityError('workflow/conversation', text, {
      hint: all.length === 0 ? 'call chat first' : 'use toExperiences(); the template changes earlier turns, or n > 1',
    })
  }

  /**
   * From now on a conversation may fill the whole model, and one that is too long is an error: an agent would take the
   * stand-in of a prompt that was cut for an answer.
   */
  refuseLong(): void {
    this.#limits = { ...this.#limits, maxPromptTokens: null, truncatePrompts: false }
    this.#limit = new PromptLimit(this.tokenizer, this.#limits)
  }

  /** Takes back answers that did not reach whoever asked for them. What was asked again counts once. */
  withdraw(answers: readonly Answered[]): void {
    for (const { sample, experience } of answers) {
      this.conversation.withdraw(sample)
      const at = this.#history.indexOf(experience)
      if (at >= 0) this.#history.splice(at, 1)
    }
  }

  /** From now on every call is recorded (`enable_history` does this for all workflows). */
  recordHistory(): void {
    this.#recording = true
  }

  /** The recorded experiences, one per answer, in order of the calls. Clears the record unless told not to. */
  takeHistory(options: { keep?: boolean } = {}): Experience[] {
    if (!this.#recording) {
      throw new TrinityError('workflow/history', 'the history of this model is not recorded', {
        path: 'explorer.rollout_model.enable_history',
        hint: 'set enable_history: true, or call recordHistory() before the first call',
      })
    }
    return options.keep ? [...this.#history] : this.#history.splice(0)
  }

  /**
   * A client with the shape of the OpenAI SDK: no HTTP, and every answer is recorded token by token.
   * @example
   * import { workflows } from 'trinity-rft'
   *
   * workflows.add('ask', async ({ model, task }) => {
   *   const messages = [{ role: 'user', content: String(task.taskDesc) }]
   *   const { choices } = await model.openai().chat.completions.create({ model: 'policy', messages })
   *   const reward = choices[0].message.content === String(task.truth) ? 1 : 0
   *   return model.toExperiences().map((experience) => ({ ...experience, reward }))
   * })
   */
  openai(): OpenAIClient {
    this.#recording = true
    this.#openai ??= createOpenAI(this, { logger: this.#parts.logger })
    return this.#openai
  }

  /** Tells that `message` is how `raw` reads to others, so that the next turn finds the tokens again. */
  remember(message: Said, raw: string): void {
    this.#wording.remember(message, raw)
  }

  #render(messages: readonly ChatMessage[], args: ChatArgs): string {
    return this.#wording.render(messages, {
      ...args,
      enable_thinking: args.enable_thinking ?? this.#limits.enableThinking ?? undefined,
    })
  }

  /** The tokens to go on from: those that were sampled, and after them those of what is new in the text. */
  #prompt(text: string, temperature: number): Prompt {
    return this.conversation.promptOf(text, temperature, (part) => this.#limit.encode(part))
  }

  async #call(
    prompt: Prompt,
    args: SamplingArgs,
    { messages, tools, onText, signal: own, format, chat }: CallParts,
  ): Promise<Answered[]> {
    const { sampler, deadlineMs, seedOf } = this.#parts
    const n = args.n ?? this.#parts.n ?? 1
    if (this.#limit.isExceeded(prompt.tokens.length)) return this.#truncated(prompt, n, messages)
    const call = this.#calls++
    const params = samplingParams(args, prompt.tokens.length, this.#limits, seedOf(call))
    const request = {
      prompt: prompt.tokens,
      n,
      params: format ? endsByItself(params, args) : params,
      topLogprobs: args.logprobs || undefined,
      ...(sampler.info.readsChat ? { chat } : { allowed: format && allowedFor(this.tokenizer, sampler.info, format) }),
    }
    const link = linkSignals([this.#parts.signal, own])
    const options = {
      signal: link.signal,
      deadlineMs,
      onToken: onText,
      keepStop: args.include_stop_str_in_output ?? false,
    }
    const answers = await sampleAnswers(sampler, this.tokenizer, request, options).finally(link.release)
    this.conversation.count(prompt)
    return answers.map((answer) => this.#keep(prompt, answer, messages, tools))
  }

  #keep(prompt: Prompt, answer: Answer, messages?: readonly ChatMessage[], tools?: readonly unknown[]): Answered {
    this.#sampledTokens += answer.sample.tokens.length
    const experience = this.#record(prompt, answer, messages, tools)
    if (this.#recording) this.#history.push(experience)
    return { experience, sample: answer.sample, raw: answer.raw, promptTokens: prompt.tokens.length }
  }

  #record(prompt: Prompt, answer: Answer, messages?: readonly ChatMessage[], tools?: readonly unknown[]): Experience {
    const said = messages && [...messages, { role: 'assistant', content: answer.text }]
    this.conversation.record(prompt, answer.sample, answer.recorded, said as Experience['messages'], answer.seen)
    if (said) this.remember(said[said.length - 1], answer.raw)
    return callExperience(prompt, joined(prompt.tokens, answer.sample.tokens), answer, said, tools)
  }

  #truncated(prompt: Prompt, n: number, messages?: readonly ChatMessage[]): Answered[] {
    const { most, looked } = this.#limit
    if (!this.#limits.truncatePrompts) {
      const count = `${prompt.tokens.length} tokens${prompt.text.length > looked ? ' or more' : ''}`
      throw this.#limit.tooLong(count, messages ? 'messages' : 'prompt')
    }
    this.#standIns = Array.from({ length: n }, () => truncatedExperience(prompt, most, this.version, messages))
    if (this.#recording) this.#history.push(...this.#standIns)
    return this.#standIns.map((experience) => {
      const sample: Sample = { ...NOTHING, tokens: new Int32Array(0), logprobs: new Float32Array(0) }
      return { experience, sample, raw: '', promptTokens: most }
    })
  }
}

interface CallParts {
  readonly messages?: readonly ChatMessage[]
  readonly tools?: readonly unknown[]
  readonly onText?: OnText
  readonly signal?: AbortSignal
  readonly format?: Format
  readonly chat?: AskedChat
}

const NOTHING = { finish: 'length', versions: [], cachedTokens: 0 } as const
