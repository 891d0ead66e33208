import { useSignal } from '@preact/signals'
import type { ChatPart, ModelChoice, TryAnswer } from '../../src/studio/api.js'
import { number } from '../base/format.js'
import { runs } from '../base/live.js'
import { numberOf, query, setQuery } from '../base/place.js'
import { runName } from '../base/run-names.js'
import { postLines, type Refusal, refusalOf } from '../base/server.js'
import { Empty } from '../part/empty.js'
import { Refused } from '../part/refused.js'
import { Chat } from '../rollouts/chat.js'
import { ChatOrTokens, showsTokens } from '../rollouts/chat-or-tokens.js'
import { messagesOf } from '../rollouts/message.js'
import { Tokens } from '../rollouts/tokens.js'
import { ModelSelect } from './model-select.js'
import { TasksetSelect } from './taskset-select.js'

/** One task of a run through its workflow, by any model, and what it is worth. */
export function TryView({ models }: { models: readonly ModelChoice[] }) {
  const { run = '', model = '', task = '0', set = '' } = query.value
  const busy = useSignal<string | undefined>(undefined)
  const problem = useSignal<Refusal | undefined>(undefined)
  const answer = useSignal<TryAnswer | undefined>(undefined)
  const known = (runs.value ?? []).filter(({ mode }) => mode !== undefined && mode !== 'train')
  const go = async () => {
    busy.value = 'opening the models'
    problem.value = undefined
    try {
      const body = {
        run,
        task: numberOf(task) ?? 0,
        ...(model === '' ? {} : { model }),
        ...(set === '' ? {} : { taskset: set }),
      }
      answer.value = await postLines<TryAnswer, ChatPart>('try', body, ({ note }) => {
        if (note !== undefined) busy.value = note
      })
    } catch (error) {
      problem.value = refusalOf(error)
    } finally {
      busy.value = undefined
    }
  }
  if (known.length === 0)
    return (
      <Empty title="No run with tasks yet">
        <p>A run brings the tasks, the workflow and the reward. Start one, and try its tasks here one by one.</p>
      </Empty>
    )
  return (
    <div class="try">
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault()
          void go()
        }}
      >
        <select
          aria-label="run"
          value={run}
          title={known.find(({ id }) => id === run)?.path}
          onChange={(event) => setQuery({ run: event.currentTarget.value, set: '', task: '' })}
        >
          <option value="">Choose a run</option>
          {known.map((one) => (
            <option key={one.id} value={one.id}>
              {runName(one)}
            </option>
          ))}
        </select>
        <TasksetSelect run={run} value={set} />
        <ModelSelect
          models={models}
          value={model}
          label="model"
          none="its first model"
          onChange={(next) => setQuery({ model: next })}
        />
        <label>
          Task
          <input
            class="task"
            inputMode="numeric"
            value={task}
            onInput={(event) => setQuery({ task: event.currentTarget.value })}
          />
        </label>
        <button type="submit" class="primary" disabled={run === '' || busy.value !== undefined}>
          {answer.value === undefined ? 'Try' : 'Try again'}
        </button>
        <button
          type="button"
          disabled={busy.value !== undefined}
          onClick={() => setQuery({ task: String((numberOf(task) ?? 0) + 1) })}
        >
          Next task
        </button>
        {busy.value !== undefined && (
          <span class="muted" role="status">
            {busy.value}…
          </span>
        )}
      </form>
      {problem.value !== undefined && <Refused refusal={problem.value} />}
      {answer.value !== undefined ? (
        <Tried answer={answer.value} />
      ) : (
        problem.value === undefined && (
          <Empty title="Try one task">
            <p>
              Choose a run, one of its task sets and a row: its workflow runs once, and what it earns is shown here.
            </p>
          </Empty>
        )
      )}
    </div>
  )
}

function Tried({ answer }: { answer: TryAnswer }) {
  const [first] = answer.rollouts
  const facts: [string, string][] = [
    ['reward', number(first?.reward)],
    ['task set', answer.taskset],
    ['workflow', answer.workflow],
    ['experiences', String(answer.rollouts.length)],
    ['seconds', number(answer.seconds)],
    ...Object.entries(answer.metrics)
      .filter(([name]) => name !== 'reward')
      .map(([name, value]): [string, string] => [name, number(value)]),
  ]
  return (
    <>
      <dl class="facts">
        {facts.slice(0, 12).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {answer.failure !== undefined && <pre class="failure">{answer.failure}</pre>}
      <ChatOrTokens />
      {answer.rollouts.map((rollout) =>
        showsTokens() ? (
          <Tokens key={rollout.id} rollout={rollout} />
        ) : (
          <Chat key={rollout.id} messages={messagesOf(rollout)} />
        ),
      )}
      <details class="plan">
        <summary>Row</summary>
        <pre>{JSON.stringify(answer.row, null, 2)}</pre>
      </details>
      {answer.log.length > 0 && (
        <details class="plan">
          <summary>Log</summary>
          <pre>{answer.log.join('\n')}</pre>
        </details>
      )}
    </>
  )
}
