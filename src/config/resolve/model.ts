import { resolve } from 'node:path'
import type { Config } from '../section/config.js'
import type { Engines } from './engine.js'
import { isOffline, type Scope } from './scope.js'

type Model = Config['model']

export function resolveModel(config: Config, engines: Engines, scope: Scope): Model {
  const given = config.model
  if (engines.rollout.hosted && config.mode !== 'train') {
    if (config.mode !== 'bench') {
      const key = given.external_model.enable ? 'model.external_model.enable' : 'explorer.rollout_model.engine_type'
      const hint = 'set mode: bench, or name it in explorer.auxiliary_models'
      scope.error('mode', key, 'a hosted model can only be evaluated', hint)
    }
    checkHosted(given.external_model, given.model_path, 'model.external_model', scope)
  } else if (given.model_path === '' && engines.rollout.needsModel !== false) {
    scope.error('missing', 'model.model_path', 'no model', 'give a directory or a hub id')
  }
  if ((given.lora_configs?.length ?? 0) > 1)
    scope.error('value', 'model.lora_configs', 'at most one adapter can be trained')
  return {
    ...given,
    critic_model_path: given.critic_model_path || given.model_path,
    custom_chat_template: chatTemplate(given, scope),
    lora_configs: given.lora_configs?.map((lora) => ({ ...lora, is_dummy: lora.path === null })) ?? null,
    ...(engines.rollout.hosted ? {} : lengths(given, scope)),
  }
}

/** What must be known of a hosted model. `path` may name it too. */
export function checkHosted(given: Model['external_model'], path: string | null, key: string, scope: Scope): void {
  for (const name of ['base_url_env', 'api_key_env'] as const) {
    if (!given[name]) scope.error('missing', `${key}.${name}`, 'required with a hosted model')
  }
  if (!given.model_name && !path) scope.error('missing', `${key}.model_name`, 'required with a hosted model')
}

function chatTemplate(given: Model, scope: Scope): string | null {
  if (given.chat_template_path === null) return given.custom_chat_template
  if (given.custom_chat_template !== null) return given.custom_chat_template
  const text = scope.facts.readText(resolve(scope.facts.cwd, given.chat_template_path))
  if (text === undefined) {
    scope.warn('missing-file', 'model.chat_template_path', `there is no file ${given.chat_template_path}`)
  }
  return text ?? null
}

type Lengths = Pick<Model, 'max_model_len' | 'max_prompt_tokens' | 'max_response_tokens' | 'min_response_tokens'>

/** Each of the three lengths that is left out follows from the others. */
export function lengths(given: Lengths, scope: Scope): Lengths {
  let { max_model_len: all, max_prompt_tokens: prompt, max_response_tokens: response } = given
  if (all !== null && isOffline(scope)) {
    for (const name of ['max_prompt_tokens', 'max_response_tokens'] as const) {
      if (given[name] !== null)
        scope.note('no-effect', `model.${name}`, 'training data are held to max_model_len alone')
    }
  }
  if (all === null) {
    if (prompt === null || response === null) {
      const text = 'the length of a sequence is not known'
      scope.error(
        'missing',
        'model.max_model_len',
        text,
        'set max_model_len, or both max_prompt_tokens and max_response_tokens',
      )
      return given
    }
    all = prompt + response
  } else if (prompt !== null && response !== null) {
    if (prompt + response > all && !isOffline(scope)) {
      const text = `max_prompt_tokens ${prompt} + max_response_tokens ${response} is more than max_model_len ${all}`
      scope.error('lengths', 'model.max_model_len', text)
    }
  } else if (prompt === null && response === null) {
    prompt = Math.floor(all / 2)
    response = all - prompt
  } else if (prompt === null) {
    response = Math.min(response as number, all - 1)
    prompt = all - response
  } else {
    prompt = Math.min(prompt, all - 1)
    response = all - prompt
  }
  const least = given.min_response_tokens
  const most = response as number
  return {
    max_model_len: all,
    max_prompt_tokens: prompt,
    max_response_tokens: response,
    min_response_tokens: least >= most ? Math.max(0, most - 1) : least,
  }
}
