import { availableParallelism } from 'node:os'
import type { LogDir, Logger } from '../../base/log/logger.js'
import type { Config, InferenceModelConfig } from '../../config/index.js'
import { thisMachine } from '../../machine/ground/this-machine.js'
import { cudaDevices } from '../../machine/python/gpus.js'
import type { SampleSpec } from '../contract.js'
import type { EngineContext } from '../description.js'
import { logPrefix } from '../spec.js'
import { AttachedServer } from './attached-server.js'
import { devicesOf } from './devices.js'
import type { ServedOptions } from './engine.js'
import { OwnedServer } from './owned-server.js'
import { type ServerPackage, serverPython } from './python.js'
import type { ServerApi } from './server-api.js'

/** What makes one kind of server. */
export interface ServerKind {
  /** `engine_type` */
  readonly engine: string
  readonly package: ServerPackage
  /** What `python -m` runs. */
  readonly module: string
  newApi(baseUrl: string, key: string | undefined): ServerApi
  args(spec: SampleSpec, model: InferenceModelConfig, port: number): readonly string[]
  env(): Readonly<Record<string, string>>
}

/** What of a run its servers need. */
export type ServedContext = Pick<EngineContext, 'logs' | 'roster' | 'ground'>

/** The servers of each model that a run opens: first that of the rollouts, then the auxiliary ones in their order. */
export function serversOf(
  config: Config,
  { logs, roster, ground: openGround }: ServedContext,
  kind: ServerKind,
): ServedOptions['sources'] {
  const { rollout_model: rollout, auxiliary_models: others } = config.explorer
  const { title } = kind.package
  return async (spec) => {
    const { auxiliary } = spec
    const model = auxiliary === undefined ? rollout : others[auxiliary]
    const key = model.api_key === 'EMPTY' ? undefined : model.api_key
    const newApi = (baseUrl: string) => kind.newApi(baseUrl, key)
    if (model.base_url !== null) {
      return addresses(model.base_url).map((baseUrl) => new AttachedServer({ title, baseUrl, newApi }))
    }
    const python = serverPython(kind.package)
    const count = Math.max(1, model.engine_num)
    const cluster = await openGround?.()
    const ground = cluster ?? thisMachine(python)
    const group = auxiliary === undefined ? 'rollout' : `auxiliary_${auxiliary}`
    const gpu = cluster !== undefined && cluster.gpus > 0
    return Array.from({ length: count }, (_, i) => {
      const name = `${logPrefix(config)}${kind.engine}_${auxiliary === undefined ? i : `${auxiliary + 1}_${i}`}`
      // a cluster deals out its own
      const devices = cluster ? undefined : devicesOf(config, i, auxiliary)
      return new OwnedServer(
        {
          title,
          ground,
          wish: { group, of: count, index: i, devices: Math.max(1, model.gpu_per_engine), gpu },
          python,
          module: kind.module,
          args: (port) => kind.args(spec, model, port),
          env: {
            ...kind.env(),
            ...(devices !== undefined ? { CUDA_VISIBLE_DEVICES: devices } : gpu ? {} : threads(count)),
          },
          port: model.base_port === null ? undefined : model.base_port + i,
          log: logs && logLines(logs, name),
          roster,
          newApi,
        },
        i,
      )
    })
  }
}

/** The log of a server; with one for each node that it was on, where they are told apart. */
function logLines(logs: LogDir, name: string): (line: string, node: string | undefined) => void {
  const loggers = new Map<string | undefined, Logger>()
  return (line, node) => {
    const logger = loggers.get(node) ?? logs.logger(name, node)
    loggers.set(node, logger)
    logger.info(line)
  }
}

/** Several servers are several addresses, separated by spaces or commas. */
function addresses(text: string): string[] {
  return text.split(/[\s,]+/).filter((one) => one !== '')
}

/** Servers on processors share them. */
function threads(servers: number): Record<string, string> {
  if (cudaDevices() > 0) return {}
  return { OMP_NUM_THREADS: String(Math.max(1, Math.floor(availableParallelism() / servers))) }
}
