import { z } from 'zod'
import { environment } from '../environment.js'
import { plainPersona, studyPersona } from './persona.js'
import { openShop } from './shop.js'
import { WebShop } from './world.js'

const args = z.strictObject({
  data: z
    .string()
    .optional()
    .describe(
      'The folder with the products, or with what `trinity data webshop` made of them. Absent: the variable WEBSHOP_PATH.',
    ),
  num_products: z.int().min(1).nullable().default(null).describe('The first so many products; null: all.'),
  human_goals: z.boolean().default(true).describe('Instructions by people; false: made from attributes.'),
  show_attrs: z.boolean().default(false).describe('A button that shows the attributes of a product.'),
  seed: z.int().min(0).default(0).describe('Draws the prices that lie in a range, and the limits of the goals.'),
  invalid_reward: z.number().default(-0.1).describe('What an action costs that the page does not allow.'),
  end_on_invalid: z.boolean().default(false).describe('Whether such an action ends the visit (prompt r3l only).'),
  unfinished_reward: z
    .number()
    .nullable()
    .default(null)
    .describe('What a visit without a purchase is worth; null: what its last step earned.'),
  prompt: z.enum(['r3l', 'trinity']).default('r3l').describe('Whose prompt, tags and rules for wrong replies.'),
})

export const webshop = environment({
  doc: 'a web shop in text: search, look, choose options, buy what an instruction asks for',
  args,
  maxSteps: 15,
  create: async (given, { logger }) => new WebShop(await openShop(given, logger), given),
  persona: (given) => (given.prompt === 'trinity' ? plainPersona(given) : studyPersona(given)),
})
