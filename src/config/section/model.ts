import { bool, derived, dict, float, idle, int, list, record, section, str, unset } from '../field.js'

export const lora = record('LoRAConfig', 'A low-rank adapter.', {
  name: str('Name under which the engine knows the adapter.', null),
  path: str('Adapter to start from; null starts a new one.', null),
  base_model_name: str('Name of the base model.', null),
  lora_rank: int('Rank.', 32, { min: 1 }),
  lora_alpha: int('Scale: the adapter is multiplied by alpha / rank.', 32, { min: 1 }),
  lora_dtype: idle(str('Number format of the adapter.', 'auto'), 'the engine chooses it'),
  target_modules: str('Layers that get an adapter.', 'all-linear'),
  exclude_modules: str('Layers that get no adapter.', null),
  is_dummy: derived(bool('The adapter is new.', false)),
})

export const tinker = record('TinkerConfig', 'Training service that speaks the Tinker API.', {
  enable: bool('Train and sample with the service.', false),
  rank: int('LoRA rank.', 16, { min: 1 }),
  seed: int('Seed of the adapter.', null),
  train_mlp: bool('Adapt the feed-forward layers.', true),
  train_attn: bool('Adapt the attention layers.', true),
  train_unembed: bool('Adapt the output layer.', true),
  base_url: str('Address of the service.', null, { auto: 'TINKER_BASE_URL', secret: 'url' }),
  base_model: str('Name of the model at the service.', null, { auto: 'model_path' }),
})

export const externalModel = record('ExternalModelConfig', 'A hosted model behind the OpenAI API (mode bench).', {
  enable: bool('Use it instead of a local engine.', false),
  base_url_env: str('Environment variable that holds the address.', 'OPENAI_BASE_URL'),
  api_key_env: str('Environment variable that holds the key.', 'OPENAI_API_KEY'),
  model_name: str('Name of the model at the service.', null),
  max_in_flight: int('Requests at once; more wait.', 32, { min: 1 }),
  max_retries: int('How often a request is repeated that failed for a moment or came too early.', 8, { min: 0 }),
})

export const model = record('ModelConfig', 'The model that is trained, and its lengths and sampling defaults.', {
  model_path: str('Hugging Face id, ModelScope id or directory.', ''),
  trust_remote_code: bool('Run code that comes with the model.', false),
  critic_model_path: str('Model the critic starts from.', '', { auto: 'model_path' }),
  custom_chat_template: str("Jinja chat template that replaces the tokenizer's own.", null),
  chat_template_path: str('File with a chat template; read when custom_chat_template is not set.', null),
  temperature: float('Sampling temperature.', 1, { min: 0 }),
  top_p: float('Nucleus sampling.', 1, { min: 0, max: 1 }),
  top_k: int('Sample from the k most likely tokens; -1 is all.', -1),
  logprobs: int('How many other tokens to keep log-probs of; 0 keeps only the sampled one.', 0, { min: 0 }),
  max_model_len: int('Longest sequence, prompt and response together.', null, { min: 1, auto: 'prompt + response' }),
  max_prompt_tokens: int('Longest prompt.', null, { min: 0, auto: 'what the response leaves' }),
  max_response_tokens: int('Longest response.', null, { min: 0, auto: 'what the prompt leaves' }),
  min_response_tokens: int('Shortest response.', 0, { min: 0 }),
  enable_prompt_truncation: bool('Cut prompts that are too long; they are left out of the loss.', true),
  repetition_penalty: float('Penalty on tokens that were already used; 1 means none.', 1),
  enable_thinking: bool('Tell the chat template to think (or not).', null),
  lora_configs: unset(list(section(lora, ''), 'Adapter to train instead of the whole model; at most one.')),
  fully_sharded_loras: bool('Shard adapters over the GPUs of an engine.', false),
  max_cpu_loras: int('Adapters an engine keeps in main memory.', null),
  rope_scaling: unset(dict('Stretching of the position encoding, as in the model config.')),
  rope_theta: float('Base of the position encoding.', null),
  tinker: section(tinker, 'Tinker service.'),
  external_model: section(externalModel, 'Hosted model.'),
})
