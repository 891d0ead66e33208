import { createHash } from 'node:crypto'
import type { LogicSource } from '../logic.js'

/** Texts of ALFWorld that play exactly as ours, which the tests show with the real engine. Of json_2.1.1. */
const DOMAINS = new Set(['9549a55d7ecd967fcbd3f32645c16b56b27a823bc72f2ab7c7e43660f794a063'])
const GRAMMARS = new Set(['0799a5c6345455136e2194804471d9e4a277985bb1817c9817917e4c39959816'])

/** A game with this logic plays the same with the one that is built in. */
export function isBuiltIn({ domain, grammar }: Pick<LogicSource, 'domain' | 'grammar'>): boolean {
  return DOMAINS.has(digest(domain.replace(/;.*/g, ''))) && GRAMMARS.has(digest(grammar))
}

/** Layout does not matter. */
function digest(text: string): string {
  return createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex')
}
