import { query, setQuery } from '../base/place.js'

/** Whether the address asks for tokens. */
export const showsTokens = () => query.value.show === 'tokens'

/** What was said, or which tokens it was said with. */
export function ChatOrTokens() {
  const isTokens = showsTokens()
  return (
    <div class="switch">
      <button type="button" aria-pressed={!isTokens} onClick={() => setQuery({ show: '' })}>
        Chat
      </button>
      <button type="button" aria-pressed={isTokens} onClick={() => setQuery({ show: 'tokens' })}>
        Tokens
      </button>
    </div>
  )
}
