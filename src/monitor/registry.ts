import { join } from 'node:path'
import { z } from 'zod'
import { Registry } from '../base/registry.js'
import { type MonitorEntry, monitorEntry } from './entry.js'
import { mlflow } from './mlflow/entry.js'
import { fileName } from './names.js'
import { wandb } from './wandb/entry.js'

const NO_ARGS = z.strictObject({})

/** Monitors by name. What one needs is loaded when it is opened. */
export const monitors = new Registry<MonitorEntry>('monitor', {
  tensorboard: monitorEntry({
    doc: 'event files for TensorBoard in <job>/monitor/tensorboard/<role>',
    args: NO_ARGS,
    open: async (_, { dir, role }) => {
      const { TensorBoardMonitor } = await import('./tensorboard/tensorboard.js')
      return new TensorBoardMonitor(join(dir, 'tensorboard', fileName(role)))
    },
  }),
  wandb,
  mlflow,
  jsonl: monitorEntry({
    doc: 'only the files that are written with every monitor: <job>/monitor/<role>.jsonl',
    args: NO_ARGS,
    open: () => undefined,
  }),
  console: monitorEntry({
    doc: 'all numbers of a step as one line in the log of its role',
    args: NO_ARGS,
    open: async (_, { logger }) => new (await import('./console.js')).ConsoleMonitor(logger),
  }),
  none: monitorEntry({
    doc: 'nothing is written; the terminal alone shows the run',
    args: NO_ARGS,
    open: () => undefined,
  }),
})
