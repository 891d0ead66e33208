import { idColumn, type ScoreKind } from './loss.js'

/** `token`: one number per active token. `row`: one per row. `scalar`: one for everything that is evaluated at once. */
export type Shape = 'token' | 'row' | 'scalar'

/** What a node is known to hold, derived from its operation and operands. */
export interface NodeType {
  readonly shape: Shape
  readonly bool: boolean
}

/** Scores that go by a fixed name; log-probs of other tokens come after them. */
export const SCORE_KINDS: readonly ScoreKind[] = ['logprob', 'entropy', 'sum_pi_squared', 'value']

export function isScore(name: string): name is ScoreKind {
  return (SCORE_KINDS as readonly string[]).includes(name) || idColumn(name) !== undefined
}

/** Element-wise operations: the JavaScript of their value, and what they take and give. */
interface MapOp {
  readonly arity: 1 | 2 | 3
  /** Emits an expression from the names of the operands. Only names made by the compiler ever get in here. */
  readonly js: (...operands: string[]) => string
  /** Which operands are truth values; all others are numbers. */
  readonly takesBool?: readonly boolean[]
  readonly givesBool?: boolean
}

const infix = (sign: string) => (a: string, b: string) => `(${a} ${sign} ${b})`
const compare = (sign: string): MapOp => ({ arity: 2, js: infix(sign), givesBool: true })

const MAP_OPS = {
  add: { arity: 2, js: infix('+') },
  sub: { arity: 2, js: infix('-') },
  mul: { arity: 2, js: infix('*') },
  div: { arity: 2, js: infix('/') },
  neg: { arity: 1, js: (a) => `(-${a})` },
  exp: { arity: 1, js: (a) => `Math.exp(${a})` },
  log: { arity: 1, js: (a) => `Math.log(${a})` },
  abs: { arity: 1, js: (a) => `Math.abs(${a})` },
  sqrt: { arity: 1, js: (a) => `Math.sqrt(${a})` },
  /** −1, 0 or 1; its slope is 0 everywhere. */
  sign: { arity: 1, js: (a) => `Math.sign(${a})` },
  /** The exponent is a constant. */
  pow: { arity: 2, js: (a, b) => `Math.pow(${a}, ${b})` },
  sigmoid: { arity: 1, js: (a) => `sigmoid(${a})` },
  logSigmoid: { arity: 1, js: (a) => `logSigmoid(${a})` },
  logAddExp: { arity: 2, js: (a, b) => `logAddExp(${a}, ${b})` },
  // Written out, because a NaN operand must give NaN and Math.min/max are slow on some versions of V8.
  min: { arity: 2, js: (a, b) => `(${a} <= ${b} || ${a} !== ${a} ? ${a} : ${b})` },
  max: { arity: 2, js: (a, b) => `(${a} >= ${b} || ${a} !== ${a} ? ${a} : ${b})` },
  /** The bounds are constants or normalizers: no gradient flows into them. */
  clamp: { arity: 3, js: (x, lo, hi) => `(${x} < ${lo} ? ${lo} : ${x} > ${hi} ? ${hi} : ${x})` },
  where: { arity: 3, js: (c, a, b) => `(${c} ? ${a} : ${b})`, takesBool: [true, false, false] },
  lt: compare('<'),
  le: compare('<='),
  gt: compare('>'),
  ge: compare('>='),
  eq: compare('==='),
  and: { arity: 2, js: infix('&&'), takesBool: [true, true], givesBool: true },
  or: { arity: 2, js: infix('||'), takesBool: [true, true], givesBool: true },
  not: { arity: 1, js: (a) => `(!${a})`, takesBool: [true], givesBool: true },
  detach: { arity: 1, js: (a) => a },
} as const satisfies Record<string, MapOp>
export type MapOpName = keyof typeof MAP_OPS

/**
 * Only differentiation makes these; no serialized graph may hold them. A gradient of zero stays zero whatever it is
 * multiplied by: the branch that `where` did not select may hold an infinity.
 */
