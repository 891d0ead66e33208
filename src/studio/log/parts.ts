import { LEVELS } from '../../base/log/log-dir.js'
import type { LogList } from '../api.js'
import type { Part } from '../part.js'
import type { PartNeeds } from '../parts.js'
import { logFile, logFiles } from './files.js'
import { logPage } from './page.js'

/** Logs: which there are, and pages of one. */
export function logParts({ runs }: Pick<PartNeeds, 'runs'>): Part[] {
  return [
    {
      path: '/runs/:run/logs',
      answer: async (_, run): Promise<LogList> => ({
        logs: (await logFiles(await runs.get(run))).map(({ file, bytes, changed }) => ({ file, bytes, changed })),
      }),
    },
    {
      path: '/runs/:run/log',
      answer: async (query, run) => {
        const file = query.needed('file')
        return logPage(await logFile(await runs.get(run), file), file, {
          before: query.number('before'),
          after: query.number('after'),
          limit: query.count('limit', 1, 5000, 500),
          level: query.oneOf('level', LEVELS),
          text: query.text('text'),
        })
      },
    },
  ]
}
