import { nameFault } from '../../config/name.js'
import { type Item, item } from '../draft.js'
import type { Value } from '../value.js'
import { usesCritic } from './algorithm.js'
import { fallbackOf, type Mapping, numberFallback } from './mapping.js'

/** Project, name and where checkpoints go. */
export function mapHeader(mapping: Mapping): void {
  const { draft } = mapping
  const named = (key: string) => {
    const text = mapping.text(key)?.trim()
    const fallback = String(fallbackOf(key))
    const reference = /^\$\{oc\.env:(\w+)\}$/.exec(text ?? '')?.[1]
    if (reference) return `\${oc.env:${reference},${fallback}}`
    return text || fallback
  }
  const project = named('trainer.project_name')
  const name = named('trainer.experiment_name')
  draft.set(
    'project',
    folderName(mapping, project, 'trainer.project_name'),
    mapping.has('trainer.project_name') ? 'trainer.project_name' : "trainer.project_name: veRL's default",
  )
  draft.set(
    'name',
    folderName(mapping, name, 'trainer.experiment_name'),
    mapping.has('trainer.experiment_name') ? 'trainer.experiment_name' : "trainer.experiment_name: veRL's default",
  )
  const root = checkpointRoot(mapping, project, name)
  draft.set('checkpoint_root_dir', root.path, root.comment)
  const resume = mapping.word('trainer.resume_mode')
  if (resume !== undefined)
    draft.set('continue_from_checkpoint', resume !== 'disable', `trainer.resume_mode=${mapping.describe(resume)}`)
  if (mapping.bool('trainer.val_only')) draft.set('mode', 'bench', 'trainer.val_only=True')
}

/** veRL takes any text; here a name is one folder. One that is known only when it runs is checked then. */
function folderName(mapping: Mapping, name: string, key: string): string {
  if (name.includes('${') || nameFault(name) === undefined) return name
  const plain = name.replace(/[/\\\p{C}\p{Zl}\p{Zp}]+/gu, '_').slice(0, 60)
  const usable = nameFault(plain) === undefined ? plain : String(fallbackOf(key))
  mapping.notes.push(`${key}=${mapping.describe(name)} cannot be the name of one folder; it is written as ${usable}`)
  return usable
}

/** veRL's directory is that of the job; Trinity adds project and name below a root, so they are taken off where they end it. */
function checkpointRoot(mapping: Mapping, project: string, name: string): { path: string; comment?: string } {
  const key = 'trainer.default_local_dir'
  const given = mapping.path(key)
  if (!given) return { path: './checkpoints' }
  const reference = /^\$\{oc\.env:(\w+)\}$/.exec(given)?.[1]
  if (reference) return { path: `\${oc.env:${reference},./checkpoints}`, comment: key }
  const path = given.replace(/\/+$/, '') || '/'
  const tail = `/${project}/${name}`
  if (path.endsWith(tail) && path.length > tail.length)
    return { path: path.slice(0, -tail.length), comment: `${key}, less /project/name, which is added again` }
  if (path === `${project}/${name}`) return { path: '.', comment: key }
  return { path, comment: `${key} (the job's own folder is <this>/<project>/<name>)` }
}

export function mapModel(mapping: Mapping): void {
  const { draft } = mapping
  const key = 'actor_rollout_ref.model.path'
  const path = mapping.path(key)
  draft.set(
    'model.model_path',
    path || String(fallbackOf(key)).replace(/^~/, '${oc.env:HOME}'),
    path ? key : `${key}: veRL's default`,
  )
  if (usesCritic(mapping)) {
    const critic = mapping.path('critic.model.path')
    if (critic) draft.set('model.critic_model_path', critic, 'critic.model.path')
  }
  for (const [from, to] of [
    ['data.max_prompt_length', 'max_prompt_tokens'],
    ['data.max_response_length', 'max_response_tokens'],
  ]) {
    const known = mapping.number(from, numberFallback(from))
    draft.set(`model.${to}`, known.written, known.comment)
  }
  mapModelLength(mapping)
  mapLora(mapping)
}

