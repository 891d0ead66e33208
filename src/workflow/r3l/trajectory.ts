import type { Episode } from '../../environment/index.js'
import type { StudyWorld } from './study-world.js'

/** An episode as those read it who think about it afterwards: rules, steps from 0 on, and how it ended. */
export function trajectoryText(episode: Episode, { unit }: Pick<StudyWorld, 'unit'>): string {
  const asked = episode.messages()[0]
  const rules = asked.role === 'system' ? [`Rules and context:\n${asked.content}\n${'='.repeat(RULER[unit])}`] : []
  const [question, answer] = HEADINGS[unit]
  const steps = episode.turn.past.map(
    ({ prompt, reply }, step) => `Step ${step}\n${question}:\n${prompt}\n${answer}:\n${reply}`,
  )
  return [...rules, ...steps, `Feedback:\n${feedback(episode, unit)}`].join('\n\n')
}

const RULER = { steps: 30, attempts: 50 }
const HEADINGS = {
  steps: ['Observation', 'Thought and action of the agent'],
  attempts: ['User', 'Assistant response'],
} as const

/** How the episode ended, in words. */
export function feedback({ won, score, turn: { step, maxSteps, observation } }: Episode, unit: string): string {
  const used = `${step}/${maxSteps} ${unit}`
  const reward = `The reward is ${Number(score.toFixed(4))}/1.0`
  if (won && step < maxSteps) return `The task is done. ${reward}, with ${used}. The world says: ${observation}`
  if (won) return `The task is done, with the last of the ${unit}. ${reward}, with ${used}.`
  if (step < maxSteps) return `The task failed before its end. ${reward}, after ${used}. The world says: ${observation}`
  return `The task failed: there are no ${unit} left. ${reward}, after ${used}. The world says: ${observation}`
}
