import type { ChatMessage, ChatTemplate } from '../chat-template.js'

const ROLES = ['system', 'user', 'assistant'] as const
type Role = (typeof ROLES)[number]
type Frame = readonly [before: string, after: string]

/**
 * A chat template in the language of Ollama (Go's templates), where it is one that writes every message between two fixed texts, with a
 * fixed beginning where no system message stands first. What the frames give is compared with the template itself on several chats;
 * undefined where they differ.
 */
export function goTemplate(template: ChatTemplate): string | undefined {
  try {
    const parts = partsOf(template)
    return parts && CHATS.every((chat) => written(chat, parts) === template.render(chat, { addGenerationPrompt: true }))
      ? asGo(parts)
      : undefined
  } catch {
    return undefined
  }
}

interface Parts {
  /** Where the first message is not the system's. */
  readonly lead: string
  readonly frames: Readonly<Record<Role, Frame>>
  /** What the assistant goes on from. */
  readonly prompt: string
}

const chat = (...roles: Role[]): ChatMessage[] => roles.map((role, i) => ({ role, content: `text ${i} of ${role}` }))

const CHATS = [
  chat('user'),
  chat('system', 'user'),
  chat('user', 'assistant', 'user'),
  chat('system', 'user', 'assistant', 'user', 'assistant', 'user'),
]

/** Contents that stand in no template tell where its own text ends. */
function partsOf(template: ChatTemplate): Parts | undefined {
  const marks = ['⟦0⟧', '⟦1⟧', '⟦2⟧', '⟦3⟧']
  const render = (roles: Role[], addGenerationPrompt = false) =>
    template.render(
      roles.map((role, i) => ({ role, content: marks[i] })),
      { addGenerationPrompt },
    )
  const pieces = render(['system', 'user', 'assistant', 'user']).split(/⟦\d⟧/)
  if (pieces.length !== 5) return undefined
  const [system, ...between] = pieces
  // The last message shows its end; what stands between two is the end of one and the beginning of the next.
  const after = between[3]
  const begin = (gap: string, end: string) => (gap.startsWith(end) ? gap.slice(end.length) : undefined)
  const user = begin(between[2], assistantEnd(template) ?? '')
  const assistant = begin(between[1], after)
  const systemEnd =
    user !== undefined && between[0].endsWith(user) ? between[0].slice(0, between[0].length - user.length) : undefined
  if (user === undefined || assistant === undefined || systemEnd === undefined) return undefined
  const alone = render(['user']).split(marks[0])[0]
  if (!alone.endsWith(user)) return undefined
  const prompt = render(['user'], true).slice(render(['user']).length)
  const frames = {
    system: [system, systemEnd],
    user: [user, after],
    assistant: [assistant, assistantEnd(template) ?? ''],
  } as const
  return { lead: alone.slice(0, alone.length - user.length), frames, prompt }
}

function assistantEnd(template: ChatTemplate): string | undefined {
  return template
    .render([
      { role: 'user', content: '⟦0⟧' },
      { role: 'assistant', content: '⟦1⟧' },
    ])
    .split('⟦1⟧')[1]
}

function written(messages: readonly ChatMessage[], { lead, frames, prompt }: Parts): string {
  const text = messages.map(({ role, content }) => frames[role as Role][0] + content + frames[role as Role][1]).join('')
  return (messages[0].role === 'system' ? '' : lead) + text + prompt
}

/** As `{{ "…" }}`, so that neither braces nor spaces at the ends are taken for instructions. */
const quoted = (text: string): string => (text === '' ? '' : `{{ ${JSON.stringify(text)} }}`)

function asGo({ lead, frames, prompt }: Parts): string {
  const first = lead === '' ? '' : `{{ if ne (index .Messages 0).Role "system" }}${quoted(lead)}{{ end }}`
  const roles = ROLES.map((role, i) => {
    const [before, after] = frames[role]
    return `{{ ${i === 0 ? 'if' : 'else if'} eq .Role "${role}" }}${quoted(before)}{{ .Content }}${quoted(after)}`
  })
  return `${first}{{ range .Messages }}${roles.join('')}{{ end }}{{ end }}${quoted(prompt)}`
}
