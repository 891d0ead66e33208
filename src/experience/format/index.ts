export type { ChatCoder } from './chat-coder.js'
export type { Format, FormatterType } from './formatter.js'
export { createFormatter, formatters } from './registry.js'
export type { LengthLimits } from './sequence.js'
