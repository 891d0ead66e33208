/** How an answer is judged: reward functions, and the grader of mathematics behind them. */

export type { AnswerParser, AnswerVerifier } from './answer/answer.js'
export { answerParsers, answerVerifiers } from './answer/registry.js'
export { type CountdownPuzzle, countdownFault, countdownPuzzle } from './countdown.js'
export { type ExtractMode, extractAnswer } from './extract.js'
export { type GradeOptions, gradeMath } from './math/grade.js'
export { type OverlongPenalty, overlongPenalty } from './overlong.js'
export { prepareReward, type Reward, type Scorer } from './prepare.js'
export { rewardFns } from './registry.js'
export { type RewardFn, type RewardInput, type RewardParts, rewardFn } from './reward.js'
export { parseRlcr, type Rlcr, type RlcrFailure } from './rlcr.js'
export { toolCallReward } from './tool-call.js'
export { truthText } from './truth.js'
