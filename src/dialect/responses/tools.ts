import type { Wire } from '../dialect.js'
import type { RequestNotes } from '../request-notes.js'
import { dropTool } from '../tools.js'
import { wireList, wireObject, wireText } from '../wire.js'

/** A tool of a namespace, as the client calls it. */
export interface NamespacedTool {
  readonly name: string
  readonly namespace: string
}

/** Tools of a request in the form of the chat API. */
export interface ReadTools {
  readonly tools: readonly unknown[]
  /** Those of namespaces, by the name under which the model calls them. */
  readonly namespaced: ReadonlyMap<string, NamespacedTool>
}

/** Reads tools. Those of a namespace are offered one by one, under a name that has the namespace in front. */
export function readTools(given: readonly unknown[], notes: RequestNotes): ReadTools {
  const namespaced = new Map<string, NamespacedTool>()
  const tools = given.flatMap((one, i) => {
    const path = `tools[${i}]`
    const tool = wireObject(one, path)
    if (tool.type !== 'namespace') return readTool(tool, path, notes)
    const namespace = wireText(tool.name, `${path}.name`)
    return wireList(tool.tools ?? [], `${path}.tools`).flatMap((inner, j) => {
      const at = `${path}.tools[${j}]`
      const described = wireObject(inner, at)
      if (described.type !== 'function') return dropTool(described.type, at, notes)
      const name = wireText(described.name, `${at}.name`)
      const flat = flatName(namespace, name, at)
      namespaced.set(flat, { name, namespace })
      return readTool({ ...described, name: flat }, at, notes)
    })
  })
  return { tools, namespaced }
}

/** The chat API puts what describes a function one level deeper. */
function readTool({ type, ...described }: Wire, path: string, notes: RequestNotes): readonly unknown[] {
  return type === 'function' ? [{ type, function: described }] : dropTool(type, path, notes)
}

/**
 * The name under which the model calls a tool of a namespace. It depends on nothing else in the request: a later one may
 * leave the tools out, and its history must read the same.
 */
export function flatName(namespace: unknown, name: string, path: string): string {
  if (namespace === undefined || namespace === null || namespace === '') return name
  const prefix = wireText(namespace, `${path}.namespace`)
  return prefix.endsWith('__') ? prefix + name : `${prefix}__${name}`
}

/** Reads the name of a function in a choice. */
export function choiceName(tool: Wire, path: string): string {
  return flatName(tool.namespace, wireText(tool.name, `${path}.name`), path)
}

/** A call's name as the client knows it. */
export function clientName(name: string, namespaced: ReadonlyMap<string, NamespacedTool>): Wire {
  const found = namespaced.get(name)
  return found ? { name: found.name, namespace: found.namespace } : { name }
}
