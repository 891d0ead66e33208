import { useSignal } from '@preact/signals'
import type { RunDetail, SourceText, Started } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { folders } from '../base/live.js'
import { post, type Refusal, refusalOf, runPath } from '../base/server.js'
import { Dialog } from '../part/dialog.js'
import { Refused } from '../part/refused.js'
import { fileBeside } from '../write/file-beside.js'
import { nameFor } from './next-commands.js'

interface Props {
  readonly run: RunDetail
  readonly step: number
  readonly model: string
  readonly onStarted: (started: Started) => void
  readonly onClose: () => void
}

/** An evaluation is a run of its own: it says what it is called and where its file is before it starts. */
export function EvaluateDialog({ run, step, model, onStarted, onClose }: Props) {
  const { answer, problem } = useAsked<SourceText>(runPath(run.id, 'source')).value
  const failure = useSignal<Refusal | undefined>(undefined)
  const isAsked = useSignal(false)
  const refusal = problem ?? failure.value
  const isThere = refusal?.isTaken === true
  const name = nameFor('eval', step, run.name.split('/').at(-1))
  const place =
    answer && fileBeside(answer, folders.value[0]?.path ?? '', nameFor('eval', step, run.name.replaceAll('/', '-')))
  const begin = async () => {
    if (answer === undefined) return
    isAsked.value = true
    try {
      // with all that reads YAML, which no other view of a run needs
      const { evaluationOf } = await import('../write/from-checkpoint.js')
      const text = evaluationOf(answer.text, { name, model })
      onStarted(await post<Started>('start', { ...place, text, isSure: isThere }))
    } catch (error) {
      failure.value = refusalOf(error)
      isAsked.value = false
    }
  }
  return (
    <Dialog title={`Evaluate step ${step}`} onClose={onClose}>
      {place !== undefined && (
        <p>
          The run <b>{name}</b> takes these weights through the evaluation sets. Its configuration is written to{' '}
          <code>
            {place.folder}/{place.path}
          </code>
          .
        </p>
      )}
      {refusal !== undefined && <Refused refusal={refusal} hasHint={!isThere} />}
      <button
        type="button"
        class={isThere ? 'danger' : 'primary'}
        disabled={answer === undefined || isAsked.value}
        onClick={begin}
      >
        {isThere ? 'Replace and evaluate' : 'Evaluate'}
      </button>
    </Dialog>
  )
}
