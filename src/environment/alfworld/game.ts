import { type ActionText, type Logic, type LogicSource, logicOf } from './logic.js'
import { type CommandOf, Menu } from './menu.js'
import { readableNames } from './names.js'
import { Compiler } from './pddl/compile.js'
import type { Formula } from './pddl/formula.js'
import { readProblem } from './pddl/problem.js'
import { Schema, type Values } from './pddl/schema.js'
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
      const schema = new Schema(action, this.scope)
      const isChanging = this.#textOf(schema).mentioned === undefined
      return new Menu(schema, this.scope, changing, isChanging, this.#commandOf(schema))
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

  /** Commands for everything that can be done, in order, action by action. */
  commands(state: State): readonly (readonly string[])[] {
    const all: (readonly string[])[] = []
    for (const menu of this.#menus) {
      const commands = menu.commands(state)
      if (commands.length > 0) all.push(commands)
    }
    return all
  }

  /** Does what a command says; undefined: it is not possible. Where several actions read alike, the first counts. */
  step(command: string, state: State): { readonly state: State; readonly feedback: string } | undefined {
    const menu = this.#menus.find((one) => one.commands(state).includes(command))
    const values = menu?.values(state, (_, own) => own === command)
    if (!menu || !values) return undefined
    const after = menu.schema.apply(values, state)
    const { feedback, placeholders } = this.#textOf(menu.schema)
    return { state: after, feedback: feedback(contextOf(placeholders, values), this.#subject(after)) }
  }

  /** The command for an action of this name that has to do with these objects; undefined: it is not possible. */
  commandFor(action: string, objects: readonly number[], state: State): string | undefined {
    let command: string | undefined
    this.#menus
      .find(({ schema }) => schema.action.name === action)
      ?.values(state, (values, own) => {
        if (objects.every((object) => values.includes(object))) command = own
        return command !== undefined
      })
    return command
  }

  /** How commands for an action are written. Most are the same whatever has happened: these are written once. */
  #commandOf(schema: Schema): CommandOf {
    const { command, placeholders, mentioned } = this.#textOf(schema)
    const write: CommandOf = (values, state) => command(contextOf(placeholders, values), this.#subject(state))
    if (!mentioned) return write
    const known = new Map<number, string>()
    const count = this.#entities.length
    return (values, state) => {
      let key = 0
      for (const at of mentioned) key = key * count + values[at]
      let text = known.get(key)
      if (text === undefined) {
        text = write(values, state)
        known.set(key, text)
      }
      return text
    }
  }

  #textOf({ action }: Schema): ActionText {
    return this.#logic.texts.get(action.name)!
  }

  #subject({ told }: State): Subject {
    return { facts: { told, kind: (placeholder) => this.#kind(placeholder) }, entities: this.#entities, own: this.#own }
  }

  #kind(placeholder: number): Uint8Array {
    this.#kinds[placeholder] ??= this.scope.kind(this.#logic.placeholders.types[placeholder])
    return this.#kinds[placeholder]
  }
}

function contextOf(placeholders: readonly number[], values: Values): Context {
  const context: Context = []
  for (let at = 0; at < placeholders.length; at++) context[placeholders[at]] = values[at]
  return context
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
