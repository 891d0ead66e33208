import { Registry } from '../../base/registry.js'
import { abs } from './abs.js'
import { correctedK3 } from './corrected-k3.js'
import { k1 } from './k1.js'
import { k2 } from './k2.js'
import { k3 } from './k3.js'
import type { KlFn } from './kl.js'
import { lowVarKl } from './low-var-kl.js'
import { none } from './none.js'

export const klFns = new Registry<KlFn>('KL function', {
  none,
  k1,
  k2,
  k3,
  low_var_kl: lowVarKl,
  abs,
  corrected_k3: correctedK3,
})
