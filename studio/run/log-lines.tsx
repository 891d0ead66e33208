import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { LogLevel, LogLine, LogPage } from '../../src/studio/api.js'
import { get, Refusal, runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { VirtualList } from '../part/virtual-list.js'

interface Props {
  readonly id: string
  readonly file: string
  readonly level: LogLevel
  readonly text: string
  readonly isFollowing: boolean
  readonly onFollow: (isFollowing: boolean) => void
}

const ROW = 20
const FOLLOW_MS = 700
/** The page keeps the newest lines; older ones are in the file. */
const MOST_LINES = 100_000

/** Lines of one file: its end first, earlier ones when asked for, new ones as they are written. */
export function LogLines({ id, file, level, text, isFollowing, onFollow }: Props) {
  const lines = useSignal<readonly LogLine[]>([])
  const page = useSignal<LogPage | undefined>(undefined)
  const problem = useSignal<Refusal | undefined>(undefined)
  const query = { file, level: level === 'DEBUG' ? undefined : level, text, limit: 1000 }
  const ask = (more: object, signal?: AbortSignal) =>
    get<LogPage>(runPath(id, 'log'), { ...query, ...more }, signal).catch((error: unknown) => {
      if (!signal?.aborted && error instanceof Refusal) problem.value = error
      return undefined
    })

  useEffect(() => {
    const abort = new AbortController()
    // a filter is typed letter by letter
    const timer = setTimeout(async () => {
      const first = await ask({}, abort.signal)
      if (first === undefined || abort.signal.aborted) return
      lines.value = first.lines
      page.value = first
      await follow(first.to, abort.signal)
    }, 150)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [])

  /** Asked, not streamed: a browser gives all tabs together six connections, and the page has a stream already. */
  const follow = async (from: number, signal: AbortSignal) => {
    for (let after = from; !signal.aborted; ) {
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS))
      if (signal.aborted || document.hidden) continue
      const next = await ask({ after, limit: 5000 }, signal)
      if (next === undefined) continue
      // the file was begun anew
      const isShorter = next.bytes < after
      if (isShorter) lines.value = []
      if (next.lines.length > 0) lines.value = [...lines.peek(), ...next.lines].slice(-MOST_LINES)
      after = isShorter ? 0 : next.to
    }
  }

  const earlier = async () => {
    const before = await ask({ before: page.peek()!.from })
    if (before === undefined) return
    page.value = before
    lines.value = [...before.lines, ...lines.peek()]
  }
  if (problem.value !== undefined) return <Problem problem={problem.value} />
  const known = page.value
  return (
    <div class="log">
      <p class="log-more">
        {known === undefined ? (
          'Reading…'
        ) : known.atBegin ? (
          <span class="muted">Begin of {file}</span>
        ) : (
          <button type="button" class="quiet" onClick={earlier}>
            {known.isPartial ? 'Search further back' : 'Earlier lines'}
          </button>
        )}
      </p>
      {known !== undefined && lines.value.length === 0 && (
        <Empty title={text === '' ? 'No lines of this level' : `No line has “${text}”`} />
      )}
      <VirtualList
        label={`lines of ${file}`}
        count={lines.value.length}
        rowHeight={ROW}
        isFollowing={isFollowing}
        onLeaveEnd={(isAtEnd) => isAtEnd !== isFollowing && onFollow(isAtEnd)}
        row={(index) => {
          const line = lines.value[index]
          return (
            <div key={line.at} class={`log-line ${line.level.toLowerCase()}`} title={line.text}>
              {line.text}
            </div>
          )
        }}
      />
    </div>
  )
}
