import { type Logic, type LogicSource, logicOf } from './logic.js'
import { readableNames } from './names.js'
import { Compiler } from './pddl/compile.js'
import { type Problem, readProblem } from './pddl/problem.js'
import { type Operator, Schema } from './pddl/schema.js'
import { Scope } from './pddl/scope.js'
import type { Test } from './pddl/search.js'
import { type State, startOf } from './pddl/state.js'
import type { Entity } from './text/expression.js'
import type { Subject } from './text/grammar.js'
import { bound, type Context, NOTHING } from './text/query.js'
import { rewordedCommand, type WordingName } from './wording.js'

/** All that makes a game. */
export interface GameSource {
  readonly logic: LogicSource
  readonly problem: string
  /** The sentence that says what to do. */
  readonly task: string
  readonly walkthrough?: readonly string[]
  readonly path: string
}

/** A possible action and the command for it. */
export interface Choice {
  readonly command: string
  readonly operator: Operator
}

/** One game: what there is, what can be done, how it reads. It holds no state, so any number of episodes share it. */
export class Game {
  readonly task: string
  /** The way to the goal that came with the game. */
  readonly walkthrough: readonly string[] | undefined
  readonly start: State
  readonly scope: Scope
  readonly problem: Problem
  readonly #logic: Logic
  readonly #entities: readonly Entity[]
  readonly #schemas: readonly Schema[]
  readonly #isGoal: (state: State) => boolean
  readonly #own: ReadonlyMap<string, string>
  readonly #kinds: Uint8Array[] = []
  readonly #commands = new Map<Schema, Map<number, string>>()

  constructor({ logic, problem, task, walkthrough, path }: GameSource, wording: WordingName) {
    this.#logic = logicOf(logic, wording)
    const { domain } = this.#logic
    this.problem = readProblem(problem, domain, path)
    this.task = task
    this.walkthrough = walkthrough?.map((command) => rewordedCommand(command, wording))
    this.scope = new Scope(domain, this.problem)
    this.start = startOf(this.scope.start)
    this.#entities = entitiesOf(this.problem, this.scope)
    this.#schemas = domain.actions.map((action) => new Schema(action, this.scope))
    this.#isGoal = goalOf(this.problem, this.scope)
    this.#own = new Map([['task', task]])
  }

  isWon(state: State): boolean {
    return this.#isGoal(state)
  }

  /** What the player reads first. */
  intro(state: State): string {
    return this.#logic.intro(NOTHING, this.#subject(state))
  }

  /** Everything that can be done, by command; where several actions read alike, the first counts. */
  choices(state: State): Choice[] {
    const operators: Operator[] = []
    for (const schema of this.#schemas) schema.collect(state.truth, operators)
    return operators.map((operator) => ({ command: this.#command(operator, state), operator }))
  }

  apply({ schema, values }: Operator, state: State): State {
    return schema.apply(values, state)
  }

  /** What is told in the state after the action. */
  feedback({ schema, values }: Operator, after: State): string {
    const { feedback, placeholders } = this.#logic.texts.get(schema.action.name)!
    return feedback(this.#context(placeholders, values), this.#subject(after))
  }

  name(object: number): string {
    return this.#entities[object].name
  }

  #command({ schema, values }: Operator, state: State): string {
    const { command, placeholders, mentioned } = this.#logic.texts.get(schema.action.name)!
    if (!mentioned) return command(this.#context(placeholders, values), this.#subject(state))
    let known = this.#commands.get(schema)
    if (!known) {
      known = new Map()
      this.#commands.set(schema, known)
    }
    let key = 0
    for (const at of mentioned) key = key * this.#entities.length + values[at]
    let text = known.get(key)
    if (text === undefined) {
      text = command(this.#context(placeholders, values), this.#subject(state))
      known.set(key, text)
    }
    return text
  }

  #context(placeholders: readonly number[], values: readonly number[]): Context {
    return bound(NOTHING, placeholders, values, this.#logic.vocabulary)
  }

  #subject({ told }: State): Subject {
    return { facts: { told, kind: (placeholder) => this.#kind(placeholder) }, entities: this.#entities, own: this.#own }
  }

  #kind(placeholder: number): Uint8Array {
    this.#kinds[placeholder] ??= this.scope.kind(this.#logic.vocabulary.types[placeholder])
    return this.#kinds[placeholder]
  }
}

/** Only what some fact is about has a number of its own. */
function entitiesOf({ init }: Problem, { names, types }: Scope): Entity[] {
  const readable = readableNames([...new Set(init.flatMap(({ terms }) => terms))])
  return names.map((id, at) => ({
    id,
    name: readable.get(id) ?? id,
    type: types[at],
    definite: 'the',
    indefinite: 'a',
  }))
}

function goalOf({ goal }: Problem, scope: Scope): (state: State) => boolean {
  const compiler = new Compiler(scope)
  const test: Test = compiler.test(goal, new Map())
  const bind = [...compiler.initial]
  return ({ truth }) => test(bind, truth)
}
