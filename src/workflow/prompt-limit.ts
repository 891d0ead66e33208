import { TrinityError } from '../base/error.js'
import type { Tokenizer } from '../model/index.js'
import type { ModelLimits } from './sampling.js'

/** Tokens beyond the limit after which the end of a text cannot change its beginning. */
const MARGIN = 64

/** How long a prompt may be. */
export class PromptLimit {
  /** The most tokens of a prompt. */
  readonly most: number
  /** Characters of a text that are enough to say that it is too long. */
  readonly looked: number
  readonly #tokenizer: Tokenizer
  readonly #limits: ModelLimits

  constructor(tokenizer: Tokenizer, limits: ModelLimits) {
    const { maxModelLen, maxPromptTokens } = limits
    this.most = Math.max(1, Math.min(maxPromptTokens ?? maxModelLen, maxModelLen - 1))
    this.looked = (this.most + MARGIN) * tokenizer.longestToken
    this.#tokenizer = tokenizer
    this.#limits = limits
  }

  /**
   * The tokens of a prompt. Of a text that cannot fit only the beginning is looked at, where that alone is too long: a row
   * of megabytes would take minutes to say the same.
   */
  encode(text: string): Int32Array {
    const begun = text.length > this.looked ? this.#tokenizer.encode(text.slice(0, this.looked)) : undefined
    return begun && begun.length >= this.most + MARGIN ? begun : this.#tokenizer.encode(text)
  }

  isExceeded(tokens: number): boolean {
    const { maxModelLen, maxPromptTokens } = this.#limits
    return tokens > (maxPromptTokens ?? Number.POSITIVE_INFINITY) || tokens >= maxModelLen
  }

  /** Each message or tool is a token or more: those that cannot fit are refused before a template looks at all of them. */
  checkCount(messages: number): void {
    if (this.#limits.truncatePrompts || !this.isExceeded(messages)) return
    throw this.tooLong(`${messages} tokens or more`, 'messages')
  }

  /** Where only the model itself sets a limit, whoever asked knows no key of a configuration. */
  tooLong(count: string, asked: string): TrinityError {
    return new TrinityError('workflow/prompt-too-long', `the prompt has ${count}; the limit is ${this.most}`, {
      ...(this.#limits.maxPromptTokens == null
        ? { path: asked, hint: 'shorten it: with the answer it must fit into the model' }
        : {
            path: 'model.max_prompt_tokens',
            hint: 'raise max_prompt_tokens, shorten the prompt, or set enable_prompt_truncation: true',
          }),
    })
  }
}
