import { execFileSync } from 'node:child_process'
import { SAME_ORDER } from './simulator/java.js'

/** An episode for the real package. */
export interface Play {
  readonly task: string
  readonly variation: number
  readonly actions: readonly string[]
}

export interface Played {
  readonly description: string
  readonly start: string
  readonly steps: readonly { observation: string; reward: number; done: boolean }[]
  /** How many actions are valid in the end. */
  readonly valid: number
}

/**
 * Plays with the Python package, whose Java orders things as ours does. The package lists the valid actions after every
 * step, and draws a name for each from the numbers that bees and genes are drawn from: here it does so only in the end.
 */
export function playReal(python: string, plays: readonly Play[], limit: number): Played[] {
  const answer = execFileSync(python, ['-W', 'ignore', '-c', SCRIPT], {
    input: JSON.stringify({ plays, limit }),
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, JAVA_TOOL_OPTIONS: SAME_ORDER.join(' ') },
  })
  const line = /^answer (.*)$/m.exec(answer.toString())?.[1] ?? '[]'
  return JSON.parse(line)
}

const SCRIPT = `
import json, sys
from scienceworld import ScienceWorldEnv
asked = json.load(sys.stdin)
env = ScienceWorldEnv("", None, envStepLimit=asked["limit"])
all_valid = env.get_valid_action_object_combinations
answers = []
for play in asked["plays"]:
    env.get_valid_action_object_combinations = list
    env.load(play["task"], play["variation"], "easy")
    observation, info = env.reset()
    description = env.get_task_description()
    steps = []
    for action in play["actions"]:
        seen, reward, done, info = env.step(action)
        steps.append(dict(observation=seen, reward=reward, done=done))
        if done:
            break
    answers.append(dict(description=description, start=observation, steps=steps, valid=len(all_valid())))
print("\\nanswer " + json.dumps(answers), flush=True)
`
