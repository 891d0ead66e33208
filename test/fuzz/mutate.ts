import type { Draw } from './draw.js'

/** A damaged copy of a file and a description of the damage; `directory` replaces the file by a folder. */
export interface Damaged {
  readonly kind: string
  readonly bytes: Buffer | 'directory' | 'absent'
}

type Change = (bytes: Buffer, draw: Draw) => Buffer | undefined

/** Bytes that are often lengths, signs, terminators or type marks. */
const EDGES = [0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x0a, 0x22, 0x2c, 0x5b, 0x7b]
const HUGE = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]
/** Longest nesting, long enough to exhaust the stack of a recursive reader. */
const DEEP = 20_000

const BYTES: Readonly<Record<string, Change>> = {
  cut: (bytes, draw) => bytes.subarray(0, draw.nat(bytes.length)),
  flip: (bytes, draw) => edit(bytes, draw, 1 + draw.nat(4), (byte) => byte ^ (1 << draw.nat(8))),
  edge: (bytes, draw) => edit(bytes, draw, 1 + draw.nat(4), () => draw.pick(EDGES)),
  noise: (bytes, draw) => edit(bytes, draw, 1 + draw.nat(16), () => draw.nat(256)),
  huge: (bytes, draw) => {
    if (bytes.length < 8) return undefined
    const copy = Buffer.from(bytes)
    const at = draw.nat(bytes.length - 7)
    if (draw.chance(0.5)) copy.writeUInt32LE(draw.pick(HUGE), at)
    else copy.writeBigUInt64LE(draw.pick([2n ** 63n - 1n, 2n ** 53n, 2n ** 40n, 2n ** 64n - 1n]), at)
    return copy
  },
  swap: (bytes, draw) => {
    if (bytes.length < 16) return undefined
    const copy = Buffer.from(bytes)
    const width = draw.pick([1, 2, 4, 8])
    const [a, b] = [draw.nat(bytes.length - width), draw.nat(bytes.length - width)]
    bytes.copy(copy, a, b, b + width)
    bytes.copy(copy, b, a, a + width)
    return copy
  },
  repeat: (bytes, draw) => {
    const [from, length] = [draw.nat(bytes.length), 1 + draw.nat(64)]
    const piece = bytes.subarray(from, from + length)
    return Buffer.concat([bytes.subarray(0, from), ...Array(1 + draw.nat(40)).fill(piece), bytes.subarray(from)])
  },
  remove: (bytes, draw) => {
    const from = draw.nat(bytes.length)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + draw.nat(32))])
  },
  nul: (bytes, draw) => insert(bytes, draw, Buffer.alloc(1 + draw.nat(8))),
  tail: (bytes, draw) => Buffer.concat([bytes, bytes.subarray(draw.nat(bytes.length))]),
}

/** Bytes of the header of a SQLite file behind its page size and format versions. */
const SQLITE_HEADER = [24, 100] as const

/** Damage of a SQLite file, also in the texts of its rows and declarations. */
const DATABASE: Readonly<Record<string, Change>> = {
  cut: BYTES.cut,
  magic: (bytes, draw) =>
    Buffer.concat([edit(bytes.subarray(0, 16), draw, 2, () => draw.nat(256)), bytes.subarray(16)]),
  header: (bytes, draw) => {
    const [from, to] = SQLITE_HEADER
    const header = edit(bytes.subarray(from, to), draw, 1 + draw.nat(3), () => draw.pick(EDGES))
    return Buffer.concat([bytes.subarray(0, from), header, bytes.subarray(to)])
  },
  text: (bytes, draw) => {
    const runs = [...bytes.toString('latin1').matchAll(/[ -~]{3,}/g)]
    if (runs.length === 0) return undefined
    const copy = Buffer.from(bytes)
    for (let left = 1 + draw.nat(3); left > 0; left--) {
      const { index, 0: run } = draw.pick(runs)
      copy[index + draw.nat(run.length)] = draw.pick([0x80, 0xc3, 0xed, 0xff])
    }
    return copy
  },
  bytes: (bytes, draw) => draw.pick([BYTES.flip, BYTES.edge, BYTES.noise, BYTES.huge, BYTES.swap])(bytes, draw),
}

