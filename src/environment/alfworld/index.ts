import { z } from 'zod'
import { environment } from '../environment.js'
import { plain } from './persona/plain.js'
import { WORDINGS } from './wording.js'
import { AlfWorld } from './world.js'

export { AlfWorld } from './world.js'

const args = z.strictObject({
  /** How the model is spoken to. */
  prompt: z.enum(['plain']).default('plain'),
  wording: z.enum(WORDINGS).default('file'),
  /** Where relative paths of games start; absent: ALFWORLD_DATA. */
  data_path: z.string().optional(),
})

export const alfworld = environment({
  doc: 'housework by text commands, in the games of ALFWorld',
  args,
  maxSteps: 25,
  create: ({ wording, data_path }) => new AlfWorld({ wording, folder: data_path ?? process.env.ALFWORLD_DATA }),
  persona: () => plain,
})
