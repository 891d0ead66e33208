import type { Value } from './value.js'

/** A line of the Trinity file: a value and where it comes from. */
export interface Leaf {
  value: Value
  comment?: string
}
export interface Branch {
  children: Map<string, Leaf | Branch | Item[]>
  /** Comment lines written above the children. */
  remarks: string[]
}
/** An entry of a list of maps (tasksets, models, operators). */
export type Item = Branch

/** The Trinity configuration under construction: a tree in writing order, with a comment on every line. */
export class Draft {
  readonly root: Branch = branch()

  /** Sets `a.b.c`; the first value set for a path wins, so derived values are set before copied ones. */
  set(path: string, value: Value, comment?: string): void {
    const parts = path.split('.')
    const parent = this.#branch(parts.slice(0, -1))
    const name = parts.at(-1)!
    if (!parent.children.has(name)) parent.children.set(name, { value, comment })
  }

  /** Replaces a value that is already there, or sets it. */
  replace(path: string, value: Value, comment?: string): void {
    const parts = path.split('.')
    this.#branch(parts.slice(0, -1)).children.set(parts.at(-1)!, { value, comment })
  }

  get(path: string): Value | undefined {
    let node: Leaf | Branch | Item[] | undefined = this.root
    for (const part of path.split('.'))
      node = node !== undefined && 'children' in node ? node.children.get(part) : undefined
    return node !== undefined && 'value' in node ? node.value : undefined
  }

  /** Makes sure that a section exists, so that sections keep their usual order. */
  section(...names: string[]): void {
    for (const name of names) this.#branch(name.split('.'))
  }

  list(path: string, items: Item[]): void {
    const parts = path.split('.')
    this.#branch(parts.slice(0, -1)).children.set(parts.at(-1)!, items)
  }

  remark(path: string, text: string): void {
    this.#branch(path.split('.')).remarks.push(text)
  }

  #branch(parts: string[]): Branch {
    let node = this.root
    for (const part of parts) {
      let child = node.children.get(part)
      // A veRL key can be a value and a parent of other keys at once only by mistake; the children then win.
      if (child === undefined || !('children' in child)) {
        child = branch()
        node.children.set(part, child)
      }
      node = child
    }
    return node
  }
}

export function branch(): Branch {
  return { children: new Map(), remarks: [] }
}

/** A list entry from `[key, value, comment]` rows; a key `a.b` makes a map inside. */
export function item(rows: [key: string, value: Value | undefined, comment?: string][], remarks: string[] = []): Item {
  const draft = new Draft()
  for (const [key, value, comment] of rows) if (value !== undefined) draft.set(key, value, comment)
  draft.root.remarks.push(...remarks)
  return draft.root
}
