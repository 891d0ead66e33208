import type { Config } from '../../config/index.js'
import { cudaDevices } from '../../machine/python/gpus.js'
import type { EngineContext } from '../description.js'
import { servedCaps } from '../served/caps.js'
import { ServedEngine } from '../served/engine.js'
import { type ServedContext, type ServerKind, serversOf } from '../served/from-config.js'
import { SglangApi } from './api.js'
import { sglangArgs } from './flags.js'
import { SGLANG } from './package.js'

/** How SGLang servers are started and spoken to. */
export const sglangServers: ServerKind = {
  engine: 'sglang',
  package: SGLANG,
  module: 'trinity_served.sglang_server',
  newApi: (baseUrl, key) => new SglangApi(baseUrl, key),
  args: (spec, model, port) => [...sglangArgs(spec, model), '--port', String(port)],
  env: () => ({
    // it is asked for a little more than the model has, and never uses that
    SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN: '1',
    ...(cudaDevices() === 0 && { SGLANG_USE_CPU_ENGINE: '1' }),
  }),
}

/** The SGLang servers that a configuration names or asks for. */
export function openSglang(config: Config, context: ServedContext & Pick<EngineContext, 'note'>): ServedEngine {
  return new ServedEngine({
    name: 'sglang',
    title: 'SGLang',
    caps: servedCaps,
    note: context.note,
    sources: serversOf(config, context, sglangServers),
  })
}
