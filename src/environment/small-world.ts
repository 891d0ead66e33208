import { z } from 'zod'
import type { Persona, Transition, Turn } from './environment.js'
import { lastNamed } from './reply.js'

/** How much a world says: all its rules, or only what is seen, for small models that learn the rest by training. */
export const promptStyle = z.enum(['full', 'brief']).default('full').describe('How much the prompt explains.')
export type PromptStyle = z.output<typeof promptStyle>

/** Actions by name, numbered; other words may mean the same. */
export class ActionNames {
  readonly names: readonly string[]
  readonly #numbers: ReadonlyMap<string, number>

  constructor(names: readonly string[], also: Readonly<Record<string, string>> = {}) {
    this.names = names
    const others = Object.entries(also).map(([word, name]): [string, number] => [word, names.indexOf(name)])
    this.#numbers = new Map([...names.map((name, i): [string, number] => [name, i]), ...others])
  }

  /** Every word that means an action. */
  get words(): ReadonlySet<string> {
    return new Set(this.#numbers.keys())
  }

  /** Capitals and blanks around do not matter. */
  numberOf(text: string): number | undefined {
    return this.#numbers.get(text.trim().toLowerCase())
  }
}

/** A world with a fixed list of actions, as it talks with a model. */
export interface Talk {
  readonly actions: ActionNames
  readonly rules: string
  prompt(turn: Turn): string
  /** What a reply holds where an action belongs; undefined: it has not the form that the rules ask for. */
  read(reply: string): string | undefined
  /** What happens to a reply without an action. */
  refuse(observation: string): Transition
}

export function personaOf(style: PromptStyle, { actions, rules, prompt, read, refuse }: Talk): Persona {
  if (style === 'brief') {
    const { words } = actions
    return {
      prompt: ({ observation }) => observation,
      action: (reply, { observation }) => lastNamed(reply, words) ?? refuse(observation),
    }
  }
  return {
    system: () => rules,
    prompt,
    action: (reply, { observation }) => {
      const said = read(reply)
      return said !== undefined && actions.numberOf(said) !== undefined ? said : refuse(observation)
    },
  }
}

/** Nothing happens; the world says what it said before. */
export function refusal(observation: string, reward = 0): Transition {
  return { observation, reward, done: false, metrics: { valid_action: 0 } }
}
