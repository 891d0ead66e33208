import { ALIASES } from './alias.js'
import { docsIntro } from './docs-intro.js'
import { type Field, type RecordSpec, typeText } from './field.js'
import { config } from './section/config.js'
import { trainerConfig } from './section/trainer-config.js'

/** docs/configuration.md: how files are read, then every key. */
export function configReference(): string {
  const records: { spec: RecordSpec; paths: string[] }[] = []
  collect(config, '', records)
  collect(trainerConfig, 'trainer.trainer_config', records)
  const parts = [
    docsIntro(),
    '## Keys\n',
    LEGEND,
    ...records.map(({ spec, paths }) => recordTable(spec, paths)),
    aliasTable(),
  ]
  return `${parts.join('\n')}\n`
}

const LEGEND = `\`T?\` allows null. A default with an arrow (→) says what a value left out becomes.
† is filled in by the program; ‡ is accepted from existing files and has no effect. ¶ is the training engine's to read:
an engine that does not read it says so when a run starts. § is secret: see [Secrets](#secrets).
`

function collect(spec: RecordSpec, path: string, out: { spec: RecordSpec; paths: string[] }[]): void {
  const known = out.find((one) => one.spec === spec)
  if (known) {
    if (!known.paths.includes(path)) known.paths.push(path)
    return
  }
  out.push({ spec, paths: [path] })
  for (const [key, field] of Object.entries(spec.fields)) collectField(field, path === '' ? key : `${path}.${key}`, out)
}

function collectField(field: Field, path: string, out: { spec: RecordSpec; paths: string[] }[]): void {
  // a stage holds the same sections again
  if (/^stages\[i\]\./.test(path)) return
  if (field.kind === 'record') collect(field.record as RecordSpec, path, out)
  else if (field.item) collectField(field.item, field.kind === 'list' ? `${path}[i]` : `${path}.<name>`, out)
}

function recordTable(spec: RecordSpec, paths: string[]): string {
  const shown = paths.length > 4 ? [...paths.slice(0, 4), '…'] : paths
  const where = paths[0] === '' ? 'top level' : shown.map((path) => (path === '…' ? path : `\`${path}\``)).join(', ')
  const rows = Object.entries(spec.fields).map(([key, field]) => {
    const mark = field.noEffect ? ' ‡' : field.derived ? ' †' : field.forEngine ? ' ¶' : field.secret ? ' §' : ''
    return `| \`${key}\`${mark} | ${typeText(field)} | ${defaultText(field)} | ${meaning(field)} |`
  })
  return [
    `### ${spec.name}\n`,
    `${where}. ${spec.doc}\n`,
    '| key | type | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function defaultText(field: Field): string {
  if (!field.initial) return 'required'
  const value = field.initial()
  const empty = value === null || value === '' || (field.auto !== undefined && value === 0)
  if (empty && field.auto) return `→ ${withoutTags(field.auto)}`
  if (field.kind === 'record' && value !== null) return ''
  return value === '' ? '`""`' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function meaning(field: Field): string {
  const values =
    field.values && field.doc
      ? ` One of ${field.values.map((value) => `\`${value}\``).join(', ')}${field.openText ? `, or ${field.openText}` : ''}.`
      : ''
  const idle = field.noEffect ? ` (${field.noEffect})` : ''
  return withoutTags(`${field.doc}${values}${idle}`.replaceAll('|', '\\|'))
}

/** `<name>` outside of code is text, and no tag of HTML. */
const withoutTags = (text: string) => text.replace(/(`[^`]*`)|</g, (_, code?: string) => code ?? '\\<')

function aliasTable(): string {
  const rows = ALIASES.map((alias) => {
    const now = alias.gone ? `no effect: ${alias.gone}` : `\`${alias.now}\`${alias.each ? ' of each of them' : ''}`
    return `| ${alias.in} | \`${alias.old}\` | ${now} |`
  })
  return [
    '## Older names\n',
    'Understood, with a note. A leading `/` starts at the top of the file.\n',
    '| record | old | now |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}
