import { anthropic } from './anthropic/anthropic.js'
import { completions } from './completions/completions.js'
import type { Dialect } from './dialect.js'
import { chat } from './openai/chat.js'
import { responses } from './responses/responses.js'

/** The APIs that a server speaks. */
export const dialects: readonly Dialect[] = [chat, completions, responses, anthropic]
