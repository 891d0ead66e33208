import type { ServedRequest } from '../served/server-api.js'

/** Keeps the likeliest token alone. */
const ONE_TOKEN = 1e-9

/** What the samples of a request are called by the server. */
export function namesOf({ id, n }: Pick<ServedRequest, 'id' | 'n'>): string[] {
  return Array.from({ length: n }, (_, i) => `${id}-${i}`)
}

/** Each sample is a request of its own with a seed of its own; they share the cache of their prompt. */
export function generateBody({ id, prompt, n, wish, seed, stop, promptLogprobs }: ServedRequest) {
  const ends = [...new Set([...wish.ends, ...wish.stopIds])]
  const params = {
    temperature: wish.greedy ? 0 : 1 / wish.invT,
    ...truncation(wish),
    repetition_penalty: wish.penalty,
    presence_penalty: wish.presence,
    frequency_penalty: wish.frequency,
    ...(wish.biased.length > 0 && {
      logit_bias: Object.fromEntries(wish.biased.map((token, i) => [token, wish.bias[i]])),
    }),
    max_new_tokens: wish.maxTokens,
    min_new_tokens: wish.minTokens,
    // with it SGLang does not look at any token, those of stop_token_ids included
    ignore_eos: ends.length === 0,
    stop_token_ids: ends,
    stop: [...stop],
    no_stop_trim: true,
  }
  return {
    rid: namesOf({ id, n }),
    input_ids: Array.from({ length: n }, () => [...prompt]),
    sampling_params: Array.from({ length: n }, (_, i) => ({ ...params, sampling_seed: (seed + i) % 2 ** 31 })),
    return_logprob: true,
    logprob_start_len: promptLogprobs ? 0 : -1,
    top_logprobs_num: wish.top,
  }
}

/** A draw among one token is told at temperature 1 by SGLang; one whose `top_p` leaves one token is not. */
function truncation({ greedy, topK, topP, minP }: ServedRequest['wish']) {
  if (!greedy && topK === 1) return { top_k: -1, top_p: ONE_TOKEN, min_p: 0 }
  return { top_k: topK > 0 ? topK : -1, top_p: topP, min_p: minP }
}
