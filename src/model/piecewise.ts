import type { Template } from './python-jinja/index.js'

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** Renders a whole template from messages and variables. */
type Render = (template: Template, messages: readonly unknown[]) => string

/** Characters that are remembered in all, and of one message. */
const KEPT = 1 << 24
const LONGEST = 4096
/** What a short text costs beside its characters. */
const EACH = 64
/** Characters that nobody writes. */
const MARK = '\uE000\uF8FF\uE000'

/**
 * A template that writes each message by itself: what it writes for one does not depend on the others, so it need not be
 * written again with every turn of a conversation. Templates that look at other messages, at the place in the list, or at
 * anything but the message and fixed texts are not of this kind.
 */
export class Piecewise {
  readonly #before: Template
  /** Writes a mark behind each message. */
  readonly #each: Template
  readonly #after: Template
  readonly #kept = new Map<string, string>()
  #size = 0

  private constructor(before: Template, each: Template, after: Template) {
    this.#before = before
    this.#each = each
    this.#after = after
  }

  /** Undefined: the template is of another kind. `fixed`: variables that are the same in every rendering. */
  static of(template: Template, fixed: readonly string[]): Piecewise | undefined {
    const body = (template.parsed as unknown as { body: Node[] }).body
    const at = body.findIndex((node) => node.type === 'For')
    const loop = body[at]
    if (!loop || !isLocal(loop, fixed)) return undefined
    const others = [...body.slice(0, at), ...body.slice(at + 1)]
    if (others.some((node) => mentions(node, (one) => one.value === 'messages' || SHARING.has(one.type))))
      return undefined
    const marked = { ...loop, body: [...(loop.body as Node[]), { type: 'StringLiteral', value: MARK }] }
    return new Piecewise(
      part(template, body.slice(0, at)),
      part(template, [marked]),
      part(template, body.slice(at + 1)),
    )
  }

  render(messages: readonly Readonly<Record<string, unknown>>[], render: Render): string {
    const keys = messages.map(keyOf)
    const pieces = keys.map((key) => (key === undefined ? undefined : this.#kept.get(key)))
    const missing = [...pieces.keys()].filter((i) => pieces[i] === undefined)
    // Rendering has a price of its own: all at once are cheaper than one by one.
    const written = this.#render(
      missing.map((i) => messages[i]),
      render,
    )
    for (const [at, i] of missing.entries()) {
      pieces[i] = written[at]
      this.#keep(keys[i], written[at])
    }
    // these parts do not look at messages
    return render(this.#before, []) + pieces.join('') + render(this.#after, [])
  }

  #render(messages: readonly unknown[], render: Render): string[] {
    if (messages.length === 0) return []
    const pieces = render(this.#each, messages).split(MARK)
    pieces.pop()
    if (pieces.length === messages.length) return pieces
    // a message has the mark in it
    return messages.map((message) => render(this.#each, [message]).slice(0, -MARK.length))
  }

  #keep(key: string | undefined, piece: string): void {
    if (key === undefined) return
    this.#size += key.length + piece.length + EACH
    if (this.#size > KEPT) {
      this.#kept.clear()
      this.#size = 0
    }
    this.#kept.set(key, piece)
  }
}

/** What only a role and a short text make up can be remembered. */
function keyOf(message: Readonly<Record<string, unknown>>): string | undefined {
  const { role, content, ...more } = message
  if (typeof role !== 'string' || typeof content !== 'string' || content.length > LONGEST) return undefined
  for (const _ in more) return undefined
  return `${role}\0${content}`
}

/** What carries a value from one part of a template into another, or leaves the other messages out. */
const SHARING = new Set(['Set', 'Macro', 'CallStatement', 'Break', 'Continue'])

/** What the engine looks up like variables. */
const CONSTANTS = ['true', 'false', 'none', 'True', 'False', 'None']

function isLocal({ loopvar, iterable, test, body, defaultBlock }: Node, fixed: readonly string[]): boolean {
  const name = (loopvar as Node).value as string
  if ((iterable as Node).type !== 'Identifier' || (iterable as Node).value !== 'messages') return false
  if (test || (defaultBlock as Node[]).length > 0) return false
  const known = new Set([name, ...CONSTANTS, ...fixed])
  const foreign = (node: Node) =>
    SHARING.has(node.type) || (node.type === 'Identifier' && !known.has(String(node.value)))
  return !mentions(body, foreign)
}

/** Is there such a node, leaving out names that are no variables: `message.role`, filters, tests and `and`? */
function mentions(node: unknown, wanted: (node: Node) => boolean): boolean {
  if (Array.isArray(node)) return node.some((one) => mentions(one, wanted))
  if (typeof node !== 'object' || node === null) return false
  const one = node as Node
  if (typeof one.type === 'string' && wanted(one)) return true
  return Object.entries(one).some(([key, value]) => !isName(one, key, value) && mentions(value, wanted))
}

function isName({ type, computed }: Node, key: string, value: unknown): boolean {
  if ((value as Node | null)?.type !== 'Identifier') return false
  if (key === 'operator') return true // and, or, not, in
  if (type === 'MemberExpression') return key === 'property' && !computed
  return (type === 'FilterExpression' && key === 'filter') || (type === 'TestExpression' && key === 'test')
}

/** A template of some of another's nodes. */
function part(template: Template, body: readonly Node[]): Template {
  const made = Object.create(Object.getPrototypeOf(template)) as { parsed: unknown }
  made.parsed = Object.assign(Object.create(Object.getPrototypeOf(template.parsed)), template.parsed, { body })
  return made as Template
}
