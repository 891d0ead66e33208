import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realSimulator } from '../../src/environment/scienceworld/real.fixture.js'
import { writeCatalogue } from '../../src/environment/webshop/catalogue.fixture.js'
import { createModel } from '../../src/model/index.js'
import { trinity } from '../run/cli-kit.js'
import { Example, root } from './kit.js'
import type { World } from './r3l-table.js'

export const simulator = realSimulator()

/** Runs files of the study with a small model in place of Qwen, and with data that need no download. */
export class Study {
  readonly example = new Example()
  readonly #data = new Map<World, string>()

  async open(): Promise<void> {
    const shape = { layers: 1, hidden: 16, heads: 2, maxPositions: 16384 }
    await createModel({ ...shape, out: join(this.example.out, 'model'), tokenizer: { kind: 'bytes' } })
  }

  /** Two steps of a file. What makes it small is set; everything else is as in the study. */
  async twoSteps(world: World, name: string, more: Record<string, unknown> = {}) {
    const limit = world === 'dapo' || world === 'countdown' ? 'attempts' : 'max_env_steps'
    const data = await this.#dataOf(world)
    return this.example.run(`R3L/${world}/${name}.yaml`, {
      'model.model_path': join(this.example.out, 'model'),
      'model.max_model_len': 16384,
      'model.max_response_tokens': 8,
      'algorithm.repeat_times': name.startsWith('RAFT') ? 1 : 4,
      'buffer.batch_size': 2,
      // pairs may stay without a second attempt
      ...(name.startsWith('opmd_R3L') && { 'buffer.train_batch_size': 4 }),
      'buffer.total_steps': 2,
      'buffer.explorer_input.taskset.path': data,
      'buffer.explorer_input.eval_tasksets': '[]',
      [`buffer.explorer_input.taskset.workflow_args.${limit}`]: 2,
      'monitor.monitor_type': 'jsonl',
      ...(world === 'scienceworld' && { 'buffer.explorer_input.taskset.workflow_args.jar_path': simulator.jar }),
      ...more,
    })
  }

  close(): void {
    this.example.close()
  }

  async #dataOf(world: World): Promise<string> {
    const known = this.#data.get(world)
    if (known !== undefined) return known
    const made = await MAKE[world](join(this.example.out, `data-${world}`))
    this.#data.set(world, made)
    return made
  }
}

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** Tasks of each world in a folder. */
const MAKE: Readonly<Record<World, (folder: string) => Promise<string>>> = {
  alfworld: async () => join(root, 'examples/grpo_alfworld/alfworld_data'),
  countdown: async () => join(root, 'examples/quickstart/countdown'),
  async dapo(folder) {
    const file = `${folder}.jsonl`
    writeFileSync(file, lines([1, 2, 3, 4].map((i) => ({ question: `What is ${i} + ${i}?`, answer: String(2 * i) }))))
    return file
  },
  async scienceworld(folder) {
    const file = `${folder}.jsonl`
    const task = (var_num: number) => ({ task_desc: JSON.stringify({ task_name: 'find-plant', var_num }), target: '' })
    writeFileSync(file, lines([0, 1, 2, 3].map(task)))
    return file
  },
  async webshop(folder) {
    const from = writeCatalogue()
    try {
      const ended = await trinity(root, ['data', 'webshop', '--from', from, '--out', folder])
      if (ended.code !== 0) throw new Error(ended.stderr)
      return folder
    } finally {
      rmSync(from, { recursive: true })
    }
  },
}