/** Trinity wants prompt and response to fit into max_model_len; a veRL script may promise less to the engine. */
function mapModelLength(mapping: Mapping): void {
  const key = 'actor_rollout_ref.rollout.max_model_len'
  const length = mapping.has(key) ? mapping.number(key, 0).value : 0
  if (length <= 0) return
  const needed =
    Number(mapping.draft.get('model.max_prompt_tokens')) + Number(mapping.draft.get('model.max_response_tokens'))
  if (length >= needed) mapping.draft.set('model.max_model_len', length, key)
  else
    mapping.none(key, `smaller than max_prompt_tokens + max_response_tokens = ${needed}, which Trinity does not allow`)
}

function mapLora(mapping: Mapping): void {
  const prefix = ['actor_rollout_ref.model', 'model'].find(
    (place) => mapping.has(`${place}.lora_rank`) || mapping.has(`${place}.lora.rank`),
  )
  const keyOf = (name: string) => {
    const flat = `${prefix}.${name === 'rank' || name === 'alpha' ? `lora_${name}` : name === 'adapter_path' ? 'lora_adapter_path' : name}`
    const nested = `${prefix}.lora.${name}`
    return mapping.has(flat) && !(name === 'rank' && mapping.settings.get(flat)?.value === 0 && mapping.has(nested))
      ? flat
      : nested
  }
  const rank = prefix === undefined ? 0 : mapping.number(keyOf('rank'), 0).value
  if (prefix === undefined || rank <= 0) {
    for (const place of ['actor_rollout_ref.model', 'model']) {
      for (const name of ['lora_rank', 'lora_alpha', 'lora_adapter_path', 'target_modules', 'exclude_modules'])
        mapping.cover(`${place}.${name}`, 'LoRA is off (rank 0)')
      for (const setting of mapping.below(`${place}.lora`)) mapping.cover(setting.key, 'LoRA is off (rank 0)')
    }
    return
  }
  const modules = (name: string): Value | undefined => {
    const value = mapping.take(keyOf(name))?.value
    if (Array.isArray(value))
      return value.length === 0 ? undefined : value.length === 1 ? String(value[0]) : `.*\\.(${value.join('|')})`
    return value
  }
  const adapter = mapping.path(keyOf('adapter_path'))
  const entry: Item = item([
    ['path', adapter, keyOf('adapter_path')],
    ['lora_rank', rank, keyOf('rank')],
    ['lora_alpha', mapping.has(keyOf('alpha')) ? mapping.number(keyOf('alpha'), 16).written : 16, keyOf('alpha')],
    ['target_modules', modules('target_modules'), keyOf('target_modules')],
    ['exclude_modules', modules('exclude_modules'), keyOf('exclude_modules')],
  ])
  mapping.draft.list('model.lora_configs', [entry])
}

/** Batch sizes: veRL's mini-batch is Trinity's batch, and a veRL step is as many of them as fit into its batch. */
export function mapBatches(mapping: Mapping): number {
  const { draft } = mapping
  const [totalKey, miniKey, nKey] = [
    'data.train_batch_size',
    'actor_rollout_ref.actor.ppo_mini_batch_size',
    'actor_rollout_ref.rollout.n',
  ]
  const total = mapping.number(totalKey, numberFallback(totalKey))
  const mini = mapping.number(miniKey, numberFallback(miniKey))
  const epochs = mapping.number('trainer.total_epochs', numberFallback('trainer.total_epochs'))
  draft.set('buffer.total_epochs', epochs.written, epochs.comment)
  draft.section('buffer')
  const batch = Math.max(1, Math.floor(Math.min(mini.value, total.value)))
  const interval = Math.max(1, Math.floor(total.value / batch))
  if (mini.value > total.value)
    mapping.notes.push(
      `${miniKey}=${mini.value} is larger than ${totalKey}=${total.value}; the smaller one is the batch`,
    )
  else if (total.value % batch !== 0)
    mapping.notes.push(
      `${totalKey}=${total.value} is not a multiple of ${miniKey}=${mini.value}; sync_interval is rounded down to ${interval}`,
    )
  const n = Math.max(1, Math.floor(mapping.number(nKey, 1).value))
  draft.set('buffer.batch_size', batch, mini.value > total.value ? totalKey : mini.comment)
  draft.set('buffer.train_batch_size', batch * n, `ppo_mini_batch_size × rollout.n = ${batch} × ${n}`)
  mapLossScale(mapping, batch * n)
  draft.set('synchronizer.sync_style', 'fixed')
  draft.set(
    'synchronizer.sync_offset',
    0,
    'as veRL: explore, then train. The documented examples use 1: one step of overlap, faster and slightly off-policy',
  )
  draft.set(
    'synchronizer.sync_interval',
    interval,
    `data.train_batch_size / ppo_mini_batch_size = ${total.value} / ${batch}`,
  )
  draft.set('synchronizer.sync_timeout', 1200)
  return interval
}

