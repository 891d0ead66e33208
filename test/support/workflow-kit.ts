import type { Logger } from '../../src/base/log/logger.js'
import { deriveSeed } from '../../src/base/random/derive-seed.js'
import { Pcg64 } from '../../src/base/random/index.js'
import type { SampleModel, SampleRequest } from '../../src/engine/contract.js'
import { MockEngine, type MockOptions } from '../../src/engine/mock/engine.js'
import { byteTokenizer } from '../../src/model/character-tokenizer.js'
import { ChatTemplate, Tokenizer } from '../../src/model/index.js'
import type { Task } from '../../src/task/index.js'
import { AuxiliaryModels } from '../../src/workflow/auxiliary.js'
import type { WorkflowContext } from '../../src/workflow/context.js'
import { type ModelText, RolloutModel, type RolloutModelParts } from '../../src/workflow/index.js'

const special = ['<|pad|>', '<|end|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>']
const template =
  "{% if tools %}{{ '<|system|>' + tools | tojson + '<|end|>' }}{% endif %}" +
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

/** One token per byte, one per role: every text can be written, and tokens can be read by eye. */
export const text: ModelText = (() => {
  const tokenizer = new Tokenizer({
    path: 'bytes',
    tokenizer: byteTokenizer(special),
    specialTokens: { pad_token: '<|pad|>', eos_token: '<|end|>' },
  })
  const opened = new ChatTemplate(template, tokenizer.specialTokens)
  opened.onToolFallback = undefined
  return { tokenizer, template: opened }
})()

/** What a scripted model says to a prompt: one text, or one for each of n answers. `<|end|>` is added. */
export type Speech = (prompt: string, request: SampleRequest) => string | readonly string[] | Promise<string>

export async function speaker(
  speech: Speech | undefined,
  options: MockOptions & { text?: ModelText; end?: boolean } = {},
): Promise<SampleModel> {
  const { tokenizer } = options.text ?? text
  const end = (options.end ?? true) ? tokenizer.decode([tokenizer.eosId!], { skipSpecial: false }) : ''
  const engine = new MockEngine({
    vocabSize: tokenizer.vocabSize,
    eos: tokenizer.eosId,
    ...options,
    reply: speech
      ? async (request) => {
          const said = await speech(tokenizer.decode(request.prompt, { skipSpecial: false }), request)
          return (typeof said === 'string' ? [said] : said).map((one) => tokenizer.encode(one + end))
        }
      : undefined,
  })
  return engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })
}

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export function modelOf(sampler: SampleModel, parts: Partial<RolloutModelParts> = {}): RolloutModel {
  return new RolloutModel({
    sampler,
    text,
    limits: { maxModelLen: 4096, truncatePrompts: true },
    seedOf: (call) => deriveSeed(1, call),
    deadlineMs: 10_000,
    ...parts,
  })
}

export function taskOf(given: Partial<Task> = {}): Task {
  return {
    raw: {},
    workflow: 'simple_workflow',
    taskDesc: 'question',
    repeatTimes: 1,
    format: {},
    rolloutArgs: {},
    workflowArgs: {},
    rewardFnArgs: {},
    isEval: false,
    index: { taskset: 0, row: 0 },
    ...given,
  }
}

export function contextOf(model: RolloutModel, given: Partial<WorkflowContext> = {}): WorkflowContext {
  return {
    task: taskOf(),
    model,
    auxiliary: new AuxiliaryModels(),
    logger: silent,
    random: new Pcg64(1),
    signal: new AbortController().signal,
    run: 0,
    repeat: 1,
    ...given,
  }
}

/** A sampler that only says what it is told, for vocabularies that are too large for the mock engine's table. */
export function puppet(tokensOf: (request: SampleRequest) => ArrayLike<number>, vocabSize: number): SampleModel {
  const unused = async (): Promise<never> => {
    throw new Error('a puppet only samples')
  }
  return {
    home: {},
    info: { architecture: 'puppet', parameters: 0, trainableParameters: 0, vocabSize, maxModelLen: 1 << 16 },
    version: 0,
    sample: async (request) =>
      Array.from({ length: request.n }, () => {
        const tokens = Int32Array.from(tokensOf(request))
        const logprobs = new Float32Array(tokens.length).fill(-1)
        return { tokens, logprobs, finish: 'stop' as const, versions: [{ version: 0, from: 0 }], cachedTokens: 0 }
      }),
    score: unused,
    saveWeights: unused,
    loadWeights: unused,
    stats: () => ({ ...NO_STATS }),
    memory: () => ({ weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }),
    close: async () => {},
  }
}

const NO_STATS = {
  running: 0,
  waiting: 0,
  cacheTokensUsed: 0,
  cacheTokens: 0,
  promptTokens: 0,
  cachedTokens: 0,
  sampledTokens: 0,
}
