import { useSignal } from '@preact/signals'
import type { Exported, ExportList } from '../../src/studio/api.js'
import { post, type Refusal, refusalOf, runPath } from '../base/server.js'
import { Dialog } from '../part/dialog.js'
import { Refused } from '../part/refused.js'
import { isUnderWay } from './exports.js'

interface Props {
  readonly run: string
  readonly step: number
  readonly list: ExportList
  readonly onBegun: () => void
  readonly onClose: () => void
}

/** Says where a file will be before it is written. */
export function ExportDialog({ run, step, list, onBegun, onClose }: Props) {
  const type = useSignal(list.types[0])
  const failure = useSignal<Refusal | undefined>(undefined)
  const isAsked = useSignal(false)
  const isThere = failure.value?.isTaken === true
  const isBusy = isAsked.value || list.exports.some(isUnderWay)
  const begin = async () => {
    isAsked.value = true
    try {
      await post<Exported>(runPath(run, 'export'), { step, type: type.peek(), isSure: isThere })
      onBegun()
    } catch (error) {
      failure.value = refusalOf(error)
      isAsked.value = false
    }
  }
  return (
    <Dialog title={`Export step ${step}`} onClose={onClose}>
      <p>
        A directory for any loader of Hugging Face models, or a GGUF file for llama.cpp and Ollama, in{' '}
        <code>{list.folder}</code>.
      </p>
      <p>
        <label>
          Type{' '}
          <select
            value={type.value}
            onChange={(event) => {
              type.value = event.currentTarget.value
              failure.value = undefined
            }}
          >
            {list.types.map((name) => (
              <option key={name} value={name}>
                {name === 'hf' ? 'Hugging Face, bf16' : `GGUF, ${name}`}
              </option>
            ))}
          </select>
        </label>
      </p>
      {failure.value && <Refused refusal={failure.value} hasHint={!isThere} />}
      {list.exports.some(isUnderWay) && <p class="muted">Another export is under way.</p>}
      <button type="button" class={isThere ? 'danger' : 'primary'} disabled={isBusy} onClick={begin}>
        {isThere ? 'Replace it' : 'Export'}
      </button>
    </Dialog>
  )
}
