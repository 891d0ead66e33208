import { TrinityError } from '../base/error.js'
import type { ChatMessage } from '../model/index.js'
import type { EpisodeSpec, PastTurn, Persona, Transition, Turn } from './environment.js'
import type { OpenEnvironment, Snapshot } from './open.js'

export interface EpisodeParts {
  readonly environment: OpenEnvironment
  readonly persona: Persona
  readonly maxSteps: number
  readonly signal?: AbortSignal
}

/** An episode as a conversation: what the model is told, and what its replies do. */
export class Episode {
  readonly #parts: EpisodeParts
  #turn: Turn
  readonly #system: string | undefined
  #prompt: string

  private constructor(parts: EpisodeParts, turn: Turn) {
    this.#parts = parts
    this.#turn = turn
    this.#system = parts.persona.system?.(turn)
    this.#prompt = parts.persona.prompt(turn)
  }

  /** Resets the environment. */
  static async begin(parts: EpisodeParts, spec: EpisodeSpec): Promise<Episode> {
    const { environment, maxSteps, signal } = parts
    const { observation, goal } = await environment.reset(spec, signal)
    const admissible = await environment.admissible(signal)
    return new Episode(parts, { step: 0, maxSteps, goal, observation, admissible, past: [] })
  }

  get turn(): Turn {
    return this.#turn
  }

  /** The user's message of this turn. */
  get prompt(): string {
    return this.#prompt
  }

  get #last(): Transition | undefined {
    return this.#turn.past.at(-1)?.transition
  }

  /** The end of the world's story, or the limit of steps. */
  get over(): boolean {
    return this.#last?.done === true || this.#turn.step >= this.#turn.maxSteps
  }

  /** What the episode is worth so far. */
  get score(): number {
    return this.#last?.score ?? this.#turn.past.reduce((sum, { transition }) => sum + transition.reward, 0)
  }

  get won(): boolean {
    return this.#last?.won === true
  }

  /** Replies in which there was no action. */
  get invalid(): number {
    return this.#turn.past.filter(({ action }) => action === undefined).length
  }

  /** Actions that were the same as the one before. */
  get repeated(): number {
    const { past } = this.#turn
    return past.filter(({ action }, at) => action !== undefined && action === past[at - 1]?.action).length
  }

  /** The conversation up to this turn, with at most so many earlier turns. */
  messages(history: number = Number.POSITIVE_INFINITY): ChatMessage[] {
    const { past } = this.#turn
    return this.#told(history === 0 ? [] : past.slice(-history), this.#prompt)
  }

  /** The conversation as it was before the reply of an earlier step. */
  messagesAt(step: number): ChatMessage[] {
    const { past } = this.#turn
    return this.#told(past.slice(0, step), past[step].prompt)
  }

  #told(past: readonly PastTurn[], prompt: string): ChatMessage[] {
    return [
      ...(this.#system === undefined ? [] : [{ role: 'system', content: this.#system }]),
      ...past.flatMap(({ prompt, reply }) => [
        { role: 'user', content: prompt },
        { role: 'assistant', content: reply },
      ]),
      { role: 'user', content: prompt },
    ]
  }

  /** Takes the model's reply. Every reply is a step, whether there is an action in it or not. */
  reply(text: string): Promise<Transition> {
    return this.#take(text, this.#parts.persona.action(text, this.#turn))
  }

  /** Takes an action as it is, from somebody who is not asked for the form of a reply. */
  act(action: string): Promise<Transition> {
    return this.#take(action, action)
  }

  /** Takes the first replies of an episode again. A world in which they lead elsewhere is an error. */
  async repeat(past: readonly PastTurn[], steps: number): Promise<void> {
    for (let step = 0; ; step++) {
      if (step < past.length && past[step].prompt !== this.#prompt) throw notTheSame(this.#parts.environment.name, step)
      if (step === steps) return
      await this.reply(past[step].reply)
    }
  }

  async #take(reply: string, said: string | Transition): Promise<Transition> {
    const { environment, signal } = this.#parts
    const { observation, goal, step, maxSteps, past } = this.#turn
    const action = typeof said === 'string' ? said : undefined
    const transition = typeof said === 'string' ? await environment.step(said, signal) : said
    const turn: PastTurn = { observation, prompt: this.#prompt, reply, action, transition }
    this.#go({
      step: step + 1,
      maxSteps,
      goal,
      observation: transition.observation,
      admissible: transition.done ? [] : await environment.admissible(signal),
      past: [...past, turn],
    })
    return transition
  }

  /** This place of the episode, for worlds that can come back to it. */
  async mark(): Promise<EpisodeMark> {
    return { turn: this.#turn, snapshot: await this.#parts.environment.snapshot() }
  }

  /** Back to a place, also from the end. */
  async back({ turn, snapshot }: EpisodeMark): Promise<void> {
    await this.#parts.environment.restore(snapshot)
    this.#go(turn)
  }

  #go(turn: Turn): void {
    this.#turn = turn
    this.#prompt = this.#parts.persona.prompt(turn)
  }
}

function notTheSame(world: string, step: number): TrinityError {
  return new TrinityError('environment/replay', `environment '${world}': step ${step} is not what it was before`, {
    hint: 'the same row and seed, and then the same actions, must give the same episode',
  })
}

/** A place of an episode to come back to. */
export interface EpisodeMark {
  readonly turn: Turn
  readonly snapshot: Snapshot
}
