import { Registry } from '../base/registry.js'
import type { OperatorEntry } from './operator.js'
import { dapoDynamicSampling } from './operators/dapo-dynamic-sampling.js'
import { dataJuicer } from './operators/data-juicer.js'
import { invalidRewardFilter } from './operators/invalid-reward-filter.js'
import { maskResponseTruncated } from './operators/mask-response-truncated.js'
import { opmdFilter } from './operators/opmd-filter.js'
import { passRateCalculator } from './operators/pass-rate-calculator.js'
import { raftFilter } from './operators/raft-filter.js'
import { rewardFilter } from './operators/reward-filter.js'
import { rewardShapingMapper } from './operators/reward-shaping-mapper.js'
import { rewardStdFilter } from './operators/reward-std-filter.js'

/** Operators on experiences by name. */
export const operators = new Registry<OperatorEntry>('experience operator', {
  reward_filter: rewardFilter,
  reward_std_filter: rewardStdFilter,
  dapo_dynamic_sampling: dapoDynamicSampling,
  mask_response_truncated: maskResponseTruncated,
  reward_shaping_mapper: rewardShapingMapper,
  pass_rate_calculator: passRateCalculator,
  data_juicer: dataJuicer,
  invalid_reward_filter: invalidRewardFilter,
  OPMD_filter: opmdFilter,
  RAFT_filter: raftFilter,
})
