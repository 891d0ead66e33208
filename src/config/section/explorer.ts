import { bool, derived, dict, float, idle, int, list, oneOf, record, section, str } from '../field.js'
import { inferenceModel } from './inference-model.js'

/** Of the only explorer there is, unless a file names it. */
export const EXPLORER_NAME = 'explorer'

const overRollout = record('OverRolloutConfig', 'Ending a step before its slowest tasks are done.', {
  ratio: float('Share of the tasks that need not finish, from 0 up to 1.', 0, { min: 0 }),
  wait_after_min: float('Seconds to wait for more after enough have finished.', 30, { min: 0 }),
  return_partial_tasks: bool('Keep the finished rollouts of unfinished tasks.', false),
})

const dynamicTimeout = record('DynamicTimeoutConfig', 'A time limit that follows the run.', {
  enable: bool('Derive the limit from the rollouts so far.', false),
  warmup_min_steps: int('Steps before it begins.', 1),
  ratio: float('Limit as a multiple of the mean time.', 3),
})

export const explorer = record('ExplorerConfig', 'Rollouts.', {
  name: str(
    'Name of the explorer in logs, files and metrics. Explorers of other names draw other answers.',
    EXPLORER_NAME,
  ),
  mode: derived(str('Copy of mode.', 'both')),
  runner_per_model: int('Workflows that run at once on each rollout engine.', 8, { min: 1 }),
  runner_prepare_concurrency: idle(int('Runners that start at once.', 128, { min: 1 }), 'runners need no start'),
  runner_prepare_max_retries: idle(int('Attempts to start a runner.', 3, { min: 0 }), 'runners need no start'),
  max_timeout: int('Seconds a rollout may take.', 1800, { min: 1 }),
  max_retry_times: int('Retries of a failed rollout.', 2, { min: 0 }),
  isolation: oneOf(
    ['none', 'thread', 'process'],
    'Where workflows run: in the event loop of the explorer, or each rollout in a worker of its own.',
    'none',
  ),
  isolation_memory: int('Megabytes of memory that a workflow in a worker may take.', 2048, { min: 64 }),
  env_vars: dict('Environment variables of the runners.', {}, { secret: 'entries' }),
  concurrent_mode: oneOf(
    ['sequential', 'asynchronous', 'multi-threading'],
    'How a runner repeats a task.',
    'sequential',
  ),
  max_repeat_times_per_runner: int('Split the repeats of a task into portions of this size.', null, { min: 1 }),
  runner_num: idle(int('Old key.', null), 'use runner_per_model'),
  rollout_model: section(inferenceModel, 'Engines that generate.'),
  auxiliary_models: list(section(inferenceModel, ''), 'Further models: judges, reward models, teachers.'),
  eval_interval: int('Explore steps between evaluations; 0 never evaluates.', 100),
  eval_on_startup: bool('Evaluate before the first step.', true),
  bench_on_latest_checkpoint: bool('Mode bench: only the newest checkpoint.', false),
  proxy_port: int('Mode serve: port.', 8010, { min: 0, max: 65535 }),
  listen_address: str('Mode serve: address to listen on.', null, {
    auto: '127.0.0.1; with proxy_api_key 0.0.0.0, which others reach',
  }),
  proxy_api_key: str('Mode serve: key that clients give. Needed where others reach the server.', null, {
    secret: 'value',
  }),
  proxy_tls_cert: str('Mode serve: file with a certificate (PEM); with proxy_tls_key the server speaks HTTPS.', null),
  proxy_tls_key: str('Mode serve: file with the private key of the certificate (PEM).', null),
  service_status_check_interval: int('Mode serve: seconds between two looks for new weights.', 60, { min: 1 }),
  min_running_model_num: int('Mode serve: engines that stay up during a weight update.', 1, { min: 0 }),
  db_url: str('Mode serve: database of the recorded calls.', null, {
    auto: 'sqlite:///<job>/buffer/proxy_history.db',
    secret: 'url',
  }),
  proxy_history_days: float('Mode serve: days after which a call without feedback is deleted; 0 keeps all.', 30, {
    min: 0,
  }),
  over_rollout: section(overRollout, 'Cutting stragglers.'),
  dynamic_timeout: section(dynamicTimeout, 'Time limits learned from earlier rollouts.'),
  runner_state_report_interval: int('Seconds between reports on the runners; 0 is off.', 0, { min: 0 }),
  max_inflight_batches: int('Batches in flight with fully_async.', 2, { min: 1 }),
})
