import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { type OpenEnvironment, openEnvironment } from '../index.js'

const python = testPython('reasoning-gym')

interface Told {
  readonly name: string
  /** Why the package does not make it; then there is nothing else. */
  readonly refused?: string
  readonly question: string
  readonly answer: string | null
  /** Of its own answer, and of others. */
  readonly scores: readonly number[]
}

/** What the package says by itself. */
const SCRIPT = `
import json, random, sys
from reasoning_gym.factory import CURRICULA, DATASETS, create_curriculum, create_dataset
level, others = json.loads(sys.argv[1])
told = []
for name in sorted(DATASETS):
    if name == "composite" or (level is not None and name not in CURRICULA):
        continue
    try:
        if level is None:
            made = create_dataset(name, seed=11, size=30)
        else:
            curriculum = create_curriculum(name)
            curriculum.set_global_level(level)
            made = DATASETS[name][0](config=curriculum.generate_configuration({"seed": 11, "size": 30}))
    except AssertionError as error:
        told.append({"name": name, "refused": str(error)})
        continue
    entry = made[5]
    answers = [entry["answer"] if isinstance(entry["answer"], str) else "None", *others]
    def score(answer):
        try:
            return float(made.score_answer(answer, entry))
        except Exception:
            return 0.0
    told.append({"name": name, "question": entry["question"], "answer": entry["answer"], "scores": [score(a) for a in answers]})
sys.stdout = sys.__stdout__
print("\\n" + json.dumps(told))
`
const OTHERS = ['', '0', 'yes', '[[1, 2], [3, 4]]', 'x = 1\ny = 2']

function ask(level: number | null): Told[] {
  const options = { maxBuffer: 1 << 28, env: { ...process.env, PYTHONHASHSEED: '0' } }
  const said = execFileSync(python.path, ['-c', SCRIPT, JSON.stringify([level, OTHERS])], options)
  return JSON.parse(said.toString().trim().split('\n').at(-1) as string)
}

describe.skipIf(python.absent)(`all families of reasoning-gym${python.note}`, () => {
  it.each([null, 0, 2])(
    'ask and judge as the package does, at level %s',
    async (difficulty) => {
      const told = ask(difficulty)
      expect(told.length).toBeGreaterThanOrEqual(100)
      const world: OpenEnvironment = await openEnvironment('reasoning_gym', {
        python: python.path,
        size: 30,
        timeout: 120,
      })
      const [refused, wrong]: string[][] = [[], []]
      for (const { name, refused: reason, question, answer, scores } of told) {
        const row = { name, index: 5, seed: 11, ...(difficulty !== null && { difficulty }) }
        if (reason !== undefined) {
          await expect(world.reset({ row, seed: 0 })).rejects.toThrow(reason)
          refused.push(name)
          continue
        }
        for (const [i, text] of [answer ?? 'None', ...OTHERS].entries()) {
          expect(await world.reset({ row, seed: 0 }), name).toEqual({ observation: question })
          const { reward, done, won } = await world.step(text)
          expect([reward, done], `${name}: ${text}`).toEqual([scores[i], true])
          if (i === 0 && !won) wrong.push(name)
        }
      }
      const list = (names: string[]) => `${names.length} (${names.join(', ')})`
      console.log(
        `${told.length} families; refused by the package: ${list(refused)}; own answer not right: ${list(wrong)}`,
      )
      expect(told.length - refused.length).toBeGreaterThanOrEqual(difficulty === null ? 105 : 95)
      expect(wrong.length).toBeLessThan(8)
      await world.close()
    },
    900_000,
  )
})
