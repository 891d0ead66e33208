import type { LogLevel, LogList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { bytes } from '../base/format.js'
import { stale } from '../base/live.js'
import { numberOf, query, setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { Search } from '../part/search.js'
import { LogLines } from './log-lines.js'

const LEVELS: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR']

export function Logs({ id }: { id: string }) {
  const { answer, problem } = useAsked<LogList>(runPath(id, 'logs'), {}, stale.logs.value).value
  const { text = '', level = 'DEBUG' } = query.value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Looking for logs…</p>
  if (answer.logs.length === 0)
    return (
      <Empty title="No logs yet">
        <p>Every part of a run writes one into the folder log/ of the job.</p>
      </Empty>
    )
  const file = answer.logs.find((log) => log.file === query.value.file) ?? newest(answer)
  const isFollowing = numberOf(query.value.follow) !== 0
  return (
    <>
      <div class="tools">
        <label>
          <span class="hidden">Log</span>
          <select value={file.file} onChange={({ currentTarget }) => setQuery({ file: currentTarget.value })}>
            {answer.logs.map((log) => (
              <option key={log.file} value={log.file}>
                {log.file} ({bytes(log.bytes)})
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="hidden">Lowest level</span>
          <select
            value={level}
            onChange={({ currentTarget: { value } }) => setQuery({ level: value === 'DEBUG' ? '' : value })}
          >
            {LEVELS.map((name) => (
              <option key={name} value={name}>
                {name === 'DEBUG' ? 'all levels' : name === 'ERROR' ? 'errors' : `${name.toLowerCase()} and above`}
              </option>
            ))}
          </select>
        </label>
        <Search value={text} onInput={(value) => setQuery({ text: value })} label="filter lines" />
        <span class="space" />
        <label>
          <input type="checkbox" checked={isFollowing} onChange={() => setQuery({ follow: isFollowing ? '0' : '' })} />
          Follow
        </label>
      </div>
      <LogLines
        key={`${file.file}\n${level}\n${text}`}
        id={id}
        file={file.file}
        level={level as LogLevel}
        text={text}
        isFollowing={isFollowing}
        onFollow={(follow) => setQuery({ follow: follow ? '' : '0' })}
      />
    </>
  )
}

/** The log that has something to say: the one that changed last. */
const newest = ({ logs }: LogList) => logs.reduce((one, other) => (other.changed > one.changed ? other : one))
