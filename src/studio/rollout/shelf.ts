import type { Store } from '../api.js'
import type { Runs } from '../run/runs.js'
import type { TextOf } from './rollout.js'
import type { OpenStore, Stores } from './stores.js'
import type { TokenTexts } from './token-text.js'

/** Where rollouts come from, by the id of a run. */
export interface Shelf {
  list(run: string): Promise<readonly Store[]>
  /** With its index as new as its file. */
  get(run: string, store: string): Promise<OpenStore>
  texts(run: string): Promise<{ readonly textOf?: TextOf; readonly missing: readonly string[] }>
}

/** Those of the runs below the folders. */
export function runShelf(runs: Runs, stores: Stores, texts: TokenTexts): Shelf {
  return {
    list: async (run) => stores.list(await runs.get(run)),
    get: async (run, store) => stores.get(await runs.get(run), store),
    texts: async (run) => texts.of(await runs.get(run)),
  }
}
