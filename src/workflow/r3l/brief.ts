import type { Episode } from '../../environment/index.js'
import type { ChatMessage } from '../../model/index.js'

/** For small models, which learn by training what a report is: the episode as it was said, and how it ended. */
export function briefReflection({ turn: { past }, won }: Pick<Episode, 'turn' | 'won'>): ChatMessage[] {
  const steps = past.map(({ prompt, reply }, step) => `${step}: ${prompt}\n${reply}`)
  return [{ role: 'user', content: ['Reflect.', ...steps, won ? 'Success' : 'Failure'].join('\n') }]
}

/** The advice alone. */
export function briefCorrection({ improvement_suggestion: advice }: Readonly<Record<string, unknown>>): string {
  return String(advice)
}
