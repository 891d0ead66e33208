import { z } from 'zod'
import { nameFault } from '../config/name.js'

const settings = z.record(z.string(), z.unknown())

const arm = z.strictObject({
  config: z.string().optional().describe('its configuration instead of the common one'),
  set: settings.default({}).describe('keys that only it sets'),
})

/** Keys that a sweep gives to its runs. */
const OWN = ['checkpoint_root_dir', 'project', 'group', 'name']

/** What the numbers of a sweep are compared over. */
export const AXES = ['steps', 'tokens', 'seconds'] as const
export type Axis = (typeof AXES)[number]

/** Everything that a sweep file may say; the options of the command say the same. */
export const sweepSchema = z
  .strictObject({
    name: z.string().optional().describe('name of the sweep, and of the folder that holds its runs'),
    checkpoint_root_dir: z.string().optional().describe('folder that holds the folder of the sweep'),
    config: z.string().optional().describe('configuration of all arms that name none'),
    set: settings.default({}).describe('keys that every run sets'),
    arms: z.record(z.string(), arm.nullable()).default({}).describe('what is compared, by name'),
    grid: z
      .record(z.string(), z.array(z.unknown()).min(1))
      .default({})
      .describe('values of keys, every one with every other'),
    seeds: z.array(z.number().int().min(0)).default([]).describe('every arm is run once with each'),
    seed_keys: z.array(z.string()).min(1).optional().describe('keys that get the seed'),
    metric: z.string().optional().describe('the number that is compared'),
    axis: z.enum(AXES).default('steps').describe('what the runs have spent alike where they are compared'),
    parallel: z
      .union([z.number().int().min(1), z.literal('auto')])
      .default(1)
      .describe('runs at a time'),
    plugin_dirs: z.array(z.string()).default([]).describe('plugins of every run'),
  })
  .superRefine(({ name, arms, grid, set, seeds, config, axis: _ }, context) => {
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    const fault = name === undefined ? undefined : nameFault(name)
    if (fault !== undefined) issue(['name'], `the name ${fault}`)
    for (const one of Object.keys(arms)) {
      const bad = nameFault(one)
      if (bad !== undefined) issue(['arms', one], `the name ${bad}`)
      if (config === undefined && arms[one]?.config === undefined) issue(['arms', one], 'it has no configuration')
    }
    if (Object.keys(arms).length === 0 && config === undefined) issue(['config'], 'there is nothing to run')
    for (const [key, values] of Object.entries(grid)) {
      if (repeated(values)) issue(['grid', key], 'a value is there twice')
    }
    const sets = Object.entries(arms).map(([one, arm]): [string[], object] => [['arms', one, 'set'], arm?.set ?? {}])
    for (const [path, given] of [[['set'], set], [['grid'], grid], ...sets] as [string[], object][]) {
      const own = OWN.find((key) => Object.hasOwn(given, key))
      if (own) issue([...path, own], 'a sweep gives this to its runs: use its own checkpoint_root_dir and name')
    }
    if (repeated(seeds)) issue(['seeds'], 'a seed is there twice')
  })

/** A sweep as it was asked for. Paths are as the current folder sees them. */
export type SweepSpec = z.output<typeof sweepSchema>

function repeated(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size < values.length
}
