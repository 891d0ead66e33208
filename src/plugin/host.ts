import { nearest } from '../base/nearest.js'

/** The name under which plugins import the running program. */
export const PACKAGE = 'trinity-rft'

const HOST = Symbol.for(`${PACKAGE}.host`)

/** The exports of the running program by entry, named as in package.json: `.`, `./engine`, … */
export type Host = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What a plugin writes to import an entry. */
const specifierOf = (entry: string) => PACKAGE + entry.slice(1)

/** Sources of modules that pass on what this process has already loaded, by what a plugin writes to import them. */
export function hostSources(host: Host): Record<string, string> {
  ;(globalThis as { [HOST]?: Host })[HOST] = host
  return Object.fromEntries(Object.keys(host).map((entry) => [specifierOf(entry), hostSource(entry, host)]))
}

function hostSource(entry: string, host: Host): string {
  const names = Object.keys(host[entry]).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default')
  const lines = names.map((name) => `export const ${name} = host.${name}`)
  const from = `globalThis[Symbol.for(${JSON.stringify(`${PACKAGE}.host`)})][${JSON.stringify(entry)}]`
  return [`const host = ${from}`, ...lines].join('\n')
}

/** What to write instead of an import that this program does not have; undefined: the message is about something else. */
export function importHint(message: string, host: Host): string | undefined {
  const [, place, name] = /module '(.+?)' does not provide an export named '(.+?)'/.exec(message) ?? []
  const entry = Object.keys(host).find((one) => specifierOf(one) === place)
  if (entry !== undefined) return exportHint(name, entry, host)
  const missing = /Cannot find package '(.+?)'/.exec(message)?.[1]
  if (missing === undefined) return undefined
  if (!missing.startsWith(`${PACKAGE}/`)) return `install it in the folder of the plugin: npm install ${missing}`
  const known = Object.keys(host).map(specifierOf)
  const near = nearest(missing, known)
  return (near ? `did you mean '${near}'? ` : '') + `there are ${known.join(', ')}`
}

function exportHint(name: string, entry: string, host: Host): string {
  const home = Object.keys(host).find((one) => name in host[one])
  if (home !== undefined) return `import it from '${specifierOf(home)}'`
  const near = nearest(name, Object.keys(host[entry]))
  if (near) return `did you mean '${near}'?`
  return `'${specifierOf(entry)}' has no export '${name}'; docs/plugins.md lists what plugins use`
}
