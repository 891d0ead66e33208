import type { ChatMessage } from '../../src/studio/api.js'
import { Empty } from '../part/empty.js'
import { type Part, partsOf } from './message.js'

/** A conversation. Everything in it is text: nothing that a model writes becomes markup. */
export function Chat({ messages }: { messages: readonly ChatMessage[] }) {
  if (messages.length === 0)
    return (
      <Empty title="No texts on record">
        <p>The tokens are there: choose “Tokens” above.</p>
      </Empty>
    )
  return (
    <ol class="chat">
      {messages.map((message, index) => (
        <li key={index} class={`message ${message.role}`}>
          <h2>
            {message.role}
            {typeof message.name === 'string' && <span class="muted"> {message.name}</span>}
          </h2>
          {partsOf(message).map((part, at) => (
            <PartView key={at} part={part} />
          ))}
        </li>
      ))}
    </ol>
  )
}

function PartView({ part }: { part: Part }) {
  if (part.kind === 'text') return <p class="said">{part.text}</p>
  if (part.kind === 'thought')
    return (
      <details class="thought">
        <summary>thought</summary>
        <p class="said">{part.text}</p>
      </details>
    )
  return (
    <div class="call">
      <code>{part.kind === 'call' ? `${part.name}()` : part.name}</code>
      <pre>{part.text}</pre>
    </div>
  )
}
