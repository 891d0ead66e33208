import type { LogDir } from '../base/log/logger.js'
import type { Config } from '../config/index.js'
import { OwnDataJuicer } from '../pipeline/data-juicer/own-service.js'
import type { Closers } from './closers.js'

const OPERATOR = 'data_juicer'

export interface JuicerContext {
  readonly logs: LogDir
  readonly closers: Closers
  readonly signal: AbortSignal
  note(text: string): void
}

/**
 * Starts a Data-Juicer service where the run uses one and `auto_start` asks for it; it ends with the run. Gives the
 * configuration with its address. `tasksDue`: task files have to go through it first.
 */
export async function withDataJuicer(config: Config, tasksDue: boolean, context: JuicerContext): Promise<Config> {
  const given = config.service.data_juicer
  const { experience_pipeline } = config.data_processor
  const explores = config.mode !== 'train' && config.mode !== 'bench'
  const isUsed = tasksDue || (explores && experience_pipeline.operators.some(({ name }) => name === OPERATOR))
  if (!given?.auto_start || given.server_url !== null || !isUsed) return config
  const { logs, closers, signal, note } = context
  const logger = logs.logger('data_juicer')
  const service = closers.add(
    await OwnDataJuicer.start({ port: given.port ?? 0, log: (line) => logger.info(line), signal }),
  )
  note(`Data-Juicer ${service.version} was started at ${service.url}`)
  const data_juicer = { ...given, server_url: service.url }
  const operators = experience_pipeline.operators.map((one) =>
    one.name === OPERATOR ? { ...one, args: { ...one.args, service_config: data_juicer } } : one,
  )
  return {
    ...config,
    service: { ...config.service, data_juicer },
    data_processor: { ...config.data_processor, experience_pipeline: { ...experience_pipeline, operators } },
  }
}
