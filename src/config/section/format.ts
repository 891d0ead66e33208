import { nearest } from '../../base/nearest.js'
import { bool, dict, float, int, list, map, oneOf, optional, record, str, unset } from '../field.js'

export const format = record('FormatConfig', 'Which columns of a data set hold what.', {
  prompt_type: oneOf(['messages', 'plaintext'], 'Conversations, or plain prompt and response texts.', 'messages'),
  prompt_key: str('Column of the prompt.', 'prompt'),
  response_key: str('Column of the response or the truth.', 'response'),
  system_prompt_key: str('Column of the system prompt; wins over system_prompt.', null),
  system_prompt: str('System prompt of every row.', null),
  messages_key: str('Column of the conversation.', 'message'),
  tools_key: str('Column of the tool descriptions.', 'tools'),
  image_key: str('Column of images.', null),
  video_key: str('Column of videos.', null),
  reply_prefix: str('Text every answer starts with.', null),
  workflow_key: str('Column that names the workflow of a row.', ''),
  reward_fn_key: str('Column that names the reward function of a row.', ''),
  chosen_key: str('Column of the preferred answer (DPO).', 'chosen'),
  rejected_key: str('Column of the rejected answer (DPO).', 'rejected'),
  enable_concatenated_multi_turn: bool('SFT on every assistant turn of a conversation.', false),
  chat_template: str('Chat template.', null, { auto: 'model.custom_chat_template' }),
  enable_thinking: bool('Tell the chat template to think (or not).', null, { auto: 'model.enable_thinking' }),
})

export const generation = record('GenerationConfig', 'Sampling of the rollouts of one task set.', {
  temperature: float('Sampling temperature.', null, { min: 0, auto: 'model.temperature' }),
  top_p: float('Nucleus sampling.', null, { min: 0, max: 1, auto: 'model.top_p' }),
  top_k: int('Sample from the k most likely tokens; -1 is all.', null, { auto: 'model.top_k' }),
  logprobs: int('How many other tokens to keep log-probs of.', null, { min: 0, auto: 'model.logprobs' }),
  max_tokens: int('Longest response.', null, { min: 1, auto: 'model.max_response_tokens' }),
  repetition_penalty: float('Penalty on tokens of prompt and response; 1 is none.', null, {
    min: 0,
    auto: 'explorer.rollout_model.repetition_penalty',
  }),
  presence_penalty: float('Taken from the logits of tokens that the response has; 0 is none.', null, {
    min: -2,
    max: 2,
    auto: '0',
  }),
  frequency_penalty: float('The same for every time that the response has the token.', null, {
    min: -2,
    max: 2,
    auto: '0',
  }),
  logit_bias: unset(map(float('', 0, { min: -100, max: 100 }), 'Added to the logits of tokens, by id.'), 'none'),
  n: int('Rollouts of a task.', null, { derived: true, noEffect: 'use repeat_times', auto: 'repeat_times' }),
})

const SELECTORS = ['sequential', 'shuffle', 'random', 'offline_easy2hard', 'difficulty_based'] as const

export const dataSelector = record('DataSelectorConfig', 'Order in which rows are taken.', {
  selector_type: optional(str(`Name of the selector: ${SELECTORS.join(', ')}.`, 'sequential')),
  seed: int('Seed of the order.', 42),
  feature_keys: list(str('', ''), 'Columns that curriculum selectors look at.'),
  kwargs: dict('Arguments of the selector.'),
})

/** `file`, `sql`, `queue`, the name of a kind that a plugin adds, or the dotted path of one. */
export const STORAGES = ['file', 'sql', 'queue'] as const
export const storageOptions = {
  accept: (text: string) => (/^[\w.-]+$/.test(text) && nearest(text, STORAGES) === undefined ? text : undefined),
  openText: 'a kind that a plugin adds',
}
