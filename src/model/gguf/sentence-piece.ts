import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'
import type { TokenizerParts } from './tokenizer.js'

/** Whether a tokenizer.json is what Transformers makes of a SentencePiece model: BPE over characters, `▁` for spaces, bytes as a last resort. */
export function isSentencePiece(tokenizer: JsonObject): boolean {
  const { model } = tokenizer
  if (!isJsonObject(model) || model.type !== 'BPE' || model.byte_fallback !== true) return false
  return JSON.stringify([tokenizer.normalizer, tokenizer.pre_tokenizer]).includes('▁')
}

/** SentencePiece joins the pair whose result scores highest: the earlier a merge, the higher. */
export function pieceScores(merges: readonly (readonly [string, string])[]): Map<string, number> {
  const scores = new Map<string, number>()
  for (const [rank, [left, right]] of merges.entries()) {
    const text = left + right
    if (!scores.has(text)) scores.set(text, -1 - rank)
  }
  return scores
}

/** The merges behind such scores: every way to join two pieces into a third, best result first. */
export function mergesOf(tokens: readonly string[], scores: ArrayLike<number>): string[] {
  const ids = new Map(tokens.map((token, id) => [token, id]))
  const found: { left: number; right: number; score: number }[] = []
  for (const [id, token] of tokens.entries()) {
    const letters = [...token]
    let head = ''
    for (const letter of letters.slice(0, -1)) {
      head += letter
      const left = ids.get(head)
      const right = ids.get(token.slice(head.length))
      if (left !== undefined && right !== undefined) found.push({ left, right, score: scores[id] })
    }
  }
  found.sort((a, b) => b.score - a.score || a.left - b.left || a.right - b.right)
  return found.map(({ left, right }) => `${tokens[left]} ${tokens[right]}`)
}

/** `prefix`: a space is put before every text, and taken away when it is read back. */
export function pieceParts(prefix: boolean): TokenizerParts {
  const prepend = { type: 'Prepend', prepend: '▁' }
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: '▁' }
  const back = { type: 'Replace', pattern: { String: '▁' }, content: ' ' }
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 }
  return {
    model: { unk_token: '<unk>', byte_fallback: true, fuse_unk: true },
    around: {
      normalizer: { type: 'Sequence', normalizers: prefix ? [prepend, replace] : [replace] },
      pre_tokenizer: null,
      decoder: {
        type: 'Sequence',
        decoders: [back, { type: 'ByteFallback' }, { type: 'Fuse' }, ...(prefix ? [strip] : [])],
      },
    },
    addsBos: true,
  }
}
