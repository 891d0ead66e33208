import { oneOf, record, required, section, str, unset } from '../field.js'
import { algorithm } from './algorithm.js'
import { buffer } from './buffer.js'
import { cluster } from './cluster.js'
import { dataProcessor } from './data-processor.js'
import { explorer } from './explorer.js'
import { model } from './model.js'
import { synchronizer } from './synchronizer.js'
import { trainer } from './trainer.js'

export const MODES = ['both', 'explore', 'train', 'bench', 'serve', 'colocate'] as const

export const stage = record('StageConfig', 'One of several runs that follow each other; merged over the outer file.', {
  stage_name: required(str('Name; the run is called <name>/<stage_name>.', '')),
  mode: oneOf(MODES, 'Mode of the stage.', null, { auto: 'the outer mode' }),
  algorithm: unset(section(algorithm, 'What differs in algorithm.')),
  buffer: unset(section(buffer, 'What differs in buffer.')),
  data_processor: unset(section(dataProcessor, 'What differs in data_processor.')),
  explorer: unset(section(explorer, 'What differs in explorer.')),
  trainer: unset(section(trainer, 'What differs in trainer.')),
  model: unset(section(model, 'What differs in model.')),
  cluster: unset(section(cluster, 'What differs in cluster.')),
  synchronizer: unset(section(synchronizer, 'What differs in synchronizer.')),
})
