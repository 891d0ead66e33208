import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** TypeScript without its types; every line stays where it is. */
export function withoutTypes(source: string): string {
  const { transform } = createRequire(import.meta.url)('sucrase') as typeof import('sucrase')
  return transform(source, { transforms: ['typescript'], disableESTransforms: true }).code
}

/** The line of a syntax error. `import()` tells only what is wrong, not where; `node --check` tells both. */
export function syntaxLine(file: string): number | undefined {
  const source = readFileSync(file, 'utf8')
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--check', '-'], {
    input: /ts$/.test(file) ? withoutTypes(source) : source,
    encoding: 'utf8',
    timeout: 10_000,
  })
  const line = /^\[stdin\]:(\d+)/m.exec(stderr ?? '')?.[1]
  return line === undefined ? undefined : Number(line)
}
