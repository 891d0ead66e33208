import { environment } from '../environment.js'
import { scienceWorldArgs } from './args.js'
import { PERSONAS } from './persona.js'
import { ScienceWorld } from './world.js'

export { releaseOf } from './simulator/jar.js'
export { taskVariations } from './simulator/variations.js'
export { ScienceWorld } from './world.js'

export const scienceWorld = environment({
  doc: 'experiments of elementary science by text commands, in the simulator of ScienceWorld',
  args: scienceWorldArgs,
  maxSteps: 30,
  create: (args, context) => new ScienceWorld(args, context),
  persona: ({ prompt }) => PERSONAS[prompt],
})
