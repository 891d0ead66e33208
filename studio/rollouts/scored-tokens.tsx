import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { ModelList, Rollout, RolloutScores } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { modelName } from '../base/format.js'
import { writes } from '../base/live.js'
import { query } from '../base/place.js'
import { post, type Refusal, refusalOf, runPath } from '../base/server.js'
import { Refused } from '../part/refused.js'
import { Choice } from './choice.js'
import { Tokens } from './tokens.js'
import { withScores } from './with-scores.js'

/** The tokens as they were recorded, or as a checkpoint of the run sees them now. */
export function ScoredTokens({ id, rollout }: { id: string; rollout: Rollout }) {
  const { answer } = useAsked<ModelList>(writes.value ? 'models' : undefined).value
  const own = (answer?.models ?? []).filter(({ run }) => run === id)
  const by = query.value.by ?? ''
  const { scores, problem } = useScores(id, rollout, writes.value ? by : '')
  const shown = useMemo(() => (scores === undefined ? rollout : withScores(rollout, scores)), [rollout, scores])
  const words = Object.fromEntries([
    ...(by === '' ? [] : [[by, `by ${modelName(by)}`]]),
    ...own.map(({ path, step }) => [path, step === undefined ? 'by the first model' : `by step ${step}`]),
    ['', 'as recorded'],
  ])
  const tools = own.length > 0 && (
    <>
      <Choice
        name="by"
        label="Scored by"
        value={by}
        options={[...new Set(['', ...own.map(({ path }) => path), by])]}
        words={words}
      />
      {problem !== undefined ? (
        <Refused refusal={problem} />
      ) : (
        by !== '' && scores === undefined && <span class="muted">The model is asked…</span>
      )}
    </>
  )
  return <Tokens rollout={shown} tools={tools} other={scores && words[by]} />
}

function useScores(id: string, { store, id: row }: Rollout, model: string) {
  const state = useSignal<{ scores?: RolloutScores; problem?: Refusal }>({})
  useEffect(() => {
    state.value = {}
    if (model === '') return
    const abort = new AbortController()
    post<RolloutScores>(runPath(id, 'score'), { store, id: Number(row), model }, abort.signal).then(
      (scores) => {
        if (!abort.signal.aborted) state.value = { scores }
      },
      (error: unknown) => {
        if (!abort.signal.aborted) state.value = { problem: refusalOf(error) }
      },
    )
    return () => abort.abort()
  }, [id, store, row, model])
  return state.value
}
