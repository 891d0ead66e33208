import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'
import { printConfig } from '../../config/print.js'
import { readRecords } from '../../run/record.js'
import type { ChatReply, ModelList, TasksetList, TryAnswer } from '../api.js'
import { acting, type Part } from '../part.js'
import type { Runs } from '../run/runs.js'
import { modelsOf, openable } from './models.js'
import type { Players } from './players.js'
import { tasksetsOf } from './tasksets.js'

const text = z.string().max(1 << 20)
const message = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: text })
const sampling = z.strictObject({
  temperature: z.number().min(0).max(100).optional(),
  topP: z.number().gt(0).max(1).optional(),
  topK: z.number().int().min(-1).optional(),
  maxTokens: z.number().int().min(1).max(4096).optional(),
  seed: z.number().int().min(0).optional(),
  repetitionPenalty: z.number().gt(0).max(10).optional(),
})
const chatBody = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1).max(1000),
  isPlain: z.boolean().optional(),
  sampling: sampling.optional(),
})
const tryBody = z.strictObject({
  run: z.string(),
  model: z.string().optional(),
  task: z.number().int().min(0),
  taskset: z.string().optional(),
})

/** Models that answer, and tasks that are tried, in processes of their own. */
export function playgroundParts(runs: Runs, players: Players): Part[] {
  async function configOf(run: string): Promise<Config> {
    const [record] = await readRecords((await runs.get(run)).path)
    if (record) return record.config
    throw new TrinityError('studio/no-source', 'the run did not record its configuration', {
      hint: 'an earlier release has made it: choose another run',
    })
  }

  return [
    {
      path: '/models',
      answer: async (): Promise<ModelList> => {
        const open = players.names
        return { models: (await modelsOf(runs)).map((one) => ({ ...one, isOpen: open.includes(one.path) })) }
      },
    },
    {
      path: '/runs/:run/tasksets',
      answer: async (_, run): Promise<TasksetList> => ({ tasksets: tasksetsOf(await configOf(run)) }),
    },
    acting('/chat', chatBody, async (body, _, { tell, signal }) => {
      const model = await openable(runs.given, body.model)
      return players.ask<ChatReply>(model, 'chat', { ...body, model }, { onPart: tell, signal })
    }),
    acting('/try', tryBody, async ({ run, model, ...body }, _, { tell, signal }) => {
      const config = await configOf(run)
      const given = model === undefined ? undefined : await openable(runs.given, model)
      const query = { ...body, model: given, yaml: printConfig(config) }
      return players.ask<TryAnswer>(`${run} ${given}`, 'try', query, { onPart: tell, signal })
    }),
    acting('/models/close', z.strictObject({ model: z.string() }), async ({ model }) => {
      await players.end(model)
      return {}
    }),
  ]
}
