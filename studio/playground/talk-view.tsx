import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ModelChoice } from '../../src/studio/api.js'
import { query, setQuery } from '../base/place.js'
import { Empty } from '../part/empty.js'
import { Refused } from '../part/refused.js'
import { beforeAndAfter } from './model-names.js'
import { ModelSelect } from './model-select.js'
import { ReplyTokens } from './reply-tokens.js'
import { isPlain, SamplingFields, sampling, system } from './sampling.js'
import { type Said, type Side, sides } from './side.js'

/** A conversation with one model, or with two that are asked the same. */
export function TalkView({ models }: { models: readonly ModelChoice[] }) {
  const { a = '', b = '' } = query.value
  useEffect(() => {
    sides[0].model.value = a
    sides[1].model.value = b
  }, [a, b])
  const question = useSignal('')
  const asked = b === '' ? [sides[0]] : sides
  const isBusy = asked.some(({ busy }) => busy.value !== undefined)
  const send = () => {
    const text = question.value.trim()
    if (text === '' || a === '' || isBusy) return
    question.value = ''
    const how = { system: system.value, isPlain: isPlain.value, sampling: sampling.value }
    for (const side of asked) void side.ask(text, how)
  }
  return (
    <div class="talk">
      <aside class="sampling">
        <SamplingFields />
      </aside>
      <div class="talk-main">
        <div class={`talk-sides ${b === '' ? 'one' : ''}`}>
          <SideView
            side={sides[0]}
            models={models}
            value={a}
            label="model"
            none="Choose a model"
            onChange={(next) => setQuery({ a: next })}
            start={<Start models={models} />}
          />
          <SideView
            side={sides[1]}
            models={models}
            value={b}
            label="model to compare with"
            none="Compare with…"
            onChange={(next) => setQuery({ b: next })}
          />
        </div>
        <form
          class="ask"
          onSubmit={(event) => {
            event.preventDefault()
            send()
          }}
        >
          <textarea
            rows={3}
            value={question.value}
            placeholder={
              a === '' ? 'Choose a model first' : 'Ask something. Enter sends, Shift+Enter makes a new line.'
            }
            aria-label="question"
            onInput={(event) => {
              question.value = event.currentTarget.value
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
              event.preventDefault()
              send()
            }}
          />
          <span>
            {isBusy ? (
              <button type="button" onClick={() => asked.forEach((side) => void side.stop())}>
                Stop
              </button>
            ) : (
              <button type="submit" class="primary" disabled={a === '' || question.value.trim() === ''}>
                Send
              </button>
            )}
            <button type="button" class="quiet" onClick={() => sides.forEach((side) => void side.reset())}>
              Begin again
            </button>
          </span>
        </form>
      </div>
    </div>
  )
}

interface SideProps {
  readonly side: Side
  readonly models: readonly ModelChoice[]
  readonly value: string
  readonly label: string
  readonly none: string
  readonly onChange: (path: string) => void
  /** Shown while no model is chosen. */
  readonly start?: ComponentChildren
}

function SideView({ side, value, start, ...select }: SideProps) {
  const end = useRef<HTMLDivElement>(null)
  const said = side.said.value
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [said])
  return (
    <section class="side">
      <ModelSelect value={value} {...select} />
      {value === '' && start !== undefined && <div class="side-said">{start}</div>}
      {value !== '' && (
        <div class="side-said">
          {said.length === 0 && side.problem.value === undefined && (
            <p class="muted">{side.busy.value ?? 'The model is opened with the first question.'}</p>
          )}
          <ol class="chat">
            {said.map((one, i) => (
              <Message key={i} said={one} />
            ))}
          </ol>
          {side.busy.value !== undefined && said.length > 0 && <p class="muted">{side.busy.value}…</p>}
          {side.problem.value !== undefined && <Refused refusal={side.problem.value} />}
          <div ref={end} />
        </div>
      )}
    </section>
  )
}

function Message({ said: { role, text, reply } }: { said: Said }) {
  return (
    <li class={`message ${role}`}>
      <h2>
        {role}
        {reply !== undefined && (
          <span class="muted">
            {' '}
            {reply.tokens.length} tokens, {(reply.tokens.length / Math.max(reply.seconds, 1e-3)).toFixed(0)} a second
            {reply.end === 'length' && ', cut'}
            {reply.end === 'context' && `, cut: the context of ${reply.context} tokens is full`}
          </span>
        )}
      </h2>
      {reply !== undefined && reply.tokens.length > 0 ? <ReplyTokens reply={reply} /> : <p class="said">{text}</p>}
    </li>
  )
}

/** What to do first: the newest run before and after its training, side by side. */
function Start({ models }: { models: readonly ModelChoice[] }) {
  const pair = beforeAndAfter(models)
  return (
    <Empty title="Talk to a model">
      <p>Choose a checkpoint above, and a second one to ask both the same.</p>
      {pair !== undefined && (
        <button type="button" onClick={() => setQuery(pair)}>
          Compare the newest run before and after
        </button>
      )}
    </Empty>
  )
}

export function NoModels() {
  return (
    <Empty title="No models yet">
      <p>
        Studio offers checkpoints of runs and model directories below its folders. Start a run, or start Studio with the
        folder of a model as one more folder:
      </p>
      <pre>trinity studio checkpoints models</pre>
    </Empty>
  )
}