/** What veRL calls seq-mean-token-sum-norm is also the mean over the sequences of an update; here it is their sum. */
function mapLossScale(mapping: Mapping, sequences: number): void {
  const actor = 'actor_rollout_ref.actor'
  if (mapping.settings.get(`${actor}.loss_agg_mode`)?.value !== 'seq-mean-token-sum-norm') return
  const lengthKey = 'data.max_response_length'
  const key = mapping.has(`${actor}.loss_scale_factor`) ? `${actor}.loss_scale_factor` : lengthKey
  const { value } = mapping.number(key, numberFallback(lengthKey))
  const comment = `${key} × sequences of an update = ${value} × ${sequences}`
  mapping.draft.set(`trainer.trainer_config.${actor}.loss_scale_factor`, value * sequences, comment)
}

/** Frequencies and lengths counted in steps. They are copied as they are, or scaled to the same amount of training. */
export function mapSteps(mapping: Mapping, interval: number): void {
  const { draft } = mapping
  const factor = mapping.source.scaleSteps ? interval : 1
  const scaled = (key: string, value: number) => (factor === 1 ? key : `${key} × ${factor} = ${value} × ${factor}`)
  const test = mapping.number('trainer.test_freq', numberFallback('trainer.test_freq'))
  if (test.value > 0) draft.set('explorer.eval_interval', test.value * factor, scaled('trainer.test_freq', test.value))
  else
    draft.set(
      'explorer.eval_interval',
      1_000_000,
      `trainer.test_freq${test.given ? `=${test.value}` : ": veRL's default"}: never during training`,
    )
  const before = mapping.bool('trainer.val_before_train')
  if (before !== undefined) draft.set('explorer.eval_on_startup', before, 'trainer.val_before_train')
  const save = mapping.number('trainer.save_freq', numberFallback('trainer.save_freq'))
  if (save.value > 0) draft.set('trainer.save_interval', save.value * factor, scaled('trainer.save_freq', save.value))
  else
    draft.set(
      'trainer.save_interval',
      0,
      `trainer.save_freq${save.given ? `=${save.value}` : ": veRL's default"}: only at the end`,
    )
  const key = 'trainer.total_training_steps'
  if (mapping.has(key)) {
    const total = mapping.number(key, 0)
    if (total.value > 0) {
      draft.set(
        'buffer.total_steps',
        total.value * factor,
        `${scaled(key, total.value)} (total_epochs is then ignored)`,
      )
      draft.set('trainer.total_steps', total.value * factor, scaled(key, total.value))
    } else mapping.cover(key, 'the run ends after total_epochs')
  }
  const warmup = 'actor_rollout_ref.actor.optim.lr_warmup_steps'
  if (mapping.has(warmup)) {
    const steps = mapping.number(warmup, -1)
    draft.set(
      'algorithm.optimizer.lr_warmup_steps',
      steps.value > 0 ? steps.value * factor : steps.written,
      steps.value > 0 ? scaled(warmup, steps.value) : warmup,
    )
  }
  if (interval > 1 && factor === 1) {
    mapping.notes.push(
      `a veRL step is ${interval} steps here (sync_interval). Numbers of steps (eval_interval, save_interval, total_steps, lr_warmup_steps) are copied unchanged, as in the documented mapping; --scale-steps multiplies them by ${interval}, for the same amount of training`,
    )
  }
}
