import { TrinityError } from '../../base/error.js'
import { ANY, type Spelling } from './characters.js'
import { EMPTY, type Expression, type Expressions } from './expression.js'
import { type Pattern, parsePattern } from './pattern-syntax.js'

/** `whole`: the pattern describes all of the text. `somewhere`: a part of it, unless anchors say more. */
export type Coverage = 'whole' | 'somewhere'

/** The texts that a pattern fits, written in this spelling. */
export function patternExpression(
  all: Expressions,
  source: string,
  options: { readonly spelling: Spelling; readonly covers: Coverage; readonly path: string },
): Expression {
  const { spelling, covers, path } = options
  const around = covers === 'whole' ? EMPTY : all.repeat(spelling(all, ANY), 0)

  /** `atStart`, `atEnd`: only the text's edge is beyond, and what stands there may be anything unless an anchor forbids. */
  const build = (pattern: Pattern, atStart: boolean, atEnd: boolean): Expression => {
    switch (pattern.kind) {
      case 'alt':
        return all.alt(...pattern.parts.map((part) => build(part, atStart, atEnd)))
      case 'seq':
        return sequence(pattern.parts, atStart, atEnd)
      case 'start':
      case 'end':
        return sequence([pattern], atStart, atEnd)
      case 'set':
        return wrapped(spelling(all, pattern.set), atStart, atEnd)
      case 'repeat':
        return wrapped(all.repeat(build(pattern.part, false, false), pattern.min, pattern.max), atStart, atEnd)
    }
  }

  const sequence = (parts: readonly Pattern[], atStart: boolean, atEnd: boolean): Expression => {
    let [from, to] = [0, parts.length]
    while (atStart && from < to && parts[from].kind === 'start') from++
    while (atEnd && to > from && parts[to - 1].kind === 'end') to--
    const before = atStart && from === 0
    const after = atEnd && to === parts.length
    if (from === to) return wrapped(EMPTY, before, after)
    const inner = parts.slice(from, to)
    if (inner.some(({ kind }) => kind === 'start' || kind === 'end')) throw misplaced()
    // a group at the edge has anchors of its own, or none
    const built = inner.map((part, i) => build(part, before && i === 0, after && i === inner.length - 1))
    return all.seq(...built)
  }

  const wrapped = (inner: Expression, before: boolean, after: boolean) =>
    all.seq(before ? around : EMPTY, inner, after ? around : EMPTY)

  const misplaced = () =>
    new TrinityError('grammar/pattern', `the pattern ${source.slice(0, 80)} has an anchor in its middle`, {
      path,
      hint: 'put ^ first and $ last, or leave them out',
    })

  return build(parsePattern(source, path), true, true)
}
