import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Rollout } from '../../src/studio/api.js'
import { count } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { numberOf, query, setQuery } from '../base/place.js'
import { availableColorings, COLORING_WORDS, COLORINGS, tokenClasses, tokenText } from './token-color.js'
import { TokenFacts } from './token-facts.js'

/** Each token is an element: thousands at once are enough. */
const PAGE = 4000

interface Props {
  readonly rollout: Rollout
  /** Beside the colors. */
  readonly tools?: ComponentChildren
  /** Whose log-probs stand beside the sampler's; default: the trainer's. */
  readonly other?: string
}

/** Every token of prompt and answer, colored by one of its numbers. */
export function Tokens({ rollout, tools, other }: Props) {
  const { tokens } = rollout
  const available = availableColorings(tokens)
  const coloring = COLORINGS.find((name) => name === query.value.color && available.includes(name)) ?? available[0]
  const classes = useMemo(() => tokenClasses(tokens, coloring), [tokens, coloring])
  const hovered = useSignal<number | undefined>(undefined)
  const pages = useSignal(1)
  const chosen = numberOf(query.value.token)
  const at = hovered.value ?? chosen
  const choose = (index: number) => setQuery({ token: String(Math.max(0, Math.min(tokens.id.length - 1, index))) })
  useKeys({
    // asked anew: the next key may come before this is drawn again
    ArrowRight: () => choose((numberOf(query.value.token) ?? tokens.promptLength - 1) + 1),
    ArrowLeft: () => choose((numberOf(query.value.token) ?? tokens.promptLength + 1) - 1),
  })
  const shown = Math.min(tokens.id.length, PAGE * pages.value)
  const body = useMemo(
    () =>
      tokens.id.slice(0, shown).map((id, index) => (
        <i key={index} data-at={index} class={`tok ${classOf(index, tokens.promptLength, classes)}`}>
          {tokenText(tokens.text?.[index], id)}
        </i>
      )),
    [tokens, classes, shown],
  )
  const host = useRef<HTMLDivElement>(null)
  // marked by hand: to make thousands of elements anew for one would be slow
  useEffect(() => {
    const token = chosen === undefined ? null : host.current?.querySelector(`[data-at="${chosen}"]`)
    token?.classList.add('chosen')
    token?.scrollIntoView({ block: 'nearest' })
    return () => token?.classList.remove('chosen')
  }, [chosen, body])
  const indexOf = ({ target }: Event) => numberOf((target as HTMLElement).dataset.at)
  const { low, high } = COLORING_WORDS[coloring]
  return (
    <div class="token-view">
      <section>
        <div class="tools">
          <div class="switch">
            {available.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={name === coloring}
                onClick={() => setQuery({ color: name })}
              >
                {COLORING_WORDS[name].name}
              </button>
            ))}
          </div>
          <span class={`scale ${coloring === 'advantage' || coloring === 'mismatch' ? 'two' : 'one'}`}>
            {low} <i aria-hidden="true" /> {high}
          </span>
          <span class="space" />
          {tools}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents lint/a11y/useKeyWithMouseEvents: the arrow keys do the same */}
        <div
          ref={host}
          class={`tokens ${tokens.text === undefined ? 'ids' : ''}`}
          onMouseOver={(event) => {
            hovered.value = indexOf(event)
          }}
          onMouseLeave={() => {
            hovered.value = undefined
          }}
          onClick={(event) => {
            const index = indexOf(event)
            if (index !== undefined) choose(index)
          }}
        >
          {body}
        </div>
        {shown < tokens.id.length && (
          <button type="button" onClick={() => pages.value++}>
            Show more: {count(tokens.id.length - shown)} tokens are left
          </button>
        )}
      </section>
      <TokenFacts rollout={rollout} at={at} other={other} />
    </div>
  )
}

const classOf = (index: number, promptLength: number, classes: readonly string[]) =>
  index < promptLength ? 'given' : (classes[index - promptLength] ?? '')
