import module from 'node:module'

/** In Node from 22.13 on; the types of the oldest supported Node do not know it. */
type Strip = (code: string) => string
const ofNode = (module as { stripTypeScriptTypes?: Strip }).stripTypeScriptTypes

/**
 * TypeScript without its types, by Node itself: blanks take their place, so that lines and columns stay. Undefined where
 * this Node cannot, or where more is needed than to leave types out: an enum, a constructor property, a namespace, an
 * import that only types use and that does not say so, an error that somebody else explains better.
 */
export function stripByNode(source: string, strip: Strip | undefined = ofNode): string | undefined {
  if (!strip) return undefined
  const { emitWarning } = process
  // the first call warns that it is experimental, which is nothing to the author of a plugin
  process.emitWarning = () => {}
  try {
    const code = strip(source)
    return usesItsImports(code) ? code : undefined
  } catch {
    return undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

const IMPORT = /^[ \t]*import\s+([^'"();]*?)\s*from\s*(['"])[^'"\n]+\2/gm
const COMMENT_OR_TEXT = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g

/** Is each imported name used? One that is not may be a type, and no module exports those. When in doubt: no. */
function usesItsImports(code: string): boolean {
  const names = [...code.matchAll(IMPORT)].flatMap(([, clause]) =>
    clause
      .replace(/[{}]/g, ',')
      .split(',')
      .map((part) => part.trim().split(/\s+/).at(-1) as string)
      .filter((name) => name !== ''),
  )
  const rest = code.replace(IMPORT, '').replace(COMMENT_OR_TEXT, '')
  const used = new Set([...rest.matchAll(/(?<![.\w$])[A-Za-z_$][\w$]*(?!\s*:)/g)].map(([name]) => name))
  return names.every((name) => used.has(name))
}
