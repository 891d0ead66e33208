import { defaultStrategy } from './default.js'

/** The old name of `default`; warm-up data is now a stage of its own. */
export const warmup = { ...defaultStrategy, doc: 'old name of default' }
