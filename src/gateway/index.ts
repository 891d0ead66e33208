/**
 * An HTTP server in front of a model, with a session for every rollout: programs that know nothing of training reach the
 * model by the API they were written for. It knows models that chat, and not who trains them.
 */

export type { Extension } from './extension.js'
export { Gateway, type GatewayOptions } from './gateway.js'
export { isLoopback } from './guard.js'
export type { HistogramCounts } from './histogram.js'
export type { GatewayLimits } from './limits.js'
export type { GatewayStats } from './meter.js'
export type { CallRecord, Session, SessionParts } from './session.js'
export type { VisitorOptions } from './visitors.js'
