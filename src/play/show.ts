import type { Episode } from '../environment/index.js'

/** Actions that are shown without being asked for. */
const SHOWN = 12

/** What a player sees at the beginning. */
export function opening(title: string, { turn }: Episode): string {
  const goal = turn.goal !== undefined && turn.goal !== turn.observation ? [`goal: ${turn.goal}`] : []
  return [title, ...goal, '', seen(turn)].join('\n')
}

/** What is seen now, and what can be done. */
export function seen({ observation, admissible }: Episode['turn']): string {
  const few = admissible && admissible.length > 0 && admissible.length <= SHOWN
  const many = admissible && admissible.length > SHOWN ? [`(${admissible.length} actions: :admissible lists them)`] : []
  return [observation, ...(few ? [numbered(admissible)] : many)].join('\n')
}

/** Each with the number that chooses it. */
export function numbered(actions: readonly string[]): string {
  return actions.map((action, at) => `  :${at + 1} ${action}`).join('\n')
}

/** What the last step did. */
export function outcome({ turn, score }: Episode): string {
  const reward = turn.past.at(-1)?.transition.reward ?? 0
  return `step ${turn.step} of ${turn.maxSteps}, reward ${figure(reward)}, score ${figure(score)}`
}

/** How the episode ended. `fits`: whether the model could still take the whole conversation. */
export function ending({ won, score, turn }: Episode, fits = true): string {
  const unwon = turn.past.at(-1)?.transition.done ? 'over' : 'out of steps'
  const end = won ? 'won' : fits ? unwon : 'the conversation does not fit into the model'
  return `${end}: score ${figure(score)} after ${turn.step} ${turn.step === 1 ? 'step' : 'steps'}`
}

/** All that a model would be told now. */
export function told(episode: Episode): string {
  return episode
    .messages()
    .map(({ role, content }) => `[${role}]\n${content}`)
    .join('\n\n')
}

export function figure(value: number): string {
  return String(Math.round(value * 10_000) / 10_000)
}
