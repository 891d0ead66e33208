import type { Config } from '../../config/index.js'
import type { EngineContext } from '../description.js'
import { servedCaps } from '../served/caps.js'
import { ServedEngine } from '../served/engine.js'
import { type ServedContext, type ServerKind, serversOf } from '../served/from-config.js'
import { VllmApi } from './api.js'
import { vllmArgs } from './flags.js'
import { VLLM } from './package.js'

/** How vLLM servers are started and spoken to. */
export const vllmServers: ServerKind = {
  engine: 'vllm',
  package: VLLM,
  module: 'vllm.entrypoints.openai.api_server',
  newApi: (baseUrl, key) => new VllmApi(baseUrl, key),
  args: (spec, model, port) => [...vllmArgs(spec, model), '--port', String(port)],
  env: vllmEnv,
}

/** The vLLM servers that a configuration names or asks for. */
export function openVllm(config: Config, context: ServedContext & Pick<EngineContext, 'note'>): ServedEngine {
  return new ServedEngine({
    name: 'vllm',
    title: 'vLLM',
    caps: servedCaps,
    note: context.note,
    sources: serversOf(config, context, vllmServers),
  })
}

function vllmEnv(): Record<string, string> {
  return {
    // pause, reload and abort are among the routes of developers
    VLLM_SERVER_DEV_MODE: '1',
    VLLM_NO_USAGE_STATS: '1',
    DO_NOT_TRACK: '1',
    // the other one has a sampler of its own, whose log-probs are not ours
    VLLM_USE_V2_MODEL_RUNNER: '0',
  }
}
