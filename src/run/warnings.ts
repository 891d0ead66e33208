import type { Resolved } from '../config/index.js'
import { singleAnswer } from './single-answer.js'
import { badVariables } from './variables.js'

/** What is worth a word before anything runs. */
export function warningsOf({ stages }: Resolved): string[] {
  const lonely = stages.flatMap(({ config }) => singleAnswer(config) ?? [])
  return [...badVariables(), ...new Set(lonely)]
}
