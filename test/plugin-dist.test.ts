import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

const dist = resolve(import.meta.dirname, '..', 'dist')

/** From every entry of the package something that a plugin may use; each must be the very thing of the running program. */
const PLUGIN = `
import { TrinityError } from 'trinity-rft'
import { policyLossFns } from 'trinity-rft/algorithm'
import { loadConfig, type Config } from 'trinity-rft/config'
import { selectors } from 'trinity-rft/data'
import { engines, type Row } from 'trinity-rft/engine'
import { Registry } from 'trinity-rft/plugin'
import { MockEngine } from 'trinity-rft/testing'

selectors.add('mine', { ...selectors.get('random'), doc: 'made by a plugin' as string })
Object.assign(globalThis, { got: [TrinityError, policyLossFns, loadConfig, selectors, engines, Registry, MockEngine] })
`

it.skipIf(!existsSync(join(dist, 'plugin.js')))(
  'the built package gives a TypeScript plugin itself, from all of its entries, without a warning (skipped: dist/ is not built)',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
    try {
      await writeFile(join(dir, 'mine.ts'), PLUGIN)
      const module = (path: string) => JSON.stringify(pathToFileURL(join(dist, path)).href)
      const script = `import { TrinityError } from ${module('base/error.js')}
import { policyLossFns } from ${module('algorithm/index.js')}
import { loadConfig } from ${module('config/index.js')}
import { selectors } from ${module('task/index.js')}
import { engines } from ${module('engine/registry.js')}
import { Registry } from ${module('base/registry.js')}
import { MockEngine } from ${module('engine/mock/engine.js')}
import { loadPlugins } from ${module('plugin.js')}
await loadPlugins([${JSON.stringify(dir)}])
const own = [TrinityError, policyLossFns, loadConfig, selectors, engines, Registry, MockEngine]
console.log(selectors.get('mine').doc, own.map((one, i) => one === globalThis.got[i]).join())`
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        encoding: 'utf8',
      })
      expect({ stdout, stderr }).toEqual({
        stdout: 'made by a plugin true,true,true,true,true,true,true\n',
        stderr: '',
      })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  },
)
