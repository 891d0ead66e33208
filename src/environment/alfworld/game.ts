import { type Logic, type LogicSource, logicOf } from './logic.js'
import { type Choice, Menu } from './menu.js'
import { readableNames } from './names.js'
import { Compiler } from './pddl/compile.js'
import type { Formula } from './pddl/formula.js'
import { readProblem } from './pddl/problem.js'
import { type Operator, Schema } from './pddl/schema.js'
import { Scope } from './pddl/scope.js'
import type { Test } from './pddl/search.js'
import { type State, startOf } from './pddl/state.js'
import type { Entity } from './text/expression.js'
import type { Subject } from './text/grammar.js'
import type { Context } from './text/query.js'
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

/** One game: what there is, what can be done, how it reads. It holds no state, so any number of episodes share it. */
export class Game {
  readonly task: string
  /** The way to the goal that came with the game. */
  readonly walkthrough: readonly string[] | undefined
  readonly start: State
  readonly scope: Scope
  readonly goal: Formula
  readonly #logic: Logic
  readonly #entities: readonly Entity[]
  readonly #menus: readonly Menu[]
  readonly #isGoal: (state: State) => boolean
  readonly #own: ReadonlyMap<string, string>
  readonly #kinds: Uint8Array[] = []
  readonly #commands = new Map<Schema, Map<number, string>>()

  constructor({ logic, problem, task, walkthrough, path }: GameSource, wording: WordingName) {
    this.#logic = logicOf(logic, wording)
    const { domain } = this.#logic
    const read = readProblem(problem, domain, path)
    this.goal = read.goal
    this.task = task
    this.walkthrough = walkthrough?.map((command) => rewordedCommand(command, wording))
    this.scope = new Scope(domain, read)
    this.start = startOf(this.scope.start)
    this.#entities = entitiesOf(this.scope)
    const changing = new Set(domain.actions.flatMap(({ effects }) => effects.map(({ predicate }) => predicate)))
    this.#menus = domain.actions.map((action) => {
      const { mentioned } = this.#logic.texts.get(action.name)!
      const command = (operator: Operator, state: State) => this.#command(operator, state)
      return new Menu(new Schema(action, this.scope), this.scope, changing, !mentioned, command)
    })
    this.#isGoal = goalOf(this.goal, this.scope)
    this.#own = new Map([['task', task]])
  }

  isWon(state: State): boolean {
    return this.#isGoal(state)
  }

  /** What the player reads first. */
  intro(state: State): string {
    return this.#logic.intro([], this.#subject(state))
  }

  /** Everything that can be done, action by action. */
  choices(state: State): readonly (readonly Choice[])[] {
    const all: (readonly Choice[])[] = []
    for (const menu of this.#menus) {
      const choices = menu.choices(state)
      if (choices.length > 0) all.push(choices)
    }
    return all
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
    const context: Context = []
    for (let at = 0; at < values.length; at++) context[placeholders[at]] = values[at]
    return context
  }

  #subject({ told }: State): Subject {
    return { facts: { told, kind: (placeholder) => this.#kind(placeholder) }, entities: this.#entities, own: this.#own }
  }

  #kind(placeholder: number): Uint8Array {
    this.#kinds[placeholder] ??= this.scope.kind(this.#logic.placeholders.types[placeholder])
    return this.#kinds[placeholder]
  }
}

/** Only what some fact is about has a number of its own. */
function entitiesOf({ names, types, start }: Scope): Entity[] {
  const isUsed = new Uint8Array(names.length)
  for (const { rows } of start) for (const row of rows) for (const object of row) isUsed[object] = 1
  const readable = readableNames(names.filter((_, object) => isUsed[object] === 1))
  return names.map((id, object) => ({
    id,
    name: readable.get(id) ?? id,
    type: types[object],
    definite: 'the',
    indefinite: 'a',
  }))
}

function goalOf(goal: Formula, scope: Scope): (state: State) => boolean {
  const compiler = new Compiler(scope)
  const test: Test = compiler.test(goal, new Map())
  const bind = [...compiler.initial]
  return ({ truth }) => test(bind, truth)
}
