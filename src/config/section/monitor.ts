import { bool, derived, dict, oneOf, record, str, unset } from '../field.js'

export const MONITORS = ['tensorboard', 'wandb', 'mlflow', 'jsonl', 'console', 'none'] as const

export const monitor = record('MonitorConfig', 'Where metrics go, besides the console.', {
  monitor_type: oneOf(MONITORS, 'Kind of monitor.', 'tensorboard', {
    // one that is not registered is found when the file is resolved
    accept: (text) => (/^[\w-]+(\.[\w-]+)*$/.test(text) ? text : undefined),
    openText: 'the name of a monitor of your own',
  }),
  monitor_args: unset(dict('Arguments of the monitor.')),
  detailed_stats: bool('Record minimum, maximum and spread of every metric.', false),
  enable_ray_timeline: bool('Write a timeline of the workers at the end.', false),
  cache_dir: derived(str('Folder of the monitor.', '')),
})
