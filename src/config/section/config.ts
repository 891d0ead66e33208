import { any, bool, derived, type Infer, list, oneOf, record, section, str } from '../field.js'
import { algorithm } from './algorithm.js'
import { buffer } from './buffer.js'
import { cluster } from './cluster.js'
import { dataProcessor } from './data-processor.js'
import { explorer } from './explorer.js'
import { log } from './log.js'
import { model } from './model.js'
import { monitor } from './monitor.js'
import { service } from './service.js'
import { MODES, stage } from './stage.js'
import { synchronizer } from './synchronizer.js'
import { trainer } from './trainer.js'

/** Every key of a configuration file. */
export const config = record('Config', 'The top level of a configuration file.', {
  extends: any('File, or list of files, that this one is merged over.'),
  mode: oneOf(MODES, 'What runs: explorer and trainer, one of them, evaluation, or a recording server.', 'both'),
  project: str('Project of the run.', 'Trinity-RFT'),
  group: str('Group inside the project.', ''),
  name: str('Name of the run.', 'rft'),
  checkpoint_root_dir: str(
    'Folder that holds the folder of every run. `trinity train`, new projects and the examples set `./checkpoints`.',
    '',
    { auto: 'the current folder' },
  ),
  checkpoint_job_dir: derived(str('Folder of the run: root/project/group/name.', '')),
  ray_namespace: str('Namespace of the run on a shared cluster.', '', { auto: 'project/group/name' }),
  continue_from_checkpoint: bool('Resume from the last checkpoint; false starts in a new folder.', true),
  ignore_validator_suggestions: bool('Skip the estimate of GPU memory.', false),
  algorithm: section(algorithm, 'What is learned.'),
  data_processor: section(dataProcessor, 'Pipelines.'),
  model: section(model, 'The model.'),
  cluster: section(cluster, 'Machines.'),
  buffer: section(buffer, 'Data.'),
  explorer: section(explorer, 'Rollouts.'),
  trainer: section(trainer, 'Training.'),
  monitor: section(monitor, 'Metrics.'),
  synchronizer: section(synchronizer, 'Weight updates.'),
  service: section(service, 'Services.'),
  log: section(log, 'Log files.'),
  stages: list(section(stage, ''), 'Runs that follow each other.'),
})

/** A configuration with every key filled in. */
export type Config = Infer<typeof config>
export type TasksetConfig = Config['buffer']['explorer_input']['tasksets'][number]
export type ExperienceBufferConfig = NonNullable<Config['buffer']['trainer_input']['experience_buffer']>
export type FormatConfig = TasksetConfig['format']
export type GenerationConfig = TasksetConfig['rollout_args']
export type DataSelectorConfig = TasksetConfig['data_selector']
export type ReplayBufferConfig = NonNullable<ExperienceBufferConfig['replay_buffer']>
export type OperatorConfig = Config['data_processor']['experience_pipeline']['operators'][number]
export type InferenceModelConfig = Config['explorer']['rollout_model']
