import { expect, it } from 'vitest'
import { placeOfFrame, userFrame } from './frames.js'

const files = { own: '/lib/trinity/dist/', plugins: ['/lib/node_modules/pack/plugins/'] }
const at = (url: string) => ({ url, functionName: 'f', line: 4, column: 0 })

it.each([
  ['file:///home/me/plugins/a.mjs', 0],
  ['file:///lib/node_modules/pack/plugins/a.mjs', 0],
  ['file:///lib/trinity/dist/model/tokenizer.js', -1],
  ['file:///home/me/node_modules/zod/index.js', -1],
  ['node:internal/timers', -1],
  ['', -1],
])('%s: a user’s call is number %i', (url, index) => {
  expect(userFrame([at(url)], files)).toBe(index)
})

it('work of our own that a plugin calls is the plugin’s', () => {
  const frames = ['file:///lib/trinity/dist/a.js', 'node:fs', 'file:///home/me/b.ts'].map(at)
  expect([userFrame(frames, files), placeOfFrame(frames[2])]).toEqual([2, '/home/me/b.ts:5:1'])
})
