import { join } from 'node:path'
import { z } from 'zod'
import { PythonRandom } from '../../base/random/index.js'
import { releaseOf, taskVariations } from '../../environment/scienceworld/index.js'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import { jarFromPip, jarIn } from './scienceworld-jar.js'
import { worldYaml } from './yaml.js'

const JAR = 'scienceworld.jar'

const args = z.strictObject({
  jar: z
    .string()
    .default('')
    .describe('the simulator, or the package scienceworld-1.2.3-py3-none-any.whl; otherwise pip downloads it'),
  share: z.number().positive().max(1).default(0.5).describe('how many of the variations of each task: the first'),
  seed: z.int().nonnegative().default(42),
})

/** What the study trains on; it tests with all others. */
const TRAIN = [
  'boil',
  'melt',
  'change-the-state-of-matter-of',
  'use-thermometer',
  'measure-melting-point-known-substance',
  'power-component',
  'test-conductivity',
  'find-living-thing',
  'find-plant',
  'grow-plant',
  'chemistry-mix',
  'chemistry-mix-paint-secondary-color',
  'lifespan-shortest-lived',
  'identify-life-stages-2',
  'inclined-plane-determine-angle',
  'inclined-plane-friction-named-surfaces',
  'mendelian-genetics-known-plant',
]

/**
 * The first variations of the tasks in an order that one stream of numbers draws. The study draws its training tasks in
 * the same way; the order of its test tasks is another on every run.
 */
export function drawTasks(
  variations: ReadonlyMap<string, number>,
  { share, seed }: { share: number; seed: number },
): { train: DataRow[]; test: DataRow[] } {
  const random = new PythonRandom(seed)
  const rows = (tasks: readonly string[]) => {
    const all = tasks.flatMap((task_name) =>
      Array.from({ length: Math.floor((variations.get(task_name) ?? 0) * share) }, (_, var_num) => ({
        task_desc: JSON.stringify({ task_name, var_num }),
        target: '',
      })),
    )
    random.shuffle(all)
    return all
  }
  const others = [...variations.keys()].filter((task) => !TRAIN.includes(task))
  return { train: rows(TRAIN), test: rows(others) }
}

export const scienceWorldTasks = dataset({
  doc: 'tasks of ScienceWorld in the splits of the R3L study, with the simulator',
  source: 'ScienceWorld 1.2.3 (the Python package scienceworld)',
  license: 'Apache-2.0',
  args,
  async prepare({ jar, share, seed }, place) {
    await place.put(JAR, jar ? jarIn(jar) : jarFromPip(), { jar })
    const path = join(place.folder, JAR)
    place.logger?.info(`the simulator is ScienceWorld ${await releaseOf(path)}`)
    let drawing: Promise<ReturnType<typeof drawTasks>> | undefined
    const draw = async () => drawTasks(await taskVariations(path, place.signal), { share, seed })
    async function* rows(split: 'train' | 'test') {
      drawing ??= draw()
      yield* (await drawing)[split]
    }
    for (const split of ['train', 'test'] as const) await place.write(`${split}.jsonl`, rows(split), { share, seed })
  },
  yaml: (_, folder) => {
    const environment_args = { jar_path: join(folder, JAR) }
    const played = { workflow: 'environment_workflow', args: { environment: 'scienceworld', environment_args } }
    return worldYaml('scienceworld', folder, played, ['train', 'test'])
  },
})
