import { isJsonObject } from '../base/file/json-file.js'
import type { Checkpoints } from '../checkpoint/index.js'
import type { Config } from '../config/index.js'
import { changed, type Settings, settingsOf } from './changed.js'

/** The end that a run is asked to get to, as far as explorers and trainers share it. */
type Goal = Pick<Config['buffer'], 'total_steps' | 'total_epochs' | 'total_tokens'>

/** `run_meta.json`: that a run got to its end, and to which one. */
export class FinishMarker {
  readonly #checkpoints: Checkpoints
  readonly #name: string
  readonly #goal: string
  readonly #config: Config

  constructor(checkpoints: Checkpoints, config: Config) {
    this.#checkpoints = checkpoints
    this.#config = config
    this.#name = config.mode === 'explore' ? `${config.explorer.name}_run` : 'run'
    const { total_steps, total_epochs, total_tokens } = config.buffer
    // left out where there is none, as in what earlier releases wrote
    const budget = total_tokens === null ? {} : { total_tokens }
    const trainer_total_steps = config.trainer.total_steps
    this.#goal = JSON.stringify({ total_steps, total_epochs, trainer_total_steps, ...budget })
  }

  /** Steps of the finished run; undefined: it has not got to the end that is asked for now. */
  async read(): Promise<number | undefined> {
    const meta = await this.#checkpoints.readMeta(this.#name)
    return meta?.finished === true && meta.goal === this.#goal ? Number(meta.steps) : undefined
  }

  /** What has changed since the run got to its end. */
  async changed(): Promise<string[]> {
    const meta = await this.#checkpoints.readMeta(this.#name)
    return isJsonObject(meta?.settings) ? changed(meta.settings as Settings, settingsOf(this.#config)) : []
  }

  /** Of the trainer of this explorer's job. Alone, a trainer takes the steps of the job for its own. */
  static ofTrainer(checkpoints: Checkpoints, config: Config): FinishMarker {
    const total_steps = config.trainer.total_steps ?? config.buffer.total_steps
    return new FinishMarker(checkpoints, { ...config, mode: 'train', trainer: { ...config.trainer, total_steps } })
  }

  /** The run goes on: an end that was reached earlier is not the one that is asked for now. */
  async clear(): Promise<void> {
    if (await this.#checkpoints.readMeta(this.#name)) await this.#checkpoints.writeMeta(this.#name, { finished: false })
  }

  async write(steps: number): Promise<void> {
    await this.#checkpoints.writeMeta(this.#name, {
      ...{ finished: true, steps, goal: this.#goal },
      settings: settingsOf(this.#config),
    })
  }
}

/**
 * Explorers that got to the end of an earlier run, which this trainer has ended too, and that are asked for more now.
 * Those who are at work on it, or have done it, are not among them.
 */
export async function endedEarlier(
  checkpoints: Checkpoints,
  config: Config,
  explorers: readonly string[],
): Promise<string[]> {
  const goalOf = async (name: string) => {
    const meta = await checkpoints.readMeta(name)
    const goal = meta?.finished === true ? goalIn(meta.goal) : undefined
    return goal && goalText(goal)
  }
  const before = await goalOf('run')
  if (before === undefined || before === goalText(config.buffer)) return []
  const goals = await Promise.all(explorers.map((name) => goalOf(`${name}_run`)))
  return explorers.filter((_, i) => goals[i] === before)
}

/** Returns undefined for text that no run writes. */
function goalIn(text: unknown): Goal | undefined {
  try {
    return JSON.parse(String(text)) as Goal
  } catch {
    return undefined
  }
}

function goalText({ total_steps, total_epochs, total_tokens }: Goal): string {
  return JSON.stringify([total_steps, total_epochs, total_tokens ?? null])
}
