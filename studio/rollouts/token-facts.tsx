import type { Rollout } from '../../src/studio/api.js'
import { NONE, number } from '../base/format.js'

interface Props {
  readonly rollout: Rollout
  readonly at?: number
  readonly other?: string
}

/** Everything about one token, beside the text: it stays where it is while one points. */
export function TokenFacts({ rollout, at, other = 'of the trainer' }: Props) {
  const { tokens } = rollout
  if (at === undefined || at >= tokens.id.length)
    return (
      <aside class="token-facts">
        <p class="muted">Point at a token, or step through them with ← and →.</p>
      </aside>
    )
  const place = at - tokens.promptLength
  const isPrompt = place < 0
  const isOurs = !isPrompt && tokens.mask[place] === 1
  const value = (column?: readonly (number | null)[]) => (isOurs ? column?.[place] : undefined)
  const logprob = value(tokens.logprob)
  const mismatch = value(tokens.mismatch)
  const version = rollout.versions?.findLast(({ from }) => from <= place)?.version ?? rollout.version
  const rows: [string, string][] = [
    ['probability', chance(logprob)],
    ['log-prob', number(logprob)],
    ['as drawn', number(value(tokens.drawnLogprob))],
    [other, number(value(tokens.oldLogprob))],
    ['ratio', mismatch === undefined || mismatch === null ? NONE : number(Math.exp(mismatch))],
    ['of the reference', number(value(tokens.refLogprob))],
    ['of the teacher', number(value(tokens.teacherLogprob))],
    ['entropy', number(value(tokens.entropy))],
    ['advantage', number(value(tokens.advantage))],
    ['return', number(value(tokens.return))],
    ['value', number(value(tokens.value))],
    ['reward', number(value(tokens.reward))],
  ]
  return (
    <aside class="token-facts">
      <h2>
        <code>{JSON.stringify(tokens.text?.[at] ?? '').slice(1, -1) || NONE}</code>
      </h2>
      <p class="muted">
        id {tokens.id[at]} · {isPrompt ? `prompt ${at}` : `answer ${place}`}
        {!isPrompt && ` · version ${version}`}
      </p>
      <p>{isPrompt ? 'Part of the prompt.' : push(tokens.mask[place], value(tokens.advantage))}</p>
      <dl>
        {rows
          .filter(([, text]) => text !== NONE)
          .map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
    </aside>
  )
}

export function chance(logprob: number | null | undefined): string {
  if (logprob === undefined || logprob === null) return NONE
  const share = Math.exp(logprob) * 100
  return `${share >= 99.95 ? share.toFixed(0) : share >= 0.1 ? share.toFixed(1) : share.toExponential(1)} %`
}

/** Where the gradient pushes this token. */
function push(mask: 0 | 1, advantage: number | null | undefined): string {
  if (mask === 0) return 'Not the model’s: no gradient.'
  if (advantage === undefined || advantage === null) return 'Written by the model.'
  if (advantage === 0) return 'No push: its advantage is 0.'
  return advantage > 0 ? 'The gradient makes it more likely.' : 'The gradient makes it less likely.'
}
