import { TrinityError } from '../base/error.js'
import type { MemoryReport, ModelInfo, RewardModel, SampleModel } from './contract.js'

/** The part of a sampler that reaches another process or thread. */
export type RemoteCalls = Pick<SampleModel, 'version' | 'sample' | 'score'>

/** A sampler whose model is elsewhere: it samples and scores, and keeps the weights that it is given there. */
export function remoteSampler(info: ModelInfo, calls: RemoteCalls): SampleModel {
  let sampledTokens = 0
  let promptTokens = 0
  const refuse = async (): Promise<never> => {
    throw new TrinityError('engine/unsupported', 'a model of another process keeps the weights it has')
  }
  return {
    home: {},
    info,
    get version() {
      return calls.version
    },
    async sample(request, call, onToken) {
      const samples = await calls.sample(request, call, onToken)
      promptTokens += request.prompt.length
      for (const { tokens } of samples) sampledTokens += tokens.length
      return [...samples]
    },
    score: (rows, call) => calls.score(rows, call),
    saveWeights: refuse,
    loadWeights: refuse,
    stats: () => ({
      running: 0,
      waiting: 0,
      cacheTokensUsed: 0,
      cacheTokens: 0,
      promptTokens,
      cachedTokens: 0,
      sampledTokens,
    }),
    memory: noMemory,
    close: async () => {},
  }
}

/** A reward model that is elsewhere. */
export function remoteReward(info: ModelInfo, reward: RewardModel['reward']): RewardModel {
  return { info, memory: noMemory, close: async () => {}, reward }
}

const noMemory = (): MemoryReport => ({ weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 })
