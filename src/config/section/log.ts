import { bool, derived, oneOf, record, str } from '../field.js'

export const log = record('LogConfig', 'Log files.', {
  level: oneOf(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'], 'Lowest level that is logged.', 'INFO', {
    aliases: { warn: 'WARNING', fatal: 'CRITICAL' },
  }),
  group_by_node: bool('A sub-folder for each node.', false),
  save_dir: derived(str('Folder of the log files.', '')),
})
