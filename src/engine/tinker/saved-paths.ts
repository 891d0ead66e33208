import { HttpError } from '../../base/http/error.js'
import type { TinkerSession } from './session.js'

const DELETE_MS = 30_000

/** The run and the name of what was saved under an address, `tinker://RUN/weights/NAME`. */
export function partsOf(path: string): { run: string; name: string } {
  const [, run = '', rest = ''] = /^tinker:\/\/([^/]+)\/(.+)$/.exec(path) ?? []
  return { run, name: rest.replace(/^(sampler_)?weights\//, '') }
}

/** Weights that were saved to be sampled from. They are deleted at the service when nobody uses them any more. */
export class SavedPaths {
  readonly #session: TinkerSession
  readonly #users = new Map<string, number>()
  readonly #kept = new Set<string>()

  constructor(session: TinkerSession) {
    this.#session = session
  }

  hold(path: string): void {
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1)
  }

  /** A checkpoint names them: they stay. */
  keep(path: string): void {
    this.#kept.add(path)
  }

  async release(path: string): Promise<void> {
    const left = (this.#users.get(path) ?? 1) - 1
    if (left > 0) this.#users.set(path, left)
    else {
      this.#users.delete(path)
      if (!this.#kept.has(path)) await this.delete(path, 'sampler_weights')
    }
  }

  /** What cannot be deleted costs the service a little room, and nobody a run. */
  async delete(path: string, kind: 'weights' | 'sampler_weights'): Promise<void> {
    const { run, name } = partsOf(path)
    const route = `training_runs/${encodeURIComponent(run)}/checkpoints/${kind}/${encodeURIComponent(name)}`
    const options = { deadlineMs: DELETE_MS, retries: 1 }
    await this.#session.send('DELETE', route, options).catch((error) => {
      if (!(error instanceof HttpError)) throw error
    })
  }
}
