import { TrinityError } from '../../base/error.js'
import { nearest } from '../../base/nearest.js'
import type { ChatArgs } from '../chat-args.js'
import type { CompletionRequest } from './types.js'

const SAMPLING = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'repetition_penalty',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'min_tokens',
  'n',
  'stop',
  'stop_token_ids',
  'include_stop_str_in_output',
  'ignore_eos',
  'seed',
  'response_format',
  'guided_json',
  'guided_regex',
  'guided_choice',
  'parallel_tool_calls',
  'enable_thinking',
  'chat_template_kwargs',
] as const

const HANDLED = ['messages', 'max_tokens', 'max_completion_tokens', 'logprobs', 'top_logprobs', 'tools', 'tool_choice']
/** Say nothing about what is sampled. */
const HARMLESS = [
  'model',
  'stream',
  'stream_options',
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'verbosity',
]
/** Understood only where they ask for nothing. */
const NEUTRAL: Record<string, (value: unknown) => boolean> = {
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
  functions: (value) => Array.isArray(value) && value.length === 0,
}

/** A request of the OpenAI API as arguments of `chat`. What cannot be done is refused, never ignored. */
export function chatArgs(body: CompletionRequest): ChatArgs {
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue
    if ((SAMPLING as readonly string[]).includes(key) || HANDLED.includes(key) || HARMLESS.includes(key)) continue
    if (NEUTRAL[key]?.(value)) continue
    const near = nearest(key, [...SAMPLING, ...HANDLED])
    throw new TrinityError('openai/unsupported', `chat.completions.create: '${key}' is not supported here`, {
      path: key,
      hint: key in NEUTRAL ? 'leave it out' : near ? `did you mean '${near}'?` : 'leave it out',
    })
  }
  const args: Record<string, unknown> = {}
  for (const key of SAMPLING) if (body[key] !== undefined && body[key] !== null) args[key] = body[key]
  const most = body.max_completion_tokens ?? body.max_tokens
  if (most !== undefined && most !== null) args.max_tokens = most
  if (body.logprobs && body.top_logprobs) args.logprobs = body.top_logprobs
  if (body.tool_choice !== 'none' && body.tools?.length) {
    args.tools = body.tools
    if (body.tool_choice) args.tool_choice = body.tool_choice
  } else if (body.tool_choice && body.tool_choice !== 'none' && body.tool_choice !== 'auto') {
    throw new TrinityError('openai/unsupported', 'tool_choice asks for a call, and there are no tools', {
      path: 'tool_choice',
      hint: 'give the tools as well',
    })
  }
  return args as ChatArgs
}
