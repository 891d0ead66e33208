import { Registry } from '../../base/registry.js'
import { cispo } from './cispo.js'
import { clipCov } from './clip-cov.js'
import { critiqueGrpo } from './critique-grpo.js'
import { dpo } from './dpo.js'
import { dppoKl, dppoTv } from './dppo.js'
import { geoMean } from './geo-mean.js'
import { gpg } from './gpg.js'
import { gspo } from './gspo.js'
import { importanceSampling } from './importance-sampling.js'
import { klCov } from './kl-cov.js'
import { m2po } from './m2po.js'
import { mix } from './mix.js'
import { mixChord } from './mix-chord.js'
import { opmd } from './opmd.js'
import type { PolicyLoss } from './policy-loss.js'
import { ppo } from './ppo.js'
import { r3l } from './r3l.js'
import { rec } from './rec.js'
import { sapo } from './sapo.js'
import { sft } from './sft.js'
import { sftIs } from './sft-is.js'
import { sftPhi } from './sft-phi.js'
import { sppo } from './sppo.js'
import { topr } from './topr.js'

/** Policy losses by the name that `algorithm.policy_loss_fn` gives. */
export const policyLossFns = new Registry<PolicyLoss>('policy loss', {
  ppo,
  opmd,
  dpo,
  sft,
  mix,
  gspo,
  topr,
  cispo,
  sft_is: sftIs,
  sft_phi: sftPhi,
  mix_chord: mixChord,
  sppo,
  rec,
  sapo,
  importance_sampling: importanceSampling,
  critique_grpo: critiqueGrpo,
  gpg,
  geo_mean: geoMean,
  dppo_tv: dppoTv,
  dppo_kl: dppoKl,
  clip_cov: clipCov,
  kl_cov: klCov,
  m2po,
  r3l,
})
