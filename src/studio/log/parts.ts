import { LEVELS } from '../../base/log/log-dir.js'
import type { LogEvents, LogList } from '../api.js'
import type { Part } from '../part.js'
import type { PartNeeds } from '../parts.js'
import { streamOf } from '../stream.js'
import { logFile, logFiles } from './files.js'
import { logPage, Sieve } from './page.js'
import { Tail } from './tail.js'

const POLL_MS = 300

/** Logs: which there are, pages of one, and what is written to them now. */
export function logParts({ runs, signal }: Pick<PartNeeds, 'runs' | 'signal'>): Part[] {
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
    {
      path: '/runs/:run/log/follow',
      events: (c, query, run) => {
        const wanted = query.list('file')
        const filter = { level: query.oneOf('level', LEVELS), text: query.text('text') }
        const after = wanted.length === 1 ? query.number('after') : undefined
        const tails = new Map<string, { tail: Tail; sieve: Sieve }>()
        let isFirst = true
        return streamOf<LogEvents>(c, signal, POLL_MS, async (send) => {
          for (const { file, path } of await logFiles(await runs.get(run))) {
            if (wanted.length > 0 && !wanted.includes(file)) continue
            const known = tails.get(file) ?? { tail: new Tail(path, isFirst ? after : 0), sieve: new Sieve(filter) }
            tails.set(file, known)
            const { restarted, lines } = await known.tail.read()
            if (restarted) await send('restart', { file })
            const shown = known.sieve.lines(lines)
            if (shown.length > 0) await send('lines', { file, lines: shown })
          }
          isFirst = false
        })
      },
    },
  ]
}
