import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePythonAnswer } from '../python/find.js'
import { locateController, parseCpuMax, parseInactiveFile, parseMemoryLimit } from './cgroup.js'
import { parseCompilerVersion } from './compiler.js'
import { parseCpuInfo, parseMemInfo, parseSysctl } from './cpu.js'
import { parseNvidiaSmi, visibleDevices } from './cuda.js'
import { parseRayVersion } from './ray.js'

/** Pieces of real outputs between arbitrary text: closer to what a strange machine prints than pure noise. */
const pieces = fc.constantFrom(
  ...[
    'processor\t: 0\n',
    'flags\t: avx2',
    '\n\n',
    ': ',
    ' - ',
    '0::/',
    '1:cpu:/a/../b\n',
    ' cgroup cgroup rw,cpu',
    '\n',
  ],
  ...[
    '0, GPU-',
    ', ',
    '[N/A]',
    'max',
    '-1',
    'g++ (',
    ') ',
    'clang version 1',
    'trinity-doctor {',
    '}',
    '"version":',
    '\0',
  ],
)
const output = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }).map((parts) => parts.join(''))

const PARSERS: Record<string, (text: string) => unknown> = {
  parseCpuInfo,
  parseSysctl,
  parseMemInfo,
  parseNvidiaSmi,
  parseCompilerVersion,
  parsePythonAnswer,
  parseRayVersion,
  parseCpuMax,
  parseMemoryLimit,
  parseInactiveFile,
}

it.each(Object.entries(PARSERS))('%s throws at nothing', (_, parse) => {
  fc.assert(fc.property(output, (text) => void parse(text)))
})

it('locateController throws at nothing and stays inside its mount', () => {
  fc.assert(fc.property(output, output, (cgroup, mountinfo) => void locateController('cpu', cgroup, mountinfo)))
  const mounted = '32 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw'
  fc.assert(
    fc.property(output, (path) => {
      const dirs = locateController('cpu', `0::/${path.replaceAll('\n', '')}`, mounted)?.dirs ?? []
      expect(dirs.at(-1)).toBe('/sys/fs/cgroup')
      for (const dir of dirs) expect(dir.split('/')).not.toContain('..')
    }),
  )
})

it('what is visible is among what there is, and no more than was named', () => {
  const card = fc.record({
    index: fc.nat(9),
    uuid: fc.string().map((s) => `GPU-${s}`),
    name: fc.string(),
    driver: fc.string(),
  })
  fc.assert(
    fc.property(fc.uniqueArray(card, { selector: (c) => c.index }), output, (cards, variable) => {
      const visible = visibleDevices(cards, variable)
      expect(visible.every((device) => cards.includes(device))).toBe(true)
      expect(visible.length).toBeLessThanOrEqual(variable.split(',').length)
    }),
  )
})
