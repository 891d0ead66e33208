import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import { hasGenerationTags, markGeneration, takeMarks } from './generation-spans.js'
import { Piecewise } from './piecewise.js'
import { parseWithFloats, Template, TemplateLimitError } from './python-jinja/index.js'
import { hasToolParts, ToolFallback } from './tool-fallback.js'

/** A message as chat APIs write it; templates may read any further key. */
export interface ChatMessage {
  readonly role: string
  readonly content?: string | null | readonly unknown[]
  readonly tool_calls?: readonly ToolCall[]
  readonly [key: string]: unknown
}

export interface ToolCall {
  readonly function?: { readonly name: string; readonly arguments: unknown }
  readonly [key: string]: unknown
}

export interface RenderOptions {
  /** End with the header of an assistant message, so that a model continues with its content. */
  addGenerationPrompt?: boolean
  /** Stop right behind the content of the last message, so that a model goes on writing it. */
  continueFinalMessage?: boolean
  tools?: readonly unknown[]
  /** Passed only when set: templates distinguish false from undefined. */
  enableThinking?: boolean
  /** Further variables for the template (`chat_template_kwargs`). */
  variables?: Record<string, unknown>
}

/** A Jinja chat template: messages to the text that a model was trained on. */
export class ChatTemplate {
  readonly source: string
  /** What errors name: a file, or where the template came from. */
  readonly path: string
  /** The template says with {% generation %} which text is the assistant's. */
  readonly marksAssistant: boolean
  /**
   * Called once, when the template first gets tools, calls or results that it has no place for: they are written as text.
   * Default: a warning of the process.
   */
  onToolFallback: ((message: string) => void) | undefined = (message) => process.emitWarning(message)
  #toolFallback: ToolFallback | undefined
  readonly #template: Template
  readonly #piecewise: Piecewise | undefined
  readonly #specialTokens: Readonly<Record<string, string>>

  constructor(source: string, specialTokens: Readonly<Record<string, string>> = {}, path = 'chat template') {
    this.source = source
    this.path = path
    this.#specialTokens = specialTokens
    checkSource(source, path)
    this.marksAssistant = hasGenerationTags(source)
    try {
      this.#template = new Template(this.marksAssistant ? markGeneration(source) : source)
    } catch (cause) {
      if (cause instanceof RangeError) throw limit('nested too deeply', path, cause)
      throw new TrinityError('chat/template', `${path} is not a valid Jinja template: ${messageOf(cause)}`, {
        path,
        hint: 'correct the template; it must be Jinja as Transformers uses it',
        cause,
      })
    }
    this.#piecewise = Piecewise.of(this.#template, Object.keys(specialTokens))
  }

  render(messages: readonly ChatMessage[], options: RenderOptions = {}): string {
    return this.renderSpans(messages, options).text
  }

  /** `spans`: [start, end) positions of what lies between {% generation %} and {% endgeneration %}. */
  renderSpans(
    messages: readonly ChatMessage[],
    options: RenderOptions = {},
  ): { text: string; spans: [number, number][] } {
    if (messages.length === 0) {
      throw new TrinityError('chat/empty', 'a chat needs at least one message', { path: this.path })
    }
    if (options.addGenerationPrompt && options.continueFinalMessage) {
      throw new TrinityError('chat/options', 'addGenerationPrompt and continueFinalMessage exclude each other', {
        path: this.path,
      })
    }
    const written = this.#withToolText(messages, options.tools)
    const rendered = this.#render(written, options)
    const { text, spans } = this.marksAssistant ? takeMarks(rendered) : { text: rendered, spans: [] }
    if (!options.continueFinalMessage) return { text, spans }
    return { text: cutBehindFinal(text, written[written.length - 1], this.path), spans }
  }

