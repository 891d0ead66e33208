import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers'

/**
 * The package splits with JavaScript's classes where the original splits with Unicode's: `\s` there is White_Space (with
 * U+0085, without U+FEFF), and a digit is any number (½ ① Ⅷ 𝟘), not only 0 to 9.
 */
const byteLevel =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu

interface PreTokenizer {
  readonly config?: { readonly type?: string; readonly individual_digits?: boolean }
  /** Of a sequence. */
  readonly tokenizers?: readonly PreTokenizer[]
  pattern?: RegExp
}

export function useUnicodeClasses(tokenizer: HfTokenizer): void {
  const visit = (part: PreTokenizer | null | undefined): void => {
    if (!part) return
    if (part.config?.type === 'ByteLevel') part.pattern = byteLevel
    if (part.config?.type === 'Digits')
      part.pattern = part.config.individual_digits ? /\P{N}+|\p{N}/gu : /\P{N}+|\p{N}+/gu
    part.tokenizers?.forEach(visit)
  }
  visit((tokenizer as unknown as { pre_tokenizer: PreTokenizer | null }).pre_tokenizer)
}
