import { execFileSync } from 'node:child_process'
import { SAME_ORDER } from './simulator/java.js'

/** An episode for the real package: these actions, or so many of its valid ones, drawn by a seed. */
export interface Play {
  readonly task: string
  readonly variation: number
  readonly actions?: readonly string[]
  readonly random?: { readonly steps: number; readonly seed: number }
}

export interface Played {
  readonly description: string
  readonly start: string
  /** Valid actions at each point, where they were drawn from. */
  readonly valid: readonly (readonly string[])[]
  readonly steps: readonly { action: string; observation: string; reward: number; done: boolean; score: number }[]
}

/** Plays with the Python package, whose Java orders things as ours does. */
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
import json, random, sys
from scienceworld import ScienceWorldEnv
asked = json.load(sys.stdin)
env = ScienceWorldEnv("", None, envStepLimit=asked["limit"])
all_valid = env.get_valid_action_object_combinations
answers = []
for play in asked["plays"]:
    drawn = play.get("random")
    # the list takes most of the time
    env.get_valid_action_object_combinations = all_valid if drawn else list
    env.load(play["task"], play["variation"], "easy")
    observation, info = env.reset()
    description = env.get_task_description()
    valid, steps = [], []
    rng = random.Random(drawn["seed"]) if drawn else None
    actions = iter(play.get("actions", []))
    for _ in range(drawn["steps"] if drawn else len(play["actions"])):
        if drawn:
            valid.append(info["valid"])
            action = rng.choice(info["valid"])
        else:
            action = next(actions)
        seen, reward, done, info = env.step(action)
        steps.append(dict(action=action, observation=seen, reward=reward, done=done, score=info["score"]))
        if done:
            break
    answers.append(dict(description=description, start=observation, valid=valid, steps=steps))
print("\\nanswer " + json.dumps(answers), flush=True)
`
