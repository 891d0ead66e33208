import { useSignal } from '@preact/signals'
import type { ChatReply } from '../../src/studio/api.js'

/** Shades of what is unlikely: as in the view of rollouts. */
export function shadeOf(probability: number): string {
  const level = Math.min(8, Math.round((-Math.log(Math.max(probability, 1e-9)) / 5) * 8))
  return level === 0 ? '' : `h${level}`
}

/** An answer token by token: the less likely, the stronger its color; what else it might have been is told below. */
export function ReplyTokens({ reply }: { reply: ChatReply }) {
  const at = useSignal<number | undefined>(undefined)
  const token = at.value === undefined ? undefined : reply.tokens[at.value]
  return (
    <div class="reply-tokens">
      <p class="tokens">
        {reply.tokens.map(({ text, probability }, i) => (
          <button
            key={i}
            type="button"
            class={`tok ${shadeOf(probability)} ${i === at.value ? 'chosen' : ''}`}
            aria-label={`${text}, ${percent(probability)}`}
            onMouseEnter={() => {
              at.value = i
            }}
            onFocus={() => {
              at.value = i
            }}
          >
            {text.replaceAll('\n', '↵\n') || '·'}
          </button>
        ))}
      </p>
      <dl class="others" aria-live="polite">
        {token === undefined ? (
          <div>
            <dt class="muted">Point at a token to see what else it might have been.</dt>
          </div>
        ) : (
          [{ text: token.text, probability: token.probability }, ...token.others].map(({ text, probability }, i) => (
            <div key={i} class={i === 0 ? 'drawn' : ''}>
              <dt>
                <code>{JSON.stringify(text)}</code>
              </dt>
              <dd>
                <meter min={0} max={1} value={probability} aria-label={percent(probability)} />
                {percent(probability)}
              </dd>
            </div>
          ))
        )}
      </dl>
    </div>
  )
}

const percent = (probability: number) => {
  const share = probability * 100
  return share > 0 && share < 0.05 ? '< 0.1 %' : `${share.toFixed(1)} %`
}
