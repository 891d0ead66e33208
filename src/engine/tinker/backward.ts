import { datumOf, spread, type View } from './data.js'
import type { Datum } from './wire/forward-backward.js'

/** How a service turns the losses of tokens into one number, and what it takes as a weight. */
export interface LossForm {
  /** Divides the loss of a sequence by its number of tokens. */
  readonly perToken: boolean
  /** Divides the gradient by the number of sequences that made it up. */
  readonly perDatum: boolean
  /** Weights of `cross_entropy` may be of either sign, and are not divided by their sum. */
  readonly signedWeights: boolean
}

/** As the API is documented: everything is summed. */
export const DOCUMENTED: LossForm = { perToken: false, perDatum: false, signedWeights: true }

/** A view with d(loss)/d(log-prob) of its scored tokens, and the log-probs of all its tokens. */
export interface Pull {
  readonly view: View
  readonly grad: Float32Array
  readonly logprobs: Float32Array
}

export interface Pass {
  readonly lossFn: string
  readonly data: readonly Datum[]
}

/**
 * A pass whose gradient is Σ grad · d(log-prob), whatever loss the numbers are of: −Σ w·logp with w = −grad. Where weights
 * have to be shares, −Σ e^(logp − q)·A with q = logp, so that the ratio is 1, and A = −grad. Rows without a gradient are
 * left out, unless their log-probs are wanted; and but for services that take means: those compile a program for every
 * number of rows, which takes longer than the rows do.
 */
export function backwardPass(pulls: readonly Pull[], form: LossForm, all = false): Pass {
  const heard = all || form.perDatum ? pulls : pulls.filter(({ grad }) => grad.some((x) => x !== 0))
  if (isSummed(form)) {
    return {
      lossFn: 'cross_entropy',
      data: heard.map(({ view, grad }) => datumOf(view, { weights: spread(view.row, grad.map(negative)) })),
    }
  }
  return {
    lossFn: 'importance_sampling',
    data: heard.map(({ view, grad, logprobs }) => {
      const scale = (form.perToken ? logprobs.length : 1) * (form.perDatum ? heard.length : 1)
      return datumOf(view, {
        logprobs,
        advantages: spread(
          view.row,
          grad.map((x) => -scale * x),
        ),
      })
    }),
  }
}

/** Whether a weight is simply the weight of its token. */
export function isSummed({ perToken, perDatum, signedWeights }: LossForm): boolean {
  return !perToken && !perDatum && signedWeights
}

/** A gradient that is not a number must not reach the service. */
export function isFinitePull({ grad }: Pull): boolean {
  return grad.every(Number.isFinite)
}

const negative = (x: number) => -x
