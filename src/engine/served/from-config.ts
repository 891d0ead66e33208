import { availableParallelism } from 'node:os'
import type { Config, InferenceModelConfig } from '../../config/index.js'
import { cudaDevices } from '../../machine/python/gpus.js'
import type { SampleSpec } from '../contract.js'
import type { EngineContext } from '../description.js'
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

/** The servers of each model that a run opens: first that of the rollouts, then the auxiliary ones in their order. */
export function serversOf(
  config: Config,
  { logs }: Pick<EngineContext, 'logs'>,
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
    return Array.from({ length: count }, (_, i) => {
      const logger = logs?.logger(`${kind.engine}_${auxiliary === undefined ? i : `${auxiliary + 1}_${i}`}`)
      const devices = devicesOf(config, i, auxiliary)
      return new OwnedServer(
        {
          title,
          python,
          module: kind.module,
          args: (port) => kind.args(spec, model, port),
          env: {
            ...kind.env(),
            ...(devices !== undefined ? { CUDA_VISIBLE_DEVICES: devices } : threads(count)),
          },
          port: model.base_port === null ? undefined : model.base_port + i,
          log: logger && ((line) => logger.info(line)),
          newApi,
        },
        i,
      )
    })
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
