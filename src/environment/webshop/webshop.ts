import { z } from 'zod'
import { environment } from '../environment.js'
import { plainPersona, studyPersona } from './persona.js'
import { openShop } from './shop.js'
import { WebShop } from './world.js'

const args = z.strictObject({
  /** The folder with the products, or with what `trinity data webshop` made of them. Absent: the variable WEBSHOP_PATH. */
  data: z.string().optional(),
  /** The first so many products; null: all. */
  num_products: z.int().min(1).nullable().default(null),
  /** Instructions by people; false: made from attributes. */
  human_goals: z.boolean().default(true),
  /** A button that shows the attributes of a product. */
  show_attrs: z.boolean().default(false),
  /** Draws the prices that lie in a range, and the limits of the goals. */
  seed: z.int().min(0).default(0),
  /** What an action costs that the page does not allow. */
  invalid_reward: z.number().default(-0.1),
  /** Whether such an action ends the visit (prompt r3l only). */
  end_on_invalid: z.boolean().default(false),
  /** What a visit without a purchase is worth; null: what its last step earned. */
  unfinished_reward: z.number().nullable().default(null),
  /** Whose prompt, tags and rules for wrong replies. */
  prompt: z.enum(['r3l', 'trinity']).default('r3l'),
})

export const webshop = environment({
  doc: 'a web shop in text: search, look, choose options, buy what an instruction asks for',
  args,
  maxSteps: 15,
  create: async (given, { logger }) => new WebShop(await openShop(given, logger), given),
  persona: (given) => (given.prompt === 'trinity' ? plainPersona(given) : studyPersona(given)),
})
