import { useSignal } from '@preact/signals'
import type { CheckAnswer, SaveAnswer, Started } from '../../src/studio/api.js'
import { folders, runs } from '../base/live.js'
import { runName } from '../base/run-names.js'
import { post, type Refusal, refusalOf } from '../base/server.js'
import { Dialog } from '../part/dialog.js'
import { Refused } from '../part/refused.js'
import { Yaml } from '../part/yaml.js'
import { checked, isChecking, isSaved, place, target, text } from './draft.js'
import { StartedLine, useFollow } from './started.js'

type Asking = 'replace' | 'replace-start' | 'fresh' | 'dry-run'

/** Where it is saved, and what can be done with it. */
export function Actions() {
  const failure = useSignal<Refusal | undefined>(undefined)
  const asking = useSignal<Asking | undefined>(undefined)
  const started = useSignal<Started | undefined>(undefined)
  const whole = useSignal('')
  const faults = (checked.value?.problems ?? []).filter(({ severity }) => severity === 'error')
  const old = runs.value?.find(({ id }) => id === checked.value?.stages?.[0]?.run)
  const isAlive = old?.state === 'running' || old?.state === 'waiting'
  const isInside = checked.value?.stages?.every((one) => one.isInside) === true
  const isFit = checked.value?.ok === true && isInside && !isChecking.value && !isAlive
  useFollow(started)

  const attempt = async (work: () => Promise<void>, onExists: Asking) => {
    failure.value = undefined
    asking.value = undefined
    try {
      await work()
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal.isTaken) asking.value = onExists
      else failure.value = refusal
    }
  }
  const save = (isSure: boolean) =>
    attempt(async () => {
      await post<SaveAnswer>('save', { ...target.peek(), text: text.peek(), isSure })
      place.value = target.peek()
      isSaved.value = true
    }, 'replace')
  const start = (isSure: boolean, isFresh = false) =>
    attempt(async () => {
      started.value = await post<Started>('start', { ...target.peek(), text: text.peek(), isSure, isFresh })
      place.value = target.peek()
      isSaved.value = true
    }, 'replace-start')
  const dryRun = () =>
    attempt(async () => {
      const answer = await post<CheckAnswer>('check', { text: text.peek(), place: target.peek(), isFull: true })
      whole.value = answer.yaml ?? ''
      asking.value = 'dry-run'
    }, 'dry-run')

  return (
    <>
      <span class="where">
        {folders.value.length > 1 && (
          <select
            aria-label="folder"
            value={target.value.folder}
            onChange={(event) => {
              place.value = { ...target.peek(), folder: event.currentTarget.value }
            }}
          >
            {folders.value.map(({ path }) => (
              <option key={path}>{path}</option>
            ))}
          </select>
        )}
        <input
          aria-label="file"
          class="file"
          title={`${target.value.folder}/${target.value.path}`}
          value={target.value.path}
          onInput={(event) => {
            place.value = { ...target.peek(), path: event.currentTarget.value }
            isSaved.value = false
          }}
        />
      </span>
      <button type="button" onClick={() => save(false)} disabled={isSaved.value || text.value === ''}>
        {isSaved.value ? 'Saved' : 'Save'}
      </button>
      <button type="button" onClick={dryRun} disabled={checked.value?.stages === undefined}>
        Dry run
      </button>
      {old !== undefined && !isAlive && (
        <button
          type="button"
          disabled={!isFit}
          onClick={() => {
            asking.value = 'fresh'
          }}
        >
          Start over
        </button>
      )}
      <button
        type="button"
        class="primary"
        disabled={!isFit}
        title={faults.length > 0 ? `mend first: ${faults.map(({ key }) => key || 'the text').join(', ')}` : undefined}
        onClick={() => start(isSaved.peek())}
      >
        {isAlive ? 'It runs' : old === undefined ? 'Start' : 'Resume'}
      </button>
      {failure.value && <Refused refusal={failure.value} isWide />}
      {started.value && <StartedLine started={started.value} />}
      {(asking.value === 'replace' || asking.value === 'replace-start') && (
        <Dialog title={`${target.value.path} has another text`} onClose={() => (asking.value = undefined)}>
          <p>Replace it with this one?</p>
          <button type="button" class="primary" onClick={() => (asking.value === 'replace' ? save(true) : start(true))}>
            Replace
          </button>
        </Dialog>
      )}
      {asking.value === 'fresh' && (
        <Dialog title="Start over" onClose={() => (asking.value = undefined)}>
          <p>This deletes the checkpoints, logs and rollouts of {old && runName(old)}, and begins at step 0.</p>
          <button type="button" class="danger" onClick={() => start(isSaved.peek(), true)}>
            Delete and start
          </button>
        </Dialog>
      )}
      {asking.value === 'dry-run' && (
        <Dialog title="Everything, as it would be resolved" isWide onClose={() => (asking.value = undefined)}>
          <Yaml text={whole.value} />
        </Dialog>
      )}
    </>
  )
}
