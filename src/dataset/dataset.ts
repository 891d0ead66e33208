import type { z } from 'zod'
import type { Place } from './place.js'

/** A task set that `trinity data NAME` makes. */
export interface DatasetEntry {
  readonly doc: string
  /** Where it comes from: a program, a repository, a paper. */
  readonly source: string
  readonly license: string
  /** Options of the command: `max_numbers` is `--max-numbers`. Unknown names are refused. */
  readonly args: z.ZodObject
  /** Writes the files. What must be fetched by the user is an error that says how. */
  prepare(args: never, place: Place): Promise<void>
  /** The lines of a configuration that use what is in the folder. */
  yaml(args: never, folder: string): string
}

/**
 * Describes a data set that `trinity data` makes, for the registry; `prepare` and `yaml` get its arguments checked and with their types.
 * @example
 * import { z } from 'trinity-rft'
 * import { dataset, datasets } from 'trinity-rft/data'
 *
 * datasets.add('squares', dataset({
 *   doc: 'square numbers to compute',
 *   source: 'generated',
 *   license: 'none needed',
 *   args: z.strictObject({ rows: z.int().positive().default(100) }),
 *   async prepare({ rows }, place) {
 *     const row = (n: number) => ({ question: `${n} squared?`, answer: String(n * n) })
 *     await place.write('train.jsonl', Array.from({ length: rows }, (_, n) => row(n)))
 *   },
 *   yaml: (_, folder) => `buffer: {explorer_input: {taskset: {path: ${folder}, format: {prompt_key: question}}}}`,
 * }))
 */
export function dataset<S extends z.ZodObject>(entry: {
  doc: string
  source: string
  license: string
  args: S
  prepare(args: z.output<S>, place: Place): Promise<void>
  yaml(args: z.output<S>, folder: string): string
}): DatasetEntry {
  return entry
}
