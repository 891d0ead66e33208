import type { Rollout as Experience } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { number } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { go, linkTo, query } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Problem } from '../part/empty.js'
import { Chat } from './chat.js'
import { ChatOrTokens, showsTokens } from './chat-or-tokens.js'
import { messagesOf } from './message.js'
import { ScoredTokens } from './scored-tokens.js'
import { sourceKey, taskWords } from './task-words.js'

/** Enough to know a prompt by, and short enough for an address. */
const LONGEST_PROMPT = 1000

/** One rollout: what was said, or which tokens it was said with. */
export function Rollout({ id }: { id: string }) {
  const { store, id: row, show: _, color: __, token: ___, by: ____, ...filter } = query.value
  const table = [['runs', id, 'rollouts'], { ...filter, store }] as const
  useKeys({ u: () => go(...table) })
  const { answer, problem } = useAsked<Experience>(runPath(id, 'rollout'), { store, id: row }).value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  return (
    <>
      <div class="tools">
        <a class="button quiet" href={linkTo(...table)}>
          ← Table
        </a>
        <ChatOrTokens />
        <span class="space" />
        {answer.promptText !== undefined && (
          <a
            class="button quiet"
            href={linkTo(['runs', id, 'rollouts'], {
              store,
              view: 'attempts',
              prompt: answer.promptText.slice(0, LONGEST_PROMPT),
              ...(answer.source && { of: sourceKey(answer.source) }),
            })}
          >
            All attempts at this task
          </a>
        )}
        <a class="button quiet" href={linkTo(['runs', id, 'rollouts'], { store, view: 'step', at: answer.step })}>
          Best and worst of this step
        </a>
      </div>
      <Facts rollout={answer} />
      {answer.missing.map((line) => (
        <p key={line} class="note">
          {line}
        </p>
      ))}
      {showsTokens() ? <ScoredTokens id={id} rollout={answer} /> : <Conversation rollout={answer} />}
    </>
  )
}

function Facts({ rollout }: { rollout: Experience }) {
  const metrics = Object.entries(rollout.metrics)
  const facts: [string, string | number | undefined][] = [
    ['reward', number(rollout.reward)],
    ['step', rollout.step],
    ['task', taskWords(rollout)],
    ['run', rollout.run],
    ['version', rollout.version],
    ['temperature', rollout.temperature],
    ['tokens', `${rollout.tokens.promptLength} + ${rollout.tokens.id.length - rollout.tokens.promptLength}`],
    ...(rollout.consumed === undefined ? [] : [['used', rollout.consumed] as [string, number]]),
    ...metrics.slice(0, 12).map(([name, value]): [string, string] => [name, number(value)]),
  ]
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {rollout.failure !== undefined && (
        <pre class="failure" role="alert">
          {rollout.failure.replaceAll('_', ' ')}
          {rollout.failureMessage && `: ${rollout.failureMessage}`}
        </pre>
      )}
    </>
  )
}

function Conversation({ rollout }: { rollout: Experience }) {
  if (rollout.pair !== undefined)
    return (
      <div class="halves">
        <section>
          <h2>Chosen</h2>
          <Chat messages={rollout.pair.chosen} />
        </section>
        <section>
          <h2>Rejected</h2>
          <Chat messages={rollout.pair.rejected} />
        </section>
      </div>
    )
  return (
    <>
      <Chat messages={messagesOf(rollout)} />
      {rollout.tools !== undefined && <Details title="Tools" value={rollout.tools} />}
      <Details title="Info" value={rollout.info} />
    </>
  )
}

function Details({ title, value }: { title: string; value: Experience['info'] }) {
  return (
    <details class="plan">
      <summary>{title}</summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  )
}
