import { TrinityError } from '../base/error.js'
import { datasets } from '../dataset/index.js'
import { Episode, environmentOf, openEnvironment } from '../environment/index.js'
import { type DataRow, openDataset } from '../task/index.js'

export interface GameOptions {
  readonly world: string
  readonly args: Readonly<Record<string, unknown>>
  /** The row to play; else one of the data; else none at all. */
  readonly row?: DataRow
  readonly data?: string
  readonly split?: string
  /** Which row of the data, from 0. */
  readonly task: number
  readonly seed: number
  /** Absent: the world's own limit. */
  readonly maxSteps?: number
  readonly signal?: AbortSignal
}

/** An episode, and what it is of. */
export interface Play {
  readonly title: string
  readonly episode: Episode
}

/** A world that is open, one episode at a time. */
export interface Game {
  /** Begins the episode that is so many after the one that was asked for: the next row, or the next seed. */
  begin(after?: number): Promise<Play>
  readonly canUndo: boolean
  close(): Promise<void>
}

export async function openGame(options: GameOptions): Promise<Game> {
  const { world, args, seed, signal } = options
  const { entry, args: parsed } = environmentOf(world, args)
  const environment = await openEnvironment(world, args, { signal })
  const persona = entry.persona(parsed)
  const maxSteps = options.maxSteps ?? entry.maxSteps
  return {
    canUndo: environment.canRestore,
    close: () => environment.close(),
    async begin(after = 0) {
      const { row, number } = await rowOf(options, after)
      // As in a run: the seed is the number of the row, so that the same row is the same episode.
      const own = number === undefined ? seed + after : number + seed
      const title = `${world}, ${number === undefined ? '' : `row ${number} of ${options.data}, `}seed ${own}`
      try {
        const episode = await Episode.begin({ environment, persona, maxSteps, signal }, { row, seed: own })
        return { title, episode }
      } catch (error) {
        throw number === undefined && options.row === undefined ? withoutData(world, error) : error
      }
    },
  }
}

async function rowOf(
  { row, data, split, task }: GameOptions,
  after: number,
): Promise<{ row: DataRow; number?: number }> {
  if (row !== undefined || data === undefined) return { row: row ?? {} }
  const source = await openDataset({ path: data, split })
  try {
    const number = task + after
    if (number < source.length) return { row: await source.row(number), number }
    throw new TrinityError('cli/usage', `${data} has ${source.length} rows: there is no row ${number}`, {
      path: '--task',
      hint: `the last one is ${source.length - 1}`,
    })
  } finally {
    await source.close()
  }
}

/** A world that cannot begin without a row: where to get one. */
function withoutData(world: string, error: unknown): unknown {
  if (!(error instanceof TrinityError)) return error
  const made = datasets.names().find((name) => name === world)
  const how = made ? `make a data set: trinity data ${made}, then --data data/${made}` : 'give --data FILE'
  return new TrinityError('cli/no-row', `${world} needs a row of data: ${error.message}`, {
    path: error.path,
    hint: `${how}; or give a row with --row '{…}'`,
    cause: error,
  })
}
