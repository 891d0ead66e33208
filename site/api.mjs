// The API reference: every export of every entry of the package, with its comment and its declaration, from the compiler's .d.ts files.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

/** Declarations longer than this are cut: they are types that zod has written out. */
const LONGEST = 120

/** Writes one page for each entry of the package at `root`, and one that leads to them, into `out`. */
export function writeApi(root, out) {
  const types = mkdtempSync(join(tmpdir(), 'trinity-types-'))
  try {
    declarations(root, types)
    const entries = entriesOf(root, types)
    const homes = new Map(entries.flatMap((entry) => entry.names.map(({ name }) => [name, entry.page])))
    mkdirSync(out, { recursive: true })
    for (const entry of entries) writeFileSync(join(out, `${entry.page}.md`), entryPage(entry, homes))
    writeFileSync(join(out, 'index.md'), indexPage(entries))
    const silent = entries.flatMap(({ names }) => names.filter(({ doc }) => doc === ''))
    if (silent.length > 0)
      throw new Error(`no comment says what these are: ${silent.map(({ name }) => name).join(', ')}`)
    return entries
  } finally {
    rmSync(types, { recursive: true, force: true })
  }
}

function declarations(root, out) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [
    tsc,
    '-p',
    join(root, 'tsconfig.build.json'),
    '--emitDeclarationOnly',
    '--sourceMap',
    'false',
    '--outDir',
    out,
  ]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  // 2: there are errors, which a type check will show, and there is output
  if (status !== 0 && status !== 2) throw new Error('the types of the package cannot be made')
}

/** What each entry of package.json exports. */
function entriesOf(root, types) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.entries(manifest.exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([name, { types: path }]) => ({
      title: manifest.name + name.slice(1),
      // `index` is the page that leads to the entries
      page: name === '.' ? manifest.name : name.slice(2),
      file: join(types, path.replace(/^\.\/dist\//, '')),
    }))
  const options = { module: ts.ModuleKind.NodeNext, skipLibCheck: true, noLib: true, types: [] }
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
  )
  const checker = program.getTypeChecker()
  return entries.map((entry) => {
    const source = program.getSourceFile(entry.file)
    const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source))
    const names = exported.map((symbol) => describe(symbol, checker, types))
    return { ...entry, doc: moduleComment(source.text), names: names.sort((a, b) => a.name.localeCompare(b.name)) }
  })
}

/** The first comment of the file. */
function moduleComment(text) {
  const lines = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1].split('\n') ?? []
  return lines
    .map((line) => line.replace(/^ *\* ?/, ''))
    .filter((line) => !/^@module/.test(line))
    .join('\n')
    .trim()
}

const KINDS = [
  ['Functions', (d) => ts.isFunctionDeclaration(d)],
  ['Classes', (d) => ts.isClassDeclaration(d)],
  ['Values', (d) => ts.isVariableDeclaration(d)],
  ['Types', () => true],
]

function describe(symbol, checker, types) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const found = target.declarations ?? []
  const own = found.filter((declaration) => declaration.getSourceFile().fileName.startsWith(types))
  const comment = own.length > 0 ? target : symbol
  const doc = ts.displayPartsToString(comment.getDocumentationComment(checker)) || exportComment(symbol)
  return {
    name: symbol.name,
    kind: own.length === 0 ? 'Values' : KINDS.find(([, is]) => is(own[0]))[0],
    doc,
    examples: comment
      .getJsDocTags(checker)
      .filter(({ name }) => name === 'example')
      .map(({ text }) => ts.displayPartsToString(text)),
    code: own.map(codeOf).join('\n'),
  }
}

/** The comment of `export { x } from 'elsewhere'`; that of the whole file is none. */
function exportComment(symbol) {
  const statement = symbol.declarations?.[0] && ts.findAncestor(symbol.declarations[0], ts.isExportDeclaration)
  const comments = [...(statement?.getFullText() ?? '').matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, text]) => text)
  const comment = comments.at(-1) ?? ''
  return comment.includes('@module') ? '' : comment.replace(/^\s*\* ?/gm, '').trim()
}

/** The declaration as it is written, without its own comment and without what is private. */
function codeOf(declaration) {
  const source = declaration.getSourceFile()
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  const start = node.getStart(source)
  const cuts = (ts.isClassDeclaration(node) ? node.members : []).filter(isPrivate)
  let text = ''
  let at = start
  for (const cut of cuts) {
    text += source.text.slice(at, cut.getFullStart())
    at = cut.end
  }
  text += source.text.slice(at, node.end)
  const lines = text
    .replace(/^export (?:declare )?/, '')
    .replace(/;$/gm, '')
    .replace(/^( +)/gm, (spaces) => ' '.repeat(spaces.length / 2))
    .split('\n')
  return lines.length > LONGEST ? [...lines.slice(0, LONGEST), '// …'].join('\n') : lines.join('\n')
}

const isPrivate = (member) =>
  (member.name && ts.isPrivateIdentifier(member.name)) ||
  (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0

/** For a table. */
const firstSentence = (doc) =>
  doc
    .split(/(?<=[.])\s|\n\n/)[0]
    .replaceAll('\n', ' ')
    .replaceAll('|', '\\|')
    .replace(/:$/, '')

function entryPage({ title, doc, names }, homes) {
  const parts = [`---\noutline: [2, 3]\n---\n\n# ${title}\n\n${doc}\n`]
  for (const [kind] of KINDS) {
    const some = names.filter((one) => one.kind === kind)
    if (some.length === 0) continue
    const rows = some.map(({ name, doc }) => `| [\`${name}\`](#${name.toLowerCase()}) | ${firstSentence(doc)} |`)
    parts.push(
      `## ${kind}\n\n| name | what it is |\n|---|---|\n${rows.join('\n')}\n`,
      ...some.map((one) => section(one, homes)),
    )
  }
  return parts.join('\n')
}

function section({ name, doc, examples, code }, homes) {
  const used = [...homes].filter(
    ([other]) => other !== name && new RegExp(`\\b${other}\\b(?!\\??[:(])`).test(withoutComments(code)),
  )
  const links = used.map(([other, page]) => `[\`${other}\`](./${page}.md#${other.toLowerCase()})`)
  return [
    `### ${name}\n`,
    `${doc}\n`,
    ...(code === '' ? [] : ['```ts', code, '```\n']),
    ...(links.length === 0 ? [] : [`See ${links.join(', ')}.\n`]),
    ...examples.flatMap((example) => ['```ts', example, '```\n']),
  ].join('\n')
}

const withoutComments = (code) => code.replace(/\/\*[\s\S]*?\*\//g, '')

function indexPage(entries) {
  const rows = entries.map(({ title, page, doc, names }) => {
    return `| [\`${title}\`](./${page}.md) | ${firstSentence(doc)} | ${names.length} |`
  })
  return [
    '# API\n',
    'Everything that the package exports, from its types. `npm install` brings the same comments into your editor.\n',
    '| entry | what is in it | exports |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