const GRADIENT_OPS = {
  gmul: { arity: 2, js: (g, x) => `(${g} === 0 ? 0 : ${g} * ${x})` },
  gdiv: { arity: 2, js: (g, x) => `(${g} === 0 ? 0 : ${g} / ${x})` },
} as const satisfies Record<string, MapOp>

const mapOps = new Map<string, MapOp>(Object.entries({ ...MAP_OPS, ...GRADIENT_OPS }))
export const mapOp = (op: string): MapOp | undefined => mapOps.get(op)

interface ReshapeOp {
  readonly from: readonly Shape[]
  readonly to: Shape
}

/** Operations that change the shape. */
const RESHAPE_OPS = {
  /** Sum over the active tokens of each row. */
  rowSum: { from: ['token'], to: 'row' },
  /** Greatest of the active tokens of each row; 0 for a row that has none. */
  rowMax: { from: ['token'], to: 'row' },
  /** Every row gets the sum over all rows of its bundle. A row without a bundle is one by itself. */
  bundleSum: { from: ['row'], to: 'row' },
  /** The same over the rows of its group: those of one task. */
  groupSum: { from: ['row'], to: 'row' },
  groupMax: { from: ['row'], to: 'row' },
  /** Sum over all active tokens, or over all rows. */
  total: { from: ['token', 'row'], to: 'scalar' },
  /** Every active token gets the number or the truth value of its row. */
  toTokens: { from: ['row'], to: 'token' },
} as const satisfies Record<string, ReshapeOp>
export type ReshapeOpName = keyof typeof RESHAPE_OPS

/** Operations that look at the order of all active tokens, or of all rows: operands and result have one shape. */
const ORDER_OPS = {
  /** How many stand before it, from the greatest on; of equal ones the earlier stands first. */
  rank: { arity: 1 },
  /** Sum of the first operand over all whose rank by the second is not below its own. */
  cumSum: { arity: 2 },
} as const satisfies Record<string, { arity: number }>
export type OrderOpName = keyof typeof ORDER_OPS

const orderOps = new Map<string, { readonly arity: number }>(Object.entries(ORDER_OPS))
export const orderOp = (op: string): { readonly arity: number } | undefined => orderOps.get(op)

/** Needs every row of the mini-batch at once. */
export const isBatchWide = (op: string): boolean => orderOps.has(op) || op === 'groupSum' || op === 'groupMax'

/** What the metrics `max` and `min` become; not part of the format either. */
const EXTREME_OPS = {
  totalMax: { from: ['token', 'row'], to: 'scalar' },
  totalMin: { from: ['token', 'row'], to: 'scalar' },
} as const satisfies Record<string, ReshapeOp>

const reshapeOps = new Map<string, ReshapeOp>(Object.entries({ ...RESHAPE_OPS, ...EXTREME_OPS }))
export const reshapeOp = (op: string): ReshapeOp | undefined => reshapeOps.get(op)

/** Where numbers come from. */
const INPUT_OPS = ['const', 'norm', 'column', 'score', 'count'] as const
export type InputOpName = (typeof INPUT_OPS)[number]

export type OpName = InputOpName | MapOpName | ReshapeOpName | OrderOpName
/** Operations of a compiled program: those of the format and those that only the compiler makes. */
export type ProgramOp = OpName | keyof typeof GRADIENT_OPS | keyof typeof EXTREME_OPS
export const OP_NAMES: readonly string[] = [
  ...INPUT_OPS,
  ...[MAP_OPS, RESHAPE_OPS, ORDER_OPS].flatMap((table) => Object.keys(table)),
]

const RANK: Record<Shape, number> = { scalar: 0, row: 1, token: 2 }

/**
 * Shape of an element-wise result. Scalars go with anything; a row value meets tokens only after an explicit `toTokens`,
 * because the silent mix is nearly always a mistake. `undefined` = the shapes do not go together.
 */
export function joinShapes(shapes: readonly Shape[]): Shape | undefined {
  const widest = shapes.reduce((a, b) => (RANK[a] >= RANK[b] ? a : b), 'scalar')
  return shapes.every((shape) => shape === 'scalar' || shape === widest) ? widest : undefined
}
