/** Losses as data: a formula is traced once into a small graph that every engine can evaluate and differentiate. */

export { activeTokens, couplingOf, defineLoss, LossTrace, makeLoss, type NormFn } from './define.js'
export { type Evaluation, evaluateLoss, evaluateTokens, type TokenScores } from './evaluate.js'
export * from './graph.js'
export { idColumn, type Loss, type LossMetric, type LossMetrics, type LossRow, type ScoreKind } from './loss.js'
export type { Shape } from './ops.js'
export type { TokenFormula } from './program.js'
export { ordinary, silentRows } from './silent.js'
export { Expr, type Operand, Trace } from './trace.js'
export { parseGraph, validateGraph } from './validate.js'
