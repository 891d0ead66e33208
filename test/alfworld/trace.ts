import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { DOMAIN } from '../../src/environment/alfworld/builtin/domain.js'
import { GRAMMAR } from '../../src/environment/alfworld/builtin/grammar.js'
import { AlfWorld } from '../../src/environment/alfworld/index.js'

/** What was seen at the start, or after a command. */
export interface Seen {
  readonly observation: string
  readonly admissible: readonly string[]
}

/** An episode as the real textworld plays it. */
export interface Trace {
  readonly id: string
  readonly start: Seen
  readonly steps: readonly (Seen & { command: string; score: number; done: boolean })[]
}

/** What the oracle is asked for: the fields of a game, and how it is to be played. */
export interface Asked {
  readonly id: string
  readonly task: string
  readonly pddl_problem: string
  readonly pddl_domain?: string
  readonly grammar?: string
  readonly walkthrough?: readonly string[]
  readonly seed?: number
  readonly steps?: number
  readonly commands?: readonly string[]
}

const script = fileURLToPath(new URL('oracle.py', import.meta.url))

/** Lets the real textworld play games, one after another. */
export function askOracle(python: string, games: readonly Asked[]): Trace[] {
  const input = games.map((game) => JSON.stringify({ ...game, ...logicOf(game) })).join('\n')
  const { status, stdout, stderr } = spawnSync(python, [script], { input, encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (status !== 0) throw new Error(`the oracle failed: ${stderr}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Games without a logic of their own get ours, with their task. */
function logicOf({ pddl_domain = DOMAIN, grammar = GRAMMAR, task }: Asked) {
  return { pddl_domain, grammar: grammar.replace('"task":[{"rhs":""}]', `"task":[{"rhs":${JSON.stringify(task)}}]`) }
}

/** Plays the trace again, and expects to see the same, byte for byte. */
export async function expectSame(trace: Trace, row: Record<string, unknown>): Promise<void> {
  const world = new AlfWorld()
  const { observation } = await world.reset({ row, seed: 0 })
  expect({ observation, admissible: world.admissible() }, `${trace.id}, start`).toEqual(trace.start)
  for (const [at, step] of trace.steps.entries()) {
    const { observation, reward, done } = world.step(step.command)
    const seen = { command: step.command, observation, admissible: world.admissible(), score: reward, done }
    expect(seen, `${trace.id}, step ${at}`).toEqual({ ...seen, ...step })
  }
}
