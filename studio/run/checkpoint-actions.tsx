import { type Signal, useSignal } from '@preact/signals'
import type { CheckpointInfo, ExportList, RunDetail, Started } from '../../src/studio/api.js'
import { linkTo } from '../base/place.js'
import { EvaluateDialog } from './evaluate-dialog.js'
import { ExportDialog } from './export-dialog.js'
import { nameFor } from './next-commands.js'

interface Props {
  readonly run: RunDetail
  readonly checkpoint: CheckpointInfo
  readonly exports?: ExportList
  /** Looks at the exports again. */
  readonly look: () => void
  readonly started: Signal<Started | undefined>
}

/** What can be done with a checkpoint on this machine. Nothing of the run that has made it is overwritten. */
export function CheckpointActions({ run, checkpoint, exports, look, started }: Props) {
  const open = useSignal<'evaluate' | 'export' | undefined>(undefined)
  const { step, weights, full, isNewest } = checkpoint
  const close = () => {
    open.value = undefined
  }
  const isEnded = ['stopped', 'failed', 'partial'].includes(run.state)
  return (
    <div class="tools">
      {run.has.config && full && isNewest && isEnded && (
        <a class="button" href={linkTo(['new'], { run: run.id })}>
          Resume
        </a>
      )}
      {run.has.config && weights !== undefined && (
        <>
          <a
            class="button"
            href={linkTo(['new'], {
              run: run.id,
              model: weights,
              name: nameFor('from', step, run.name.split('/').at(-1)),
            })}
          >
            Train on from here
          </a>
          <button
            type="button"
            onClick={() => {
              open.value = 'evaluate'
            }}
          >
            Evaluate
          </button>
        </>
      )}
      {weights !== undefined && (
        <button
          type="button"
          disabled={exports === undefined}
          onClick={() => {
            open.value = 'export'
          }}
        >
          Export
        </button>
      )}
      {open.value === 'evaluate' && weights !== undefined && (
        <EvaluateDialog
          {...{ run, step, onClose: close }}
          model={weights}
          onStarted={(now) => {
            close()
            started.value = now
          }}
        />
      )}
      {open.value === 'export' && exports !== undefined && (
        <ExportDialog
          {...{ step, run: run.id, list: exports, onClose: close }}
          onBegun={() => {
            close()
            look()
          }}
        />
      )}
    </div>
  )
}