  /** Returns the messages with those parts of tools as text that the template leaves out. */
  #withToolText(messages: readonly ChatMessage[], tools?: readonly unknown[]): readonly ChatMessage[] {
    if (!tools?.length && !messages.some(hasToolParts)) return messages
    this.#toolFallback ??= new ToolFallback((probe, options) => this.#render(probe, options))
    const { missing } = this.#toolFallback
    if (missing.size === 0) return messages
    const given = messages.map(parseArguments)
    const written = this.#toolFallback.write(given, tools)
    if (written === given) return messages
    const parts = [...missing].join(', ')
    this.onToolFallback?.(`the chat template of ${this.path} has no place for ${parts}: ${AS_TEXT}`)
    this.onToolFallback = undefined
    return written
  }

  #render(messages: readonly ChatMessage[], options: RenderOptions): string {
    const variables = {
      ...this.#specialTokens,
      ...options.variables,
      ...(options.enableThinking === undefined ? {} : { enable_thinking: options.enableThinking }),
      // An empty list must look like no tools at all, or templates announce an empty tool list.
      tools: options.tools?.length ? options.tools : null,
      add_generation_prompt: options.addGenerationPrompt ?? false,
    }
    const render = (template: Template, some: readonly unknown[]) => template.render({ ...variables, messages: some })
    try {
      const given = messages.map(parseArguments)
      // variables of the caller may be any, those of the loop too
      return this.#piecewise && !options.variables
        ? this.#piecewise.render(given, render)
        : render(this.#template, given)
    } catch (cause) {
      // RangeError: the stack is full, or a text is longer than JavaScript allows
      if (cause instanceof TemplateLimitError) throw limit(cause.message, this.path, cause)
      if (cause instanceof RangeError) throw limit('nested too deeply or too large', this.path, cause)
      throw new TrinityError(
        'chat/render',
        `the chat template takes no such messages: ${messageOf(cause).slice(0, LONGEST_MESSAGE)}`,
        {
          path: this.path,
          hint: 'the messages do not suit this template (a role it does not know, or an order it refuses)',
          cause,
        },
      )
    }
  }
}

/** Longest error message of a template, in characters. */
const LONGEST_MESSAGE = 1000
/** Longest source, in characters. Published templates have some ten thousand. */
const LONGEST_SOURCE = 1 << 20
/** A longer run of blanks takes the parser quadratic time. */
const BLANKS = /\s{2000}/

function checkSource(source: string, path: string): void {
  if (source.length > LONGEST_SOURCE) throw limit(`source of ${source.length} characters`, path)
  if (BLANKS.test(source)) throw limit('2,000 blanks in a row', path)
}

function limit(what: string, path: string, cause?: unknown): TrinityError {
  return new TrinityError(
    'template/limit',
    `chat template ${join(basename(dirname(path)), basename(path))} exceeds a limit: ${what}`,
    {
      path,
      hint: 'use another chat template (model.custom_chat_template), or shorter messages',
      cause,
    },
  )
}

/** A template given as Jinja source or as a file that holds it. */
export async function templateSource(template: string): Promise<{ source: string; path: string }> {
  if (/\{[{%]/.test(template) || template.includes('\n')) return { source: template, path: 'custom chat template' }
  try {
    return { source: await readFile(template, 'utf8'), path: template }
  } catch (cause) {
    throw new TrinityError('chat/missing', `cannot read the chat template ${template}: ${messageOf(cause)}`, {
      path: template,
      hint: 'give Jinja source or the path of a file that holds it',
      cause,
    })
  }
}

/** Chat APIs send the arguments of a tool call as JSON text, templates print them as JSON: parse, or they are quoted twice. */
function parseArguments(message: ChatMessage): ChatMessage {
  if (!message.tool_calls?.length) return message
  const calls = message.tool_calls.map((call) => {
    if (typeof call.function?.arguments !== 'string') return call
    try {
      return { ...call, function: { ...call.function, arguments: parseWithFloats(call.function.arguments) } }
    } catch {
      return call // what a model wrote may not be JSON; the template gets it as it is
    }
  })
  return { ...message, tool_calls: calls }
}

const AS_TEXT = 'they are written as text, as Qwen and Hermes do (<tools>, <tool_call>, <tool_response>)'

function cutBehindFinal(text: string, message: ChatMessage, path: string): string {
  const content = typeof message.content === 'string' ? message.content.trim() : ''
  const at = content === '' ? -1 : text.lastIndexOf(content)
  if (at < 0) {
    throw new TrinityError('chat/continue', 'the template does not keep the content of the final message as it is', {
      path,
      hint: 'end the messages with a user or tool message, or use another template',
    })
  }
  // Spaces at the end of the content stay where the template kept them.
  const whole = message.content as string
  const end = at + content.length
  const tail = whole.slice(whole.trimEnd().length)
  return text.slice(0, end) + (text.startsWith(tail, end) ? tail : '')
}
