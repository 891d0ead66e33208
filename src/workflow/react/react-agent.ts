import type { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { callTool, type ReactTool, reactTool, type ToolEntry, type ToolResult, toolEntry } from './tool.js'

/** A message of a conversation, as the chat API has it. */
export interface ReactMessage {
  readonly role: string
  readonly content?: string | null
  readonly tool_calls?: readonly ReactCall[]
  readonly tool_call_id?: string
  readonly [key: string]: unknown
}

/** A call of a tool in an answer of the model. */
export interface ReactCall {
  readonly id: string
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: string }
}

/** What is asked of: `openai` of a rollout, or an instance of the OpenAI SDK. */
export interface ReactClient {
  readonly chat: {
    readonly completions: {
      // never: each client types what it is asked in its own way
      create(
        body: never,
        options?: { signal?: AbortSignal },
      ): PromiseLike<{ choices: { message: { content?: string | null; tool_calls?: readonly ReactCall[] } }[] }>
    }
  }
}

/** What a `ReactAgent` is made of. */
export interface ReactOptions<R = unknown> {
  readonly openai: ReactClient
  /** Name of the model; default `policy`. */
  readonly model?: string
  /** What the model is told first. */
  readonly system?: string
  readonly tools?: readonly ReactTool[]
  /** How often the model is asked for one reply; default 10. */
  readonly maxSteps?: number
  /** The form of a result: the model ends by handing it over with a call of `generate_response`. */
  readonly finish?: z.ZodType<R>
  /** Whether the calls of one answer are run at once (default), or one after another. */
  readonly parallel?: boolean
  /** Further arguments of each request: `max_tokens`, `temperature`, … */
  readonly request?: Readonly<Record<string, unknown>>
  /** What was said before. */
  readonly memory?: readonly ReactMessage[]
  readonly signal?: AbortSignal
}

/** How a reply came about. */
export interface ReactReply<R = unknown> {
  /** The last text of the model. */
  readonly text: string
  /** What was handed over, where `finish` asks for a result. */
  readonly result?: R
  /** `answer`: without calling a tool; `finish`: with a result; `steps`: it was cut off. */
  readonly end: 'answer' | 'finish' | 'steps'
  /** How often the model was asked. */
  readonly steps: number
  readonly calls: number
  /** Calls that failed or were wrong. */
  readonly failedCalls: number
}

/** The tool by which the model hands over its result. */
export const FINISH = 'generate_response'

/**
 * A loop of reasoning and acting: asks the model, runs the tools it calls, tells it what came of them, until it answers.
 * What was said stays in `memory`, and the next `reply` goes on from there.
 * @example
 * import { agent, z } from 'trinity-rft'
 * import { ReactAgent, reactTool } from 'trinity-rft/agent'
 *
 * const add = reactTool({
 *   name: 'add',
 *   description: 'Adds two numbers',
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => a + b,
 * })
 *
 * export default agent('sums', async (task, { openai, signal }) => {
 *   const { text } = await new ReactAgent({ openai, tools: [add], maxSteps: 4, signal }).reply(task.question)
 *   return text.trim() === task.truth
 * })
 */
export class ReactAgent<R = unknown> {
  /** All that was said, to be read or changed between two replies. */
  readonly memory: ReactMessage[]
  readonly #options: ReactOptions<R>
  readonly #tools: readonly ReactTool[]
  readonly #entries: ToolEntry[]

  constructor(options: ReactOptions<R>) {
    const { tools = [], finish, system, memory = [], maxSteps = 10 } = options
    this.#options = options
    this.#tools = finish ? [...tools, finishTool(finish)] : tools
    this.#entries = this.#tools.map(toolEntry)
    const names = this.#tools.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) !== i)
    if (twice !== undefined) throw wrong(`there are two tools '${twice}'`, 'give each tool a name of its own')
    if (!Number.isInteger(maxSteps) || maxSteps < 1) throw wrong(`maxSteps is ${maxSteps}`, 'give 1 or more')
    this.memory = [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...memory]
  }

  /** Says something to the model, and works until it answers or the steps are used up. */
  async reply(question: string): Promise<ReactReply<R>> {
    const { maxSteps = 10 } = this.#options
    this.memory.push({ role: 'user', content: question })
    const counted = { text: '', calls: 0, failedCalls: 0 }
    for (let steps = 1; steps <= maxSteps; steps++) {
      const { content, calls } = await this.#ask()
      counted.text = content
      if (calls.length === 0) return { ...counted, steps, end: 'answer' }
      const results = await this.#act(calls)
      counted.calls += results.length
      counted.failedCalls += results.filter(({ failed }) => failed).length
      const handed = calls.findIndex((call, i) => call.function?.name === FINISH && !results[i].failed)
      if (this.#options.finish && handed >= 0) {
        return { ...counted, steps, end: 'finish', result: results[handed].value as R }
      }
    }
    return { ...counted, steps: maxSteps, end: 'steps' }
  }

  async #ask(): Promise<{ content: string; calls: readonly ReactCall[] }> {
    const { openai, model = 'policy', request, signal } = this.#options
    signal?.throwIfAborted()
    const tools = this.#entries.length > 0 ? { tools: this.#entries } : {}
    const body = { ...request, model, messages: [...this.memory], ...tools }
    const { choices } = await openai.chat.completions.create(body as never, { signal })
    const message = choices[0]?.message
    if (!message) throw wrong('the server answered without a message', 'it must speak the chat API of OpenAI')
    const { content, tool_calls } = message
    const calls = tool_calls ?? []
    // as the model said it: what a server adds for others does not go back
    const said = { role: 'assistant', content: content ?? null }
    this.memory.push(calls.length > 0 ? { ...said, tool_calls: calls } : said)
    return { content: content ?? '', calls }
  }

  /** Runs the calls of an answer. The model reads what came of them in the order in which it made them. */
  async #act(calls: readonly ReactCall[]): Promise<ToolResult[]> {
    const { parallel = true, signal } = this.#options
    const run = (call: ReactCall) => callTool(this.#tools, call.function ?? { name: call.type, arguments: '' }, signal)
    const results: ToolResult[] = []
    if (parallel) results.push(...(await Promise.all(calls.map(run))))
    else for (const call of calls) results.push(await run(call))
    for (const [i, { text }] of results.entries()) {
      this.memory.push({ role: 'tool', tool_call_id: calls[i].id, content: text })
    }
    return results
  }
}

function finishTool<R>(parameters: z.ZodType<R>): ReactTool {
  const description = 'Hands over the final result and ends the work. Call it when you know the result.'
  return reactTool({ name: FINISH, description, parameters, run: (result) => result })
}

const wrong = (message: string, hint: string) => new TrinityError('react/options', message, { hint })
