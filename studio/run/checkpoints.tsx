import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { CheckpointInfo, RunDetail, Started } from '../../src/studio/api.js'
import { now } from '../base/clock.js'
import { ago, bytes, moment, number } from '../base/format.js'
import { writes } from '../base/live.js'
import { linkTo } from '../base/place.js'
import { Copy } from '../part/copy.js'
import { Empty } from '../part/empty.js'
import { StartedLine, useFollow } from '../write/started.js'
import { CheckpointActions } from './checkpoint-actions.js'
import { Exports, useExports } from './exports.js'
import { nextCommands } from './next-commands.js'

export function Checkpoints({ run }: { run?: RunDetail }) {
  const { list, look } = useExports(run?.id)
  const started = useSignal<Started | undefined>(undefined)
  useFollow(started)
  if (run === undefined) return <p class="loading">Reading…</p>
  if (run.checkpoints.length === 0)
    return (
      <Empty title="No checkpoints yet">
        <p>A run saves one at its end, and every trainer.save_interval steps.</p>
      </Empty>
    )
  return (
    <div class="sheet">
      <table class="checkpoints">
        <thead>
          <tr>
            <th>Step</th>
            <th>Evaluation</th>
            <th>Size</th>
            <th>Saved</th>
            <th>Holds</th>
            <th>Weights</th>
            <th>Next</th>
            <th>
              <span class="hidden">Talk</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...run.checkpoints].reverse().map((checkpoint) => (
            <Row key={checkpoint.path} checkpoint={checkpoint} file={run.file}>
              {writes.value && <CheckpointActions {...{ run, checkpoint, exports: list, look, started }} />}
            </Row>
          ))}
        </tbody>
      </table>
      {started.value && <StartedLine started={started.value} />}
      <Exports exports={list?.exports ?? []} />
    </div>
  )
}

interface RowProps {
  readonly checkpoint: CheckpointInfo
  readonly file?: string
  /** What can be done with it here. */
  readonly children: ComponentChildren
}

function Row({ checkpoint, file, children }: RowProps) {
  const { step, evaluation, savedAt, full, weights, path } = checkpoint
  const isOpen = useSignal(false)
  const toggle = () => {
    isOpen.value = !isOpen.value
  }
  return (
    <>
      <tr>
        <td>
          <b class="figure">{step}</b> {checkpoint.isNewest && <small class="tag">newest</small>}{' '}
          {checkpoint.isBest && <small class="tag good">best</small>}
        </td>
        <td class="figure" title={evaluation?.metric}>
          {number(evaluation?.score)}
        </td>
        <td class="figure">{bytes(checkpoint.bytes)}</td>
        <td class="muted" title={moment(savedAt)}>
          {ago(savedAt, now.value)}
        </td>
        <td>{full ? 'everything to resume' : 'weights'}</td>
        <td class="path">
          <Copy text={weights ?? path} />
        </td>
        <td>
          <button type="button" class="quiet" aria-expanded={isOpen.value} onClick={toggle}>
            {isOpen.value ? '▾' : '▸'} Evaluate, go on, export
          </button>
        </td>
        <td>
          {weights !== undefined && writes.value && (
            <a class="button quiet" href={linkTo(['playground'], { a: weights })}>
              Talk to it
            </a>
          )}
        </td>
      </tr>
      {isOpen.value && (
        <tr class="commands">
          <td colSpan={8}>
            {children}
            <dl>
              {nextCommands(checkpoint, file).map(({ what, command }) => (
                <div key={what}>
                  <dt>{what}</dt>
                  <dd>
                    <Copy text={command} />
                  </dd>
                </div>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </>
  )
}
