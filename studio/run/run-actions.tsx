import { useSignal } from '@preact/signals'
import type { RunDetail, StopAnswer } from '../../src/studio/api.js'
import { writes } from '../base/live.js'
import { linkTo } from '../base/place.js'
import { post, type Refusal, refusalOf, runPath } from '../base/server.js'
import { Dialog } from '../part/dialog.js'
import { Refused } from '../part/refused.js'
import { DeleteRun } from './delete-run.js'

/** What can be done with a run: it is stopped by its own means, and goes on from what it was written in. */
export function RunActions({ run }: { run?: RunDetail }) {
  const told = useSignal<'soon' | 'now' | undefined>(undefined)
  const isAsking = useSignal(false)
  const isDeleting = useSignal(false)
  const failure = useSignal<Refusal | undefined>(undefined)
  if (run === undefined || !writes.value) return null
  const isAlive = run.state === 'running' || run.state === 'waiting'
  const stop = async (isNow: boolean) => {
    isAsking.value = false
    failure.value = undefined
    try {
      await post<StopAnswer>(runPath(run.id, 'stop'), { isNow })
      told.value = isNow ? 'now' : 'soon'
    } catch (error) {
      failure.value = refusalOf(error)
    }
  }
  return (
    <span class="run-actions">
      {failure.value && <Refused refusal={failure.value} />}
      {isAlive && told.value !== undefined && (
        <span class="muted" role="status">
          {told.value === 'soon' ? 'finishing its step' : 'ending'}
        </span>
      )}
      {isAlive && (
        <>
          <button
            type="button"
            disabled={told.value !== undefined}
            title="finish the step and save"
            onClick={() => stop(false)}
          >
            Stop
          </button>
          <button
            type="button"
            class="danger"
            disabled={told.value === 'now'}
            onClick={() => {
              isAsking.value = true
            }}
          >
            Stop now
          </button>
        </>
      )}
      {run.has.config && (
        <>
          {!isAlive && run.state !== 'finished' && (
            <a class="button quiet" href={linkTo(['new'], { run: run.id })}>
              Resume or change
            </a>
          )}
          <a class="button quiet" href={linkTo(['new'], { run: run.id, copy: 'yes' })}>
            Duplicate
          </a>
        </>
      )}
      {!isAlive && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isDeleting.value = true
          }}
        >
          Delete
        </button>
      )}
      {isDeleting.value && (
        <DeleteRun
          run={run}
          onClose={() => {
            isDeleting.value = false
          }}
        />
      )}
      {isAsking.value && (
        <Dialog
          title="Stop now"
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>The step that is under way is lost. The last checkpoint stays, and the run can be resumed from it.</p>
          <button type="button" class="danger" onClick={() => stop(true)}>
            Stop now
          </button>
        </Dialog>
      )}
    </span>
  )
}
