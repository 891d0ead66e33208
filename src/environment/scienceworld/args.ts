import { z } from 'zod'

/** What makes a world easier, besides `easy`, which chooses from them for each task. */
const SIMPLIFICATIONS = [
  'teleportAction',
  'openDoors',
  'openContainers',
  'selfWateringFlowerPots',
  'noElectricalAction',
] as const

export const scienceWorldArgs = z.strictObject({
  prompt: z.enum(['r3l', 'trinity']).default('r3l').describe('How the model is spoken to.'),
  jar_path: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "The simulator's file; absent: of the row, of SCIENCEWORLD_JAR, or where `trinity data scienceworld` puts it.",
    ),
  simplifications: z
    .string()
    .refine(isSimplification, `expected 'easy', or some of ${SIMPLIFICATIONS.join(',')}`)
    .default('easy')
    .describe('`easy`, or names with commas; empty: none.'),
  reward_mode: z
    .enum(['max_score', 'max_delta'])
    .default('max_score')
    .describe('What an episode is worth: its best score, or the most that a single step added.'),
  env_step_limit: z
    .number()
    .int()
    .min(1)
    .default(30)
    .describe('Moves of the world after which the episode is over; waiting is ten.'),
  admissible: z
    .boolean()
    .default(false)
    .describe('Whether the actions that are possible are listed, which takes longer than a step.'),
  processes: z
    .number()
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('The most Java processes, which all worlds share; absent: one for each core, 16 at most.'),
  heap_mb: z.number().int().min(256).default(512).describe('Memory for the objects of one process.'),
  timeout: z.number().positive().default(60).describe('Seconds that a call may take.'),
})

export type ScienceWorldArgs = z.output<typeof scienceWorldArgs>

function isSimplification(text: string): boolean {
  const known: readonly string[] = SIMPLIFICATIONS
  return text === '' || text === 'easy' || text.split(',').every((name) => known.includes(name))
}
