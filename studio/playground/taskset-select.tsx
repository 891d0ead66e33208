import type { TasksetList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'

/** The task sets of a run: what it learns from, and what it is measured by. */
export function TasksetSelect({ run, value }: { run: string; value: string }) {
  const { answer, problem } = useAsked<TasksetList>(run === '' ? undefined : runPath(run, 'tasksets')).value
  const all = run === '' ? [] : (answer?.tasksets ?? [])
  const chosen = all.find(({ id }) => id === value) ?? all[0]
  const groups = [
    ['Training', all.filter((one) => !one.isEvaluation)],
    ['Evaluation', all.filter((one) => one.isEvaluation)],
  ] as const
  return (
    <select
      aria-label="task set"
      value={chosen?.id ?? ''}
      title={problem?.message ?? chosen?.doc}
      disabled={all.length === 0}
      onChange={(event) => setQuery({ set: event.currentTarget.value })}
    >
      {all.length === 0 && <option value="">{run === '' ? 'task set' : 'no task sets'}</option>}
      {groups.map(
        ([title, sets]) =>
          sets.length > 0 && (
            <optgroup key={title} label={title}>
              {sets.map(({ id, name, isEvaluation }) => (
                <option key={id} value={id}>
                  {name}
                  {isEvaluation ? ' · evaluation' : ' · training'}
                </option>
              ))}
            </optgroup>
          ),
      )}
    </select>
  )
}
