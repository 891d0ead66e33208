import { anthropic } from './anthropic/anthropic.js'
import type { Dialect } from './dialect.js'
import { chat } from './openai/chat.js'

/** The APIs that a server speaks. */
export const dialects: readonly Dialect[] = [chat, anthropic]
