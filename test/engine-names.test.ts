import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { engineLookup, engines } from '../src/engine/registry.js'

const src = fileURLToPath(new URL('../src/', import.meta.url))

/** Where such a word may stand, and what it means there. */
const ALLOWED: Readonly<Record<string, string>> = {
  'import-verl/map/explorer.ts': "veRL's names of rollout engines",
  'import-verl/map/rewards.ts': "veRL's names of rollout engines",
  'import-verl/map/trainer.ts': "veRL's names of rollout engines",
  'cli/program.ts': 'the command `trinity setup torch`',
  'machine/setup/plan.ts': 'the Python package',
  'machine/addon-file.ts': 'the folder of the addon',
  'machine/doctor/python.ts': 'the Python package',
  'machine/python/environment.ts': 'the Python package',
  'machine/python/find.ts': 'Python packages',
  'model/torch-file/torch-file.fixture.ts': 'the Python module in a pickle',
  'workflow/react/react-agent.ts': 'a package whose client is handed over',
}

it('nothing outside src/engine names an engine', () => {
  const words = [...engines.names(), ...engineLookup.all().flatMap(({ aliases = [] }) => aliases)]
  const named = new RegExp(`['"\`](${words.join('|')})['"\`]`)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file.includes('/') && !file.startsWith('engine/'),
  )
  const found = files.filter((file) => named.test(readFileSync(join(src, file), 'utf8')))
  expect(found.sort()).toEqual(Object.keys(ALLOWED).sort())
})
