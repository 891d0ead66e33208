import { useEffect } from 'preact/hooks'
import { isHelpOpen } from '../base/keys.js'
import { detail, isLive, report, runs, writes } from '../base/live.js'
import { linkTo, place } from '../base/place.js'
import { runName } from '../base/run-names.js'
import { nextTheme, theme } from '../base/theme.js'

const TITLES: Readonly<Record<string, string>> = { compare: 'Compare', new: 'New run', playground: 'Playground' }
const SIGNS = { system: '◐', light: '○', dark: '●' }

/** Where one is, and what holds everywhere. */
export function Bar() {
  const [page, second] = place.value.path
  const run = page === 'runs' ? second : undefined
  const known = runs.value?.find(({ id }) => id === run) ?? detail.value
  const name = known && runName(known)
  const title = TITLES[page ?? ''] ?? (run === undefined ? undefined : name)
  useEffect(() => {
    document.title = title === undefined ? 'Trinity Studio' : `${title} · Trinity Studio`
  }, [title])
  return (
    <header class="bar">
      <a class="brand" href={linkTo([])}>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <circle cx="16" cy="11" r="7" />
          <circle cx="11" cy="20" r="7" />
          <circle cx="21" cy="20" r="7" />
        </svg>
        <span>Studio</span>
      </a>
      <nav aria-label="Where you are">
        <a href={linkTo([])} aria-current={page === undefined ? 'page' : undefined}>
          Runs
        </a>
        {run !== undefined && (
          <a href={linkTo(['runs', run, 'charts'])} aria-current="page" title={name}>
            {name ?? '…'}
          </a>
        )}
        {page === 'compare' && <span aria-current="page">Compare</span>}
      </nav>
      <span class="space" />
      <nav class="pages" aria-label="Pages">
        {report.value !== undefined && (
          <a href={linkTo(['perf'])} aria-current={page === 'perf' ? 'page' : undefined}>
            Performance
          </a>
        )}
        {writes.value && (
          <>
            <a href={linkTo(['new'])} aria-current={page === 'new' ? 'page' : undefined}>
              New run
            </a>
            <a href={linkTo(['playground'])} aria-current={page === 'playground' ? 'page' : undefined}>
              Playground
            </a>
          </>
        )}
        <a href={linkTo(['machine'])} aria-current={page === 'machine' ? 'page' : undefined}>
          Machine
        </a>
      </nav>
      <span class={`live ${isLive.value ? 'on' : ''}`} role="status">
        {isLive.value ? 'live' : 'not connected'}
      </span>
      <button type="button" class="quiet" onClick={nextTheme} title="colors (t)" aria-label={`colors: ${theme.value}`}>
        <i aria-hidden="true">{SIGNS[theme.value]}</i>
      </button>
      <button
        type="button"
        class="quiet"
        title="keys (?)"
        aria-label="keys"
        onClick={() => {
          isHelpOpen.value = true
        }}
      >
        ?
      </button>
    </header>
  )
}
