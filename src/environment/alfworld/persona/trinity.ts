import type { Persona } from '../../environment.js'
import { NOTHING_HAPPENS } from '../world.js'
import { refused } from './transitions.js'

/** What the prompts of a persona depend on. */
export interface Manner {
  /** The commands with their meaning. */
  readonly commands: string
  /** What an episode is worth that does not reach the goal. */
  readonly failure: number
}

/** What the game says, and a word of help where it did not understand. */
export function observed(observation: string): string {
  const help = ' Check that the action is possible now and that your reply has the right form.'
  return `Observation: ${observation}${observation.includes(NOTHING_HAPPENS) ? help : ''}`
}

/** `<think>` and `<action>`; only the action is read. What is no action changes nothing. */
export function trinity({ commands, failure }: Manner): Persona {
  const rules = `You act in a house that you know only from text, to carry out a task.

In every turn think first, then take exactly one action. Write the thought as <think>…</think> and the action as <action>…</action>. Ask nobody for help: nobody but the game answers you.

The actions are:
${commands}

A reply looks like this:
<think>A mug is often on a countertop, so I look there first.</think><action>go to countertop 1</action>`
  return {
    system: () => rules,
    prompt: ({ observation }) => observed(observation),
    action: (reply) => /<action>([\s\S]*?)(?:<\/?action>|$)/.exec(reply)?.[1].trim() || refused(failure),
  }
}
