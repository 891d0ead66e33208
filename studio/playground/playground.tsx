import type { ModelList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { linkTo, place } from '../base/place.js'
import { Problem } from '../part/empty.js'
import { NoModels, TalkView } from './talk-view.js'
import { TryView } from './try-view.js'

/** Models that one has trained, to talk to and to try on tasks. */
export function Playground() {
  const [, tab = 'chat'] = place.value.path
  const { answer, problem } = useAsked<ModelList>('models', {}, tab).value
  return (
    <main class="page playground">
      <h1 class="hidden">Playground</h1>
      <nav class="tabs" aria-label="Playground">
        <a href={linkTo(['playground'])} aria-current={tab === 'chat' ? 'page' : undefined}>
          Chat
        </a>
        <a href={linkTo(['playground', 'task'])} aria-current={tab === 'task' ? 'page' : undefined}>
          One task
        </a>
      </nav>
      {problem !== undefined && <Problem problem={problem} />}
      {answer === undefined ? (
        problem === undefined && <p class="loading">Looking for models…</p>
      ) : answer.models.length === 0 ? (
        <NoModels />
      ) : tab === 'task' ? (
        <TryView models={answer.models} />
      ) : (
        <TalkView models={answer.models} />
      )}
    </main>
  )
}
