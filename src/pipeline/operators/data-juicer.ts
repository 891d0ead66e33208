import { z } from 'zod'
import { fromArrow, toArrow } from '../data-juicer/arrow.js'
import { DataJuicerClient } from '../data-juicer/client.js'
import { operator } from '../operator.js'

const service = z.object({
  server_url: z.string().nullable().default(null),
  auto_start: z.boolean().default(false),
  port: z.number().int().nullable().default(null),
})

export const dataJuicer = operator({
  doc: 'Sends the experiences through operators of a Data-Juicer service.',
  args: z.strictObject({
    operators: z.array(z.unknown()).nullable().default(null).describe('Data-Juicer operators, in order.'),
    config_path: z.string().nullable().default(null).describe('Data-Juicer configuration file; replaces operators.'),
    np: z.number().int().positive().default(4).describe('Processes of the service.'),
    service_config: service.nullable().default(null).describe('The service; taken from `service.data_juicer`.'),
  }),
  async create({ operators, config_path, np, service_config }, context) {
    const client = new DataJuicerClient(service_config ?? service.parse(context.service?.data_juicer ?? {}))
    const session = await client.create({ pipeline_type: 'experience', operators, config_path, np })
    return {
      async process(experiences, signal) {
        if (experiences.length === 0) return { experiences: [] }
        const { table, metrics } = await session.process(toArrow(experiences), signal)
        const result = fromArrow(table, experiences)
        const left = experiences.length - result.length
        const dropped: Record<string, number> = left > 0 ? { 'Data-Juicer': left } : {}
        return { experiences: result, metrics, dropped }
      },
      close: () => session.close(),
    }
  },
})
