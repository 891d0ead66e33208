import { execFileSync } from 'node:child_process'
import { Pcg64 } from '../../base/random/index.js'

/** An episode of the real package: what it is made with, its seed, and the actions that are taken until it ends. */
export interface Case {
  readonly id: 'FrozenLake-v1' | 'CliffWalking-v1' | 'Taxi-v4' | 'Blackjack-v1'
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly seed: number
  readonly actions: readonly number[]
}

export interface MapCase {
  readonly size: number
  readonly p: number
  readonly seed: number
  /** Absent: Gymnasium's own maps. */
  readonly longest?: number
}

export interface Questions {
  readonly episodes: readonly Case[]
  readonly maps: readonly MapCase[]
  readonly tables: readonly Pick<Case, 'id' | 'kwargs'>[]
}

export interface Answers {
  /** The state at the start, then state, reward and end of each step. */
  readonly episodes: readonly (readonly unknown[])[]
  readonly maps: readonly string[]
  /** SHA-256 of a line for each state, action and outcome. */
  readonly tables: readonly string[]
}

/** Asks the real package. */
export function askGymnasium(python: string, questions: Questions): Answers {
  const answer = execFileSync(python, ['-c', SCRIPT], { input: JSON.stringify(questions), maxBuffer: 1 << 28 })
  return JSON.parse(answer.toString())
}

const MAPS = [
  ['SFFF', 'FHFH', 'FFFH', 'HFFG'],
  ['SFFFFFFF', 'FFFFFFFF', 'FFFHFFFF', 'FFFFFHFF', 'FFFHFFFF', 'FHHFFFHF', 'FHFFHFHF', 'FFFHFFFG'],
  ['FSFF', 'FFFS', 'GFHF'],
]

/** Always the same questions; `rounds` says how many. */
export function questions(rounds: number): Questions {
  const random = new Pcg64(7)
  const actions = (count: number, kinds: number) => Array.from({ length: count }, () => random.below(kinds - 1))
  const episodes = Array.from({ length: rounds }, (_, i): Case[] => {
    const seed = i * 17
    const lake = { desc: MAPS[i % 3], is_slippery: i % 4 !== 0, success_rate: [1 / 3, 0.7, 1][i % 3] }
    const rain = {
      is_rainy: i % 2 === 0,
      fickle_passenger: i % 3 !== 0,
      rainy_probability: 0.7,
      fickle_probability: 0.8,
    }
    const cards = { natural: i % 3 === 0, sab: i % 2 === 0 }
    return [
      { id: 'FrozenLake-v1', kwargs: { ...lake, reward_schedule: [1, -0.5, -0.25] }, seed, actions: actions(20, 4) },
      { id: 'CliffWalking-v1', kwargs: { is_slippery: i % 4 !== 0 }, seed, actions: actions(20, 4) },
      { id: 'Taxi-v4', kwargs: rain, seed, actions: actions(40, 6) },
      { id: 'Blackjack-v1', kwargs: cards, seed, actions: actions(8, 2) },
      { id: 'Blackjack-v1', kwargs: cards, seed: seed + 1, actions: [0] },
    ]
  }).flat()
  const maps = Array.from({ length: rounds }, (_, i): MapCase[] => {
    const map = { size: 2 + (i % 7), p: [0.8, 0.6, 0.85, 0.7][i % 4], seed: i * 131 }
    return [map, { ...map, longest: 8 }]
  }).flat()
  const tables = [true, false].flatMap((is_slippery): Questions['tables'] => [
    ...MAPS.map((desc) => ({ id: 'FrozenLake-v1' as const, kwargs: { desc, is_slippery } })),
    { id: 'CliffWalking-v1', kwargs: { is_slippery } },
    { id: 'Taxi-v4', kwargs: { is_rainy: is_slippery } },
  ])
  return { episodes, maps, tables }
}

const SCRIPT = `
import hashlib, json, sys
import gymnasium as gym
import numpy as np
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

asked = json.load(sys.stdin)

def plain(x):
    if isinstance(x, tuple):
        return [int(v) for v in x]
    return int(x) if float(x).is_integer() else float(x)

made = {}

def make(case):
    key = json.dumps([case["id"], case["kwargs"]])
    if key not in made:
        made[key] = gym.make(case["id"], **case["kwargs"]).unwrapped
    return made[key]

def episode(case):
    env = make(case)
    out = [plain(env.reset(seed=case["seed"])[0])]
    for action in case["actions"]:
        state, reward, done, _, _ = env.step(action)
        out.append([plain(state), plain(reward), bool(done)])
        if done:
            break
    return out

def way(board, size, start, longest):
    stack, seen = [(start, 0)], set()
    while stack:
        (r, c), steps = stack.pop()
        if steps > longest or (r, c) in seen:
            continue
        seen.add((r, c))
        for n in ((r + 1, c), (r, c + 1), (r - 1, c), (r, c - 1)):
            if 0 <= n[0] < size and 0 <= n[1] < size:
                if board[n] == "G":
                    return True
                if board[n] != "H":
                    stack.append((n, steps + 1))
    return False

def anywhere(size, p, seed, longest):
    rng = np.random.default_rng(seed)
    while True:
        board = rng.choice(["F", "H"], (size, size), p=[p, 1 - p])
        while True:
            start = (int(rng.integers(0, size)), int(rng.integers(0, size)))
            goal = (int(rng.integers(0, size)), int(rng.integers(0, size)))
            if start != goal:
                break
        board[start], board[goal] = "S", "G"
        if way(board, size, start, longest):
            return ["".join(row) for row in board]

def drawn(case):
    if "longest" in case:
        return "/".join(anywhere(case["size"], case["p"], case["seed"], case["longest"]))
    return "/".join(generate_random_map(case["size"], case["p"], case["seed"]))

def table(case):
    lines = []
    for state, actions in sorted(make(case).P.items()):
        for action, outcomes in sorted(actions.items()):
            for p, s, r, d in outcomes:
                lines.append(json.dumps([int(state), int(action), plain(p), int(s), plain(r), bool(d)], separators=(",", ":")))
    return hashlib.sha256("\\n".join(lines).encode()).hexdigest()

json.dump({"episodes": [episode(c) for c in asked["episodes"]], "maps": [drawn(c) for c in asked["maps"]],
           "tables": [table(c) for c in asked["tables"]]}, sys.stdout)
`
