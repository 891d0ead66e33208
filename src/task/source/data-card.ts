import { parse } from 'yaml'
import { z } from 'zod'

const paths = z.union([z.string(), z.array(z.string())]).transform((value) => (Array.isArray(value) ? value : [value]))
const config = z.object({
  config_name: z.coerce.string(),
  default: z.boolean().optional(),
  data_dir: z.string().optional(),
  data_files: z.union([paths, z.array(z.object({ split: z.string().default('train'), path: paths }))]).optional(),
})
const card = z.object({ configs: z.array(config).optional() })

/** One subset as the data card declares it; without `splits` the files below `dir` are sorted by their names. */
export interface CardSubset {
  name: string
  isDefault: boolean
  dir?: string
  /** split → globs */
  splits?: Map<string, string[]>
}

/** The `configs` of a data card: the YAML between two `---` lines at the top of README.md. Anything else is ignored. */
export function readDataCard(readme: string): CardSubset[] {
  const front = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---/.exec(readme)
  if (!front) return []
  let content: unknown
  try {
    content = parse(front[1], { logLevel: 'silent' })
  } catch {
    return []
  }
  const parsed = card.safeParse(content)
  if (!parsed.success) return []
  return (parsed.data.configs ?? []).map((entry) => ({
    name: entry.config_name,
    isDefault: entry.default ?? entry.config_name === 'default',
    dir: entry.data_dir,
    splits: entry.data_files && splitsOf(entry.data_files),
  }))
}

function splitsOf(files: (string | { split: string; path: string[] })[]): Map<string, string[]> {
  const splits = new Map<string, string[]>()
  for (const file of files) {
    const split = typeof file === 'string' ? 'train' : file.split
    const globs = splits.get(split) ?? []
    globs.push(...(typeof file === 'string' ? [file] : file.path))
    splits.set(split, globs)
  }
  return splits
}
