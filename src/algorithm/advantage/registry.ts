import { Registry } from '../../base/registry.js'
import type { AdvantageFn } from './advantage.js'
import { asymre } from './asymre.js'
import { asymreVerl } from './asymre-verl.js'
import { clipb } from './clipb.js'
import { clipv } from './clipv.js'
import { gigpo } from './gigpo.js'
import { grpo } from './grpo.js'
import { grpoReweightAdv } from './grpo-reweight-adv.js'
import { grpoVerl } from './grpo-verl.js'
import { jsd } from './jsd.js'
import { onPolicyDistill } from './on-policy-distill.js'
import { opmd } from './opmd.js'
import { opmdReweightAdv } from './opmd-reweight-adv.js'
import { opmdVerl } from './opmd-verl.js'
import { ppo } from './ppo.js'
import { raft } from './raft.js'
import { rec } from './rec.js'
import { reinforce } from './reinforce.js'
import { reinforceplusplus } from './reinforceplusplus.js'
import { remax } from './remax.js'
import { rloo } from './rloo.js'
import { stepWiseGrpo } from './step-wise-grpo.js'
import { stepWiseOpmd } from './step-wise-opmd.js'
import { stepWiseOpmdReweightAdv } from './step-wise-opmd-reweight-adv.js'

/** Advantage functions by the name that `algorithm.advantage_fn` gives. */
export const advantageFns = new Registry<AdvantageFn>('advantage function', {
  ppo,
  grpo,
  grpo_verl: grpoVerl,
  step_wise_grpo: stepWiseGrpo,
  gigpo,
  reinforceplusplus,
  reinforce,
  remax,
  rloo,
  opmd,
  opmd_verl: opmdVerl,
  asymre,
  asymre_verl: asymreVerl,
  rec,
  raft,
  on_policy_distill: onPolicyDistill,
  jsd,
  clipb,
  clipv,
  grpo_reweight_adv: grpoReweightAdv,
  opmd_reweight_adv: opmdReweightAdv,
  step_wise_opmd: stepWiseOpmd,
  step_wise_opmd_reweight_adv: stepWiseOpmdReweightAdv,
})
