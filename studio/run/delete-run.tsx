import { useSignal } from '@preact/signals'
import type { Deletion, RunDetail } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { bytes, count } from '../base/format.js'
import { go } from '../base/place.js'
import { runName } from '../base/run-names.js'
import { post, Refusal, runPath } from '../base/server.js'
import { Dialog } from '../part/dialog.js'
import { Refused } from '../part/refused.js'

interface Props {
  readonly run: RunDetail
  readonly onClose: () => void
}

/** Says what goes before it goes. */
export function DeleteRun({ run, onClose }: Props) {
  const { answer, problem } = useAsked<Deletion>(runPath(run.id, 'deletion')).value
  const failure = useSignal<Refusal | undefined>(undefined)
  const isGoing = useSignal(false)
  const refusal = problem ?? failure.value
  const remove = async () => {
    isGoing.value = true
    try {
      await post<Deletion>(runPath(run.id, 'delete'), { name: run.name })
      go([])
    } catch (error) {
      failure.value = error instanceof Refusal ? error : new Refusal(0, String(error))
      isGoing.value = false
    }
  }
  return (
    <Dialog title={`Delete ${runName(run)}`} onClose={onClose}>
      <p>
        <code>{run.path}</code>
      </p>
      {refusal !== undefined && <Refused refusal={refusal} />}
      {answer !== undefined && (
        <>
          <p>
            {count(answer.files)} files with {bytes(answer.bytes)}: checkpoints, rollouts, numbers and logs. They cannot
            be brought back.
          </p>
          {answer.kept.length > 0 && (
            <p class="muted">Not of the run, and kept: {answer.kept.slice(0, 5).join(', ')}</p>
          )}
          <button type="button" class="danger" disabled={isGoing.value} onClick={remove}>
            Delete {count(answer.files)} files
          </button>
        </>
      )}
    </Dialog>
  )
}
