import { z } from 'zod'
import { parseArguments } from '../../base/arguments.js'

/** What the torch sampler reads of `extra_engine_args`, under the names of vLLM where it has them. */
const schema = z.object({
  batch_invariant: z.boolean().default(false),
  max_num_seqs: z.int().min(1).optional(),
})

export type SamplerArgs = z.output<typeof schema>

/** Arguments of other engines are left alone: files often have some. See `unreadArgs`. */
export function samplerArgs(given: Readonly<Record<string, unknown>>, path: string): SamplerArgs {
  return parseArguments('the torch sampler', schema, given, path)
}

/** Keys of arguments that this engine does not know. */
export function unreadArgs(given: Readonly<Record<string, unknown>>, path: string): string[] {
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(schema.shape, name))
    .map((name) => `${path}.${name}`)
}
