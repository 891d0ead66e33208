import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the fake does wrong: venv or pip fail with these words; pip `once` only the first time. */
export interface FakeFaults {
  version?: string
  venv?: string
  pip?: string
  once?: boolean
}

/**
 * A program that answers to what is asked of a Python here: `-c` (the question of find.ts), `-m venv`, `-m pip install`.
 * It downloads nothing; an environment that it makes remembers what was installed into it.
 */
export class FakePython {
  readonly dir = mkdtempSync(join(tmpdir(), 'trinity-fake-python-'))
  readonly path = join(this.dir, 'python3')

  constructor(faults: FakeFaults = {}) {
    this.faults(faults)
    const script = join(this.dir, 'fake.cjs')
    writeFileSync(script, SCRIPT)
    writeFileSync(this.path, `#!/bin/sh\nexec ${process.execPath} ${script} "$0" "$@"\n`, { mode: 0o755 })
  }

  faults(faults: FakeFaults): void {
    writeFileSync(join(this.dir, 'faults.json'), JSON.stringify(faults))
  }

  /** Every call of venv and pip, its arguments joined. */
  get calls(): string[] {
    const file = join(this.dir, 'calls')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  remove(): void {
    rmSync(this.dir, { recursive: true })
  }
}

const SCRIPT = `const fs = require('node:fs')
const path = require('node:path')
const faults = JSON.parse(fs.readFileSync(path.join(__dirname, 'faults.json'), 'utf8'))
const [self, flag, tool, ...rest] = process.argv.slice(2)
const own = path.join(path.dirname(path.dirname(self)), 'packages.json')
const packages = fs.existsSync(own) ? JSON.parse(fs.readFileSync(own, 'utf8')) : {}
const fail = (text) => { process.stderr.write(text + '\\n'); process.exit(1) }
if (flag === '-c') {
  const answer = { executable: self, version: faults.version ?? '3.12.1', packages, torchCuda: null }
  console.log('trinity-doctor ' + JSON.stringify(answer))
  process.exit()
}
fs.appendFileSync(path.join(__dirname, 'calls'), [tool, ...rest].join(' ') + '\\n')
if (tool === 'venv') {
  if (faults.venv) fail(faults.venv)
  const dir = rest.at(-1)
  fs.mkdirSync(path.join(dir, 'bin'), { recursive: true })
  fs.copyFileSync(self, path.join(dir, 'bin', 'python3'))
  fs.writeFileSync(path.join(dir, 'packages.json'), '{}')
} else if (tool === 'pip') {
  for (const wanted of rest.filter((word) => word.includes('>='))) {
    const [name, floor] = wanted.split(/>=|,/)
    console.log('Collecting ' + wanted + '\\n  Downloading ' + name + '.whl (1.2 MB)\\nnoise')
    if (faults.pip) {
      if (faults.once) fs.writeFileSync(path.join(__dirname, 'faults.json'), '{}')
      fail(faults.pip)
    }
    fs.writeFileSync(own, JSON.stringify(Object.assign(packages, { [name]: floor + '.1' })))
    console.log('Successfully installed ' + name)
  }
}
`
