import { type Command, call, construct } from '../py4j/command.js'
import type { Gateway } from '../py4j/gateway.js'
import type { JavaReference } from '../py4j/value.js'
import { get, privateField } from './prepare.js'

/** What an episode needs of the variables that all episodes of a process share. */
export interface OwnGlobals {
  /** Its random numbers. */
  readonly random: JavaReference
  /** The number of the next thing that comes into being. */
  nextId: bigint
  /** How its world is made easier, as the simulator lists it. */
  simplifications: string
}

const RANDOM = 'scala.util.Random'
const IDS = 'util.UniqueIdentifier'
const SIMPLIFIER = 'main.scala.scienceworld.runtime.SimplifierProcessor'

/**
 * The simulator was made for one episode per process: random numbers, the numbering of things and the simplifications
 * are variables of the process. Before an episode goes on, they are set to its own.
 */
export class Globals {
  readonly #holder: JavaReference
  readonly #random: JavaReference
  /** For what must not draw from an episode's numbers. */
  readonly #spare: JavaReference
  #owner: OwnGlobals | undefined
  /** Undefined: not known. */
  #simplifications: string | undefined

  private constructor(holder: JavaReference, random: JavaReference, spare: JavaReference) {
    this.#holder = holder
    this.#random = random
    this.#spare = spare
  }

  static async find(gateway: Gateway): Promise<Globals> {
    const module = await privateField(gateway, `${RANDOM}$`, 'MODULE$')
    const holder = await get(gateway, module, null)
    gateway.free(module)
    const [spare] = await gateway.send('random numbers', [construct('java.util.Random')])
    return new Globals(holder, await privateField(gateway, RANDOM, 'self'), spare as JavaReference)
  }

  /** Sets them to those of an episode, where they are not. */
  enter(own: OwnGlobals): Command[] {
    if (this.#owner === own) return []
    this.#owner = own
    const commands = [this.#draw(own.random), call(IDS, 'count_$eq', own.nextId)]
    if (this.#simplifications === own.simplifications) return commands
    this.#simplifications = own.simplifications
    return [...commands, call(SIMPLIFIER, 'parseSimplificationStr', own.simplifications)]
  }

  /** Around a question: it draws from numbers that are always the same, and nothing of it stays. */
  aside(own: OwnGlobals): { before: Command[]; after: Command[] } {
    return {
      before: [...this.enter(own), this.#draw(this.#spare), call(this.#spare, 'setSeed', 0n)],
      after: [this.#draw(own.random), call(IDS, 'count_$eq', own.nextId)],
    }
  }

  /** Loading a task sets the simplifications. */
  forget(): void {
    this.#simplifications = undefined
  }

  /** Something happens that belongs to no episode; random numbers are drawn from these. */
  outside(random: JavaReference): Command[] {
    this.#owner = undefined
    return [this.#draw(random)]
  }

  /** What is asked after an episode went on, for `nextId`. */
  get nextId(): Command {
    return call(IDS, 'count')
  }

  #draw(random: JavaReference): Command {
    return call(this.#random, 'set', this.#holder, random)
  }
}