const PIECES = [
  ...['\u0000', '\ufeff', '\u2028', '\ud800', '🙂', '\r', '\r\n', '\t', '"', "'", '\\', '{', '}', '[', ']', ',', ':'],
  ...['__proto__', 'constructor', 'toString', 'NaN', 'Infinity', '-Infinity', '1e999', '-0', '9007199254740993'],
  ...[
    'null',
    'true',
    '[]',
    '{}',
    '""',
    '-1',
    '0.5',
    '1e308',
    '99999999999999999999',
    '../../../etc/passwd',
    '~',
    '&a',
    '*a',
  ],
]
const INVALID_UTF8 = ['c328', 'ff', 'eda080', 'f8a1a1a1a1', 'c0af', 'e2'].map((hex) => Buffer.from(hex, 'hex'))

const TEXT: Readonly<Record<string, Change>> = {
  piece: (bytes, draw) => insert(bytes, draw, Buffer.from(draw.pick(PIECES))),
  'invalid utf-8': (bytes, draw) => insert(bytes, draw, draw.pick(INVALID_UTF8)),
  'byte order mark': (bytes, draw) =>
    draw.chance(0.5)
      ? Buffer.concat([Buffer.from('\ufeff'), bytes])
      : Buffer.from(`\ufeff${bytes.toString('utf8')}`, 'utf16le'),
  number: (bytes, draw) => {
    const text = bytes.toString('latin1')
    const numbers = [...text.matchAll(/-?\d+(\.\d+)?/g)]
    if (numbers.length === 0) return undefined
    const { index, 0: old } = draw.pick(numbers)
    const other = draw.pick(['-1', '0', '1e999', 'NaN', '4294967296', '9007199254740993', '0.1', `${old}${old}`, '""'])
    return Buffer.from(text.slice(0, index) + other + text.slice(index + old.length), 'latin1')
  },
  line: (bytes, draw) => {
    const lines = bytes.toString('latin1').split('\n')
    const [from, to] = [draw.nat(lines.length), draw.nat(lines.length)]
    if (draw.chance(0.5)) lines.splice(to, 0, lines[from])
    else lines.splice(from, 1)
    return Buffer.from(lines.join('\n'), 'latin1')
  },
  'deep nesting': (bytes, draw) => insert(bytes, draw, Buffer.from(draw.pick(['[', '{"a":', '(']).repeat(DEEP))),
}

/** Changes of a JSON value: types, sizes and keys that JSON.parse accepts. */
const JSON_VALUES: readonly unknown[] = [
  ...[null, true, '', 'x', 0, -1, 0.5, 2 ** 53, 1e308, -1e308, [], {}, [[]], [null], '__proto__', 'NaN', '\u0000'],
  ...['a'.repeat(5000), { toString: 1 }, { length: 1e9 }, [1, 'a', null], { 0: 'a' }],
]
const WRITTEN = ['1e999', '-1e999', '{"__proto__": {"polluted": 1}}', '"\\ud800"', '-0', '1E400', '[1,]', 'NaN']

const JSON_CHANGES: Readonly<Record<string, Change>> = {
  'json value': (bytes, draw) => onJson(bytes, draw, (parent, key) => assign(parent, key, draw.pick(JSON_VALUES))),
  'json two values': (bytes, draw) => {
    const once = JSON_CHANGES['json value'](bytes, draw)
    return once && JSON_CHANGES['json value'](once, draw)
  },
  'json text': (bytes, draw) => {
    const changed = onJson(bytes, draw, (parent, key) => assign(parent, key, MARK))
    const text = changed?.toString('utf8').replace(`"${MARK}"`, () => draw.pick(WRITTEN))
    return text === undefined ? undefined : Buffer.from(text)
  },
  'json deep': (bytes, draw) => {
    const changed = onJson(bytes, draw, (parent, key) => assign(parent, key, MARK))
    const open = draw.pick(['[', '{"a":'])
    const deep = open.repeat(DEEP) + 1 + (open === '[' ? ']' : '}').repeat(DEEP)
    return changed && Buffer.from(changed.toString('utf8').replace(`"${MARK}"`, () => deep))
  },
  'json key removed': (bytes, draw) =>
    onJson(bytes, draw, (parent, key) => {
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
    }),
  'json key renamed': (bytes, draw) =>
    onJson(bytes, draw, (parent, key) => {
      const name = draw.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '0', `${key} `])
      if (!Array.isArray(parent)) assign(parent, name, parent[key])
    }),
  'json key doubled': (bytes, draw) => {
    const text = bytes.toString('utf8')
    const keys = [...text.matchAll(/"[^"\\\n]*"\s*:/g)]
    if (keys.length === 0) return undefined
    const { index, 0: key } = draw.pick(keys)
    return Buffer.from(`${text.slice(0, index)}${key} ${JSON.stringify(draw.pick(JSON_VALUES))}, ${text.slice(index)}`)
  },
  'json other root': (_, draw) => Buffer.from(JSON.stringify(draw.pick(JSON_VALUES))),
}

