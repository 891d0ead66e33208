import { z } from 'zod'
import { environment, type Persona } from '../environment.js'
import { commandList } from './persona/commands.js'
import { plain } from './persona/plain.js'
import { r3l } from './persona/r3l.js'
import { raft } from './persona/raft.js'
import { type Manner, trinity } from './persona/trinity.js'
import { PUT, WORDINGS } from './wording.js'
import { AlfWorld } from './world.js'

export { AlfWorld, type AlfWorldOptions } from './world.js'

/** How a model is spoken to. */
const PERSONAS: Readonly<Record<string, (manner: Manner) => Persona>> = { r3l, trinity, raft, plain: () => plain }

const args = z.strictObject({
  prompt: z.enum(Object.keys(PERSONAS)).default('r3l').describe('How the model is spoken to.'),
  wording: z
    .enum(WORDINGS)
    .default('file')
    .describe("How to say that something is put down: as the game's file does, or as older or newer files do."),
  data_path: z.string().optional().describe('Where relative paths of games start; absent: ALFWORLD_DATA.'),
  failure_reward: z.number().default(0).describe('What an episode is worth that does not reach the goal.'),
})

export const alfworld = environment({
  doc: 'housework by text commands, in the games of ALFWorld',
  args,
  maxSteps: 25,
  create: ({ wording, data_path, failure_reward }) =>
    new AlfWorld({ wording, folder: data_path ?? process.env.ALFWORLD_DATA, failure: failure_reward }),
  persona: ({ prompt, wording, failure_reward }) =>
    PERSONAS[prompt]({
      commands: commandList(PUT[wording === 'put' ? 'put' : 'move'].help),
      failure: failure_reward,
    }),
})
