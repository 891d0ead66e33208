import { Automaton } from './automaton.js'
import type { Expression, Expressions } from './expression.js'

/** Whether a text belongs to an expression. */
export function recognizer(all: Expressions, expression: Expression): (text: string | Uint8Array) => boolean {
  const automaton = new Automaton(all)
  const start = automaton.state(expression)
  return (text) => {
    let state = start
    for (const byte of typeof text === 'string' ? Buffer.from(text) : text) state = automaton.next(state, byte)
    return automaton.isFinal(state)
  }
}
