import { createInterface } from 'node:readline'
import { text as textOf } from 'node:stream/consumers'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import type { Desk, Talk } from '../chat/index.js'
import type { ViewStream } from '../monitor/index.js'
import { checkSet, modelOf } from './model-of.js'
import { decimal, wholeNumber } from './number.js'
import type { ExitCode } from './print.js'
import { quoted } from './suggestion.js'

export interface ChatOptions {
  system?: string
  temperature?: string
  maxTokens?: string
  seed?: string
  compare?: string
  probs?: boolean | string
  plain?: boolean
  set?: string[]
}

/** What tests replace. */
export interface ChatWorld {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean }
  readonly write: (text: string) => void
  /** Where replies are drawn as they come, side by side; undefined: no terminal. */
  readonly screen?: ViewStream
}

const ALTERNATIVES = 3
const USUAL_WIDTH = 100

/** `trinity chat`: talks to a model directory, or to what a run has trained. */
export async function chat(
  model: string,
  given: readonly string[],
  options: ChatOptions,
  world: Partial<ChatWorld> = {},
): Promise<ExitCode> {
  const input = world.input ?? process.stdin
  const write = world.write ?? ((text: string) => void process.stdout.write(text))
  const names = [model, ...(options.compare === undefined ? [] : [options.compare])]
  checkSet(names, options.set)
  const how = {
    temperature: decimal('--temperature', options.temperature, 0.7),
    maxTokens: wholeNumber('--max-tokens', options.maxTokens, 512, 1),
    seed: wholeNumber('--seed', options.seed, 0),
  }
  // what follows --probs is its number, or the question
  const isQuestion = given.length === 0 && typeof options.probs === 'string' && !/^-?[\d.]+$/.test(options.probs)
  const words = isQuestion ? [options.probs as string] : given
  const alternatives = alternativesOf(isQuestion || options.probs)
  const asked = words.length > 0 ? words.join(' ') : input.isTTY ? undefined : (await textOf(input)).trim()
  if (asked === '') throw noQuestion(model)
  const interrupts = new Interrupts()
  const { Talk, converse, answer } = await import('../chat/index.js')
  const { withModels } = await import('../run/one-model.js')
  const note = (text: string) => void process.stderr.write(`${pc.dim(text)}\n`)
  try {
    return await withModels<ExitCode>({ note, signal: interrupts.end }, async (open) => {
      const talks: Talk[] = []
      for (const name of names) {
        const dir = await modelOf(name, { set: options.set, note })
        const newConversation = await open({ ...how, model: dir, check: probsFit(alternatives) })
        talks.push(new Talk(dir, newConversation, { system: options.system, plain: options.plain, alternatives }))
      }
      const screen = 'write' in world ? world.screen : terminal()
      const desk = { write, screen, answering: interrupts.answering, width: screen?.columns || USUAL_WIDTH }
      if (asked !== undefined) {
        await answer(talks, asked, desk)
        return 0
      }
      note('a line is a question, :help lists the commands, Ctrl-C stops an answer')
      await atTheKeyboard(input, interrupts, desk, (whole) => converse(talks, whole))
      return 0
    })
  } finally {
    interrupts.close()
  }
}

/** Standard output, where it is one that can be drawn on. */
function terminal(): ViewStream | undefined {
  return process.stdout.isTTY && process.env.TERM !== 'dumb' ? process.stdout : undefined
}

function alternativesOf(probs: ChatOptions['probs']): number | undefined {
  if (probs === undefined || probs === false) return undefined
  return probs === true ? ALTERNATIVES : wholeNumber('--probs', probs, ALTERNATIVES, 1)
}

/** There are only so many other tokens. */
function probsFit(alternatives: number | undefined): (config: { vocabSize: number }) => void {
  return ({ vocabSize }) => void wholeNumber('--probs', alternatives?.toString(), ALTERNATIVES, 1, vocabSize - 1)
}

function noQuestion(model: string): TrinityError {
  return new TrinityError('cli/usage', 'there is no question: standard input is empty', {
    hint: `give one (trinity chat ${quoted([model])} "Hello"), pipe one in, or run it in a terminal for a conversation`,
  })
}

/** Ctrl-C ends the answer that is being given, or, where there is none, everything. */
class Interrupts {
  readonly #end = new AbortController()
  #answer = new AbortController()
  #isAnswering = false

  constructor() {
    process.on('SIGINT', this.interrupt)
  }

  get end(): AbortSignal {
    return this.#end.signal
  }

  readonly answering = (): AbortSignal => {
    this.#answer = new AbortController()
    this.#isAnswering = true
    return this.#answer.signal
  }

  /** The answer is there. */
  rest(): void {
    this.#isAnswering = false
  }

  readonly interrupt = (): void => {
    const reason = new TrinityError('cli/interrupted', 'interrupted')
    if (!this.#isAnswering || this.#answer.signal.aborted) this.#end.abort(reason)
    this.#answer.abort(reason)
  }

  close(): void {
    process.off('SIGINT', this.interrupt)
  }
}

async function atTheKeyboard(
  input: NodeJS.ReadableStream,
  interrupts: Interrupts,
  desk: Omit<Desk, 'lines' | 'ask'>,
  talk: (desk: Desk) => Promise<void>,
): Promise<void> {
  const lines = createInterface({ input, output: process.stdout, prompt: pc.bold('> ') })
  lines.on('SIGINT', interrupts.interrupt)
  interrupts.end.addEventListener('abort', () => lines.close(), { once: true })
  const ask = () => {
    interrupts.rest()
    lines.prompt()
  }
  try {
    await talk({ ...desk, lines, ask })
  } finally {
    lines.close()
  }
}
