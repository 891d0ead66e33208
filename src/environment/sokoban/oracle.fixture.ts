import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import { Pcg64 } from '../../base/random/index.js'
import { generateLevel } from './generate.js'
import { readLevel, writeLevel } from './level.js'
import { WAYS } from './room.js'
import { Sokoban, STEPS } from './sokoban.js'
import { solve } from './solve.js'

/** A room, and moves in it: up, down, left, right by number. */
export interface Play {
  readonly level: string
  readonly moves: readonly number[]
}

/** Of each move: reward and end; then the room as it was left. */
export type Played = readonly [steps: readonly (readonly [number, boolean])[], level: string]

/** Asks gym-sokoban. */
export function askSokoban(python: string, plays: readonly Play[]): Played[] {
  const answer = execFileSync(python, ['-W', 'ignore', '-c', SCRIPT], {
    input: JSON.stringify(plays),
    maxBuffer: 1 << 28,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return JSON.parse(answer.toString())
}

/** Rooms of several sizes. In every other one the solution is played after some random moves, where there still is one. */
export function plays(count: number): Play[] {
  const random = new Pcg64(11)
  return Array.from({ length: count }, (_, i) => {
    const spec = { rows: 5 + (i % 4), columns: 5 + (i % 3), boxes: 1 + (i % 3), seed: i }
    const level = writeLevel(generateLevel({ ...spec, boxes: Math.min(spec.boxes, spec.rows - 4) }))
    return { level, moves: movesIn(level, i % 2 === 0 ? 5 : 30, random) }
  })
}

/** Random moves, and then the solution where a short one is left. */
export function movesIn(level: string, count: number, random: Pcg64): number[] {
  const world = new Sokoban({ dim_room: [6, 6], num_boxes: 1, prompt: 'full' })
  world.reset({ row: { level }, seed: 0 })
  const moves: number[] = []
  for (let i = 0; i < count; i++) {
    moves.push(random.below(3))
    if (world.step(STEPS.names[moves[i]]).done) return moves
  }
  const rest = solve(world.snapshot(), 5000) ?? []
  return [...moves, ...rest.map((way) => WAYS.indexOf(way))]
}

export function expectEqual(asked: readonly Play[], answers: readonly Played[]): void {
  expect(answers).toHaveLength(asked.length)
  for (const [i, { level, moves }] of asked.entries()) {
    const world = new Sokoban({ dim_room: [6, 6], num_boxes: 1, prompt: 'full' })
    world.reset({ row: { level }, seed: 0 })
    const [steps, end] = answers[i]
    const ours = steps.map((_, at) => {
      const { reward, done } = world.step(STEPS.names[moves[at]])
      return [reward, done]
    })
    expect([ours, writeLevel(world.snapshot())]).toEqual([steps, end])
    expect(readLevel(end).places.boxes).toHaveLength(readLevel(level).places.boxes.length)
  }
}

const SCRIPT = `
import json, sys
import numpy as np
from gym_sokoban.envs.sokoban_env import SokobanEnv

FIXED = {"#": 0, " ": 1, "@": 1, "$": 1, ".": 2, "+": 2, "*": 2}
STATE = {"#": 0, " ": 1, "@": 5, "$": 4, ".": 2, "+": 5, "*": 3}
BACK = {(0, 0): "#", (1, 1): " ", (1, 5): "@", (1, 4): "$", (2, 2): ".", (2, 5): "+", (2, 3): "*"}

def play(case):
    lines = case["level"].split("\\n")
    env = SokobanEnv(dim_room=(len(lines), len(lines[0])), max_steps=10**9, num_boxes=sum(l.count("$") + l.count("*") for l in lines), reset=False)
    env.room_fixed = np.array([[FIXED[c] for c in l] for l in lines])
    env.room_state = np.array([[STATE[c] for c in l] for l in lines])
    env.player_position = np.argwhere(env.room_state == 5)[0]
    env.num_env_steps, env.reward_last = 0, 0
    env.boxes_on_target = sum(l.count("*") for l in lines)
    steps = []
    for way in case["moves"]:
        _, reward, done, _ = env.step(way + 1, observation_mode="tiny_rgb_array")
        steps.append([reward, bool(done)])
        if done:
            break
    end = ["".join(BACK[int(f), int(s)] for f, s in zip(fs, ss)) for fs, ss in zip(env.room_fixed, env.room_state)]
    return [steps, "\\n".join(end)]

json.dump([play(case) for case in json.load(sys.stdin)], sys.stdout)
`
