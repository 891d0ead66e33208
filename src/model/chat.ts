import { commonPrefix } from '../base/common-prefix.js'
import { TrinityError } from '../base/error.js'
import { type ChatMessage, ChatTemplate, type RenderOptions, templateSource } from './chat-template.js'
import { Tokenizer } from './tokenizer.js'
import { turnSpan } from './turn-span.js'

/** Where the tokens of a shorter chat are not the first tokens of the longer one. */
export interface Divergence {
  /** Index of the message. */
  readonly message: number
  /** First token that differs. */
  readonly token: number
}

export interface MaskedChat {
  readonly tokens: Int32Array
  /** 1 for tokens that the assistant wrote. */
  readonly mask: Uint8Array
  /** Index of the first masked token; 0 where none is. */
  readonly promptLength: number
  /** Assistant messages that could not be located, and are therefore not masked. */
  readonly divergences: readonly Divergence[]
}

type MaskOptions = Pick<RenderOptions, 'tools' | 'enableThinking' | 'variables'>

/** A tokenizer with a chat template: messages to tokens, and which of them are the assistant's. */
export class Chat {
  readonly tokenizer: Tokenizer
  readonly template: ChatTemplate

  constructor(tokenizer: Tokenizer, template: ChatTemplate) {
    this.tokenizer = tokenizer
    this.template = template
  }

  /** `template`: Jinja source, or a file that holds it; default: the template of the model directory. */
  static async load(dir: string, template?: string): Promise<Chat> {
    return Chat.of(await Tokenizer.load(dir), template)
  }

  static async of(tokenizer: Tokenizer, template?: string): Promise<Chat> {
    const { source, path } = await findTemplate(tokenizer, template)
    return new Chat(tokenizer, new ChatTemplate(source, tokenizer.specialTokens, path))
  }

  encode(messages: readonly ChatMessage[], options: RenderOptions = {}): Int32Array {
    return this.tokenizer.encode(this.template.render(messages, options))
  }

  /** The prompt for the next assistant turn; a chat that ends with the assistant is continued instead. */
  encodePrompt(messages: readonly ChatMessage[], options: RenderOptions = {}): Int32Array {
    if (messages.at(-1)?.role === 'assistant') {
      const { enableThinking: _, ...rest } = options
      return this.encode(messages, { ...rest, addGenerationPrompt: false, continueFinalMessage: true })
    }
    return this.encode(messages, { ...options, addGenerationPrompt: true })
  }

  encodeWithMask(messages: readonly ChatMessage[], options: MaskOptions = {}): MaskedChat {
    return this.template.marksAssistant ? this.#byTags(messages, options) : this.#byPrefix(messages, options)
  }

  #byTags(messages: readonly ChatMessage[], options: MaskOptions): MaskedChat {
    const { text, spans } = this.template.renderSpans(messages, options)
    const tokens = this.tokenizer.encode(text)
    const mask = new Uint8Array(tokens.length)
    const at = this.#tokenEnds(text, tokens)
    for (const [start, end] of spans) {
      const from = Buffer.byteLength(text.slice(0, start))
      const to = Buffer.byteLength(text.slice(0, end))
      // A token belongs to the assistant when any of its bytes does.
      for (let i = 0; i < tokens.length; i++) if (at[i] > from && (i === 0 ? 0 : at[i - 1]) < to) mask[i] = 1
    }
    return { tokens, mask, promptLength: Math.max(0, mask.indexOf(1)), divergences: [] }
  }

  /** Byte position behind each token. */
  #tokenEnds(text: string, tokens: Int32Array): Float64Array {
    const ends = new Float64Array(tokens.length)
    let total = 0
    for (let i = 0; i < tokens.length; i++) {
      total += this.tokenizer.tokenBytes(tokens[i]).length
      ends[i] = total
    }
    if (total === Buffer.byteLength(text)) return ends
    throw new TrinityError(
      'chat/offsets',
      'the tokenizer changes the text, so that {% generation %} cannot be located',
      {
        path: this.tokenizer.path,
        hint: 'use a template without {% generation %}: masks are then found by comparing prefixes',
      },
    )
  }

  /**
   * Tokens between the chat up to a message (with generation prompt) and the chat that includes it. Templates that drop
   * the thinking of earlier turns change those turns' tokens, so that only the turns behind the last user message count;
   * the others are divergences.
   */
  #byPrefix(messages: readonly ChatMessage[], options: MaskOptions): MaskedChat {
    const tokens = this.encode(messages, options)
    const mask = new Uint8Array(tokens.length)
    const divergences: Divergence[] = []
    const thinking = this.template.source.includes('<think>')
    const first = thinking ? messages.findLastIndex(({ role }) => role === 'user') + 1 : 0
    for (let i = 0; i < messages.length; i++) {
      if (messages[i].role !== 'assistant') continue
      if (i < first) {
        divergences.push({ message: i, token: 0 })
        continue
      }
      const before =
        i === 0 ? new Int32Array(0) : this.encode(messages.slice(0, i), { ...options, addGenerationPrompt: true })
      const after = i === messages.length - 1 ? tokens : this.encode(messages.slice(0, i + 1), options)
      const kept = { before: commonPrefix(before, tokens), after: commonPrefix(after, tokens) }
      const whole = kept.before === before.length && kept.after === after.length
      const span = whole ? ([before.length, after.length] as const) : this.#tokenSpan(tokens, messages, i, options)
      if (span) mask.fill(1, ...span)
      else divergences.push({ message: i, token: Math.min(kept.before, kept.after) })
    }
    return { tokens, mask, promptLength: Math.max(0, mask.indexOf(1)), divergences }
  }

  /** The tokens of one turn, where no token lies across its bounds. */
  #tokenSpan(
    tokens: Int32Array,
    messages: readonly ChatMessage[],
    index: number,
    options: MaskOptions,
  ): [number, number] | undefined {
    const span = turnSpan(this.template, messages, index, options)
    if (!span) return undefined
    const text = this.template.render(messages, options)
    const [start, end] = span.map((at) => {
      const ids = this.tokenizer.encode(text.slice(0, at))
      return commonPrefix(ids, tokens) === ids.length ? ids.length : undefined
    })
    return start === undefined || end === undefined ? undefined : [start, end]
  }
}

async function findTemplate(tokenizer: Tokenizer, template?: string): Promise<{ source: string; path: string }> {
  if (template !== undefined) return templateSource(template)
  if (tokenizer.chatTemplate !== undefined) return { source: tokenizer.chatTemplate, path: tokenizer.path }
  throw new TrinityError('chat/missing', `the tokenizer has no chat template`, {
    path: tokenizer.path,
    hint: 'set model.custom_chat_template to a Jinja template, or use a chat model',
  })
}
