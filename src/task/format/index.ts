import './cpt.js'
import './dpo.js'
import './sft.js'

export type { ChatCoder } from './chat-coder.js'
export { createFormatter, type Format, type FormatterType, formatters } from './formatter.js'
export { messagesOf, toolsOf } from './messages.js'
export type { Limits } from './sequence.js'
export { formatTask } from './task.js'
