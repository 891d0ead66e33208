import { activeTokens, type Expr, type LossTrace } from '../../graph/index.js'

/**
 * How advantage and log-prob of a token move together, against the means of the whole mini-batch (arXiv:2505.22617):
 *   cov = (A − mean A)·(sg(logp) − mean sg(logp))
 */
export function covariance(g: LossTrace): Expr {
  const tokens = g.count().total().max(1)
  const centered = (x: Expr) => x.sub(x.total().div(tokens))
  return centered(g.column('advantage')).mul(centered(g.logprob.detach()))
}

/** That share of all tokens, rounded down, but one at least. */
export function tokensOf(g: LossTrace, name: string, share: number): Expr {
  return g.norm(name, (rows) => Math.max(1, Math.floor(share * activeTokens(rows))))
}
