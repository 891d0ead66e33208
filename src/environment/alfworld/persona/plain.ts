import type { Persona } from '../../environment.js'

/** The game's own greeting. */
const BANNER = /^-=.*=-\s*/

/** For small models: what the game says is the message, what the model says is the command. */
export const plain: Persona = {
  prompt: ({ step, observation }) => (step === 0 ? observation.replace(BANNER, '') : observation),
  action: (reply) => reply.trim(),
}
