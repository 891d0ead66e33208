import { type Prompt, versionFields } from '../experience/conversation.js'
import { createExperience, type Experience } from '../experience/index.js'
import type { ChatMessage } from '../model/index.js'
import type { Answer } from './sample.js'

/** One answer to one prompt. */
export function callExperience(
  prompt: Prompt,
  tokens: Int32Array,
  { sample, text }: Answer,
  messages?: readonly ChatMessage[],
  tools?: readonly unknown[],
): Experience {
  const experience = createExperience({
    type: 'single_turn',
    eid: { suffix: '' },
    tokens,
    promptLength: prompt.tokens.length,
    actionMask: sample.choices,
    logprobs: sample.logprobs,
    drawnLogprobs: sample.drawnLogprobs,
    temperature: prompt.temperature,
    ...versionFields(sample.versions),
    truncateStatus: sample.finish === 'length' ? 'response_truncated' : undefined,
    promptText: prompt.text,
    responseText: text,
    messages: messages as Experience['messages'],
    tools: tools?.length ? (tools as Experience['tools']) : undefined,
  })
  if (sample.topLogprobs) {
    experience.info.top_logprobs = sample.topLogprobs.map((top) => ({
      tokens: [...top.tokens],
      logprobs: [...top.logprobs],
    }))
  }
  return experience
}

export const TRUNCATED_NOTICE = '[the prompt was too long: no answer was sampled]'

/** Stands in for an answer to a prompt that was too long: it keeps its group complete and has no gradient. */
export function truncatedExperience(
  { tokens, temperature }: Prompt,
  maxPromptTokens: number,
  version: number,
  messages?: readonly ChatMessage[],
): Experience {
  return createExperience({
    type: 'single_turn',
    eid: { suffix: '' },
    tokens: tokens.slice(0, maxPromptTokens + 1),
    promptLength: Math.min(maxPromptTokens, tokens.length - 1),
    logprobs: [0],
    actionMask: [0],
    temperature,
    modelVersion: version,
    reward: 0,
    truncateStatus: 'prompt_truncated',
    responseText: TRUNCATED_NOTICE,
    messages: messages as Experience['messages'],
  })
}