const MARK = '@fuzz-mark@'

/** Form of a file: chooses the damages that reach beyond its first check. */
export type Form = 'binary' | 'database' | 'text' | 'json' | 'json lines'

/** Damages a file in one of the ways that suit its form. Equal draws give equal damage. */
export function damageFile(bytes: Buffer, form: Form, draw: Draw): Damaged {
  if (draw.chance(0.02)) {
    const whole = draw.pick(['directory', 'absent', 'empty'] as const)
    return { kind: whole, bytes: whole === 'empty' ? Buffer.alloc(0) : whole }
  }
  const table = tableOf(form, draw)
  for (let tries = 0; tries < 10; tries++) {
    const kind = draw.pick(Object.keys(table))
    const changed = bytes.length === 0 ? undefined : table[kind](bytes, draw)
    if (changed !== undefined) return { kind, bytes: changed }
  }
  return { kind: 'noise', bytes: Buffer.from(Array.from({ length: draw.nat(64) }, () => draw.nat(256))) }
}

function tableOf(form: Form, draw: Draw): Readonly<Record<string, Change>> {
  if (form === 'binary') return BYTES
  if (form === 'database') return DATABASE
  if (form === 'text') return draw.chance(0.3) ? BYTES : TEXT
  return draw.chance(0.15) ? BYTES : draw.chance(0.3) ? TEXT : JSON_CHANGES
}

function edit(bytes: Buffer, draw: Draw, count: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes)
  // Headers decide most: half of the edits go to the first bytes.
  const reach = draw.chance(0.5) ? Math.min(bytes.length, 256) : bytes.length
  for (let i = 0; i < count; i++) {
    const at = draw.nat(reach)
    copy[at] = change(copy[at])
  }
  return copy
}

function insert(bytes: Buffer, draw: Draw, piece: Buffer): Buffer {
  const at = draw.nat(bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
}

type Parent = Record<string, unknown> | unknown[]

/** Changes one place of a JSON text, or of one line of JSON lines. Undefined if the text is not JSON. */
function onJson(bytes: Buffer, draw: Draw, change: (parent: Parent, key: string) => void): Buffer | undefined {
  const text = bytes.toString('utf8')
  const lines = text.split('\n')
  const isLines = lines.filter((line) => line.trim() !== '').every((line) => parse(line) !== undefined)
  const at = isLines ? draw.nat(lines.length) : 0
  const root = parse(isLines ? lines[at] : text)
  if (root === undefined || root === null || typeof root !== 'object') return undefined
  const places = placesOf(root as Parent, [])
  if (places.length === 0) return undefined
  const [parent, key] = draw.pick(places)
  change(parent, key)
  if (!isLines) return Buffer.from(JSON.stringify(root, null, draw.pick([0, 2])))
  lines[at] = JSON.stringify(root)
  return Buffer.from(lines.join('\n'))
}

function placesOf(value: Parent, found: [Parent, string][]): [Parent, string][] {
  for (const [key, inner] of Object.entries(value)) {
    // Long lists would hide the keys around them.
    if (Array.isArray(value) && Number(key) >= 8) break
    found.push([value, key])
    if (inner !== null && typeof inner === 'object') placesOf(inner as Parent, found)
  }
  return found
}

/** Sets an own property, `__proto__` too. */
function assign(parent: Parent, key: string, value: unknown): void {
  Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
