// `trinity convert` on a large checkpoint, beside PyTorch and Transformers doing the same.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openModelDir } from '../../dist/model/dir.js'
import { format, printTable } from '../lib.mjs'

export const title = 'Conversion of checkpoints'
export const about = 'processor time and peak memory of trinity convert, to bf16, against Transformers [--mb=1200]'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const python = file('../../.venv/bin/python')

export async function run(options) {
  const mb = options.find((one) => one.startsWith('--mb='))?.slice(5) ?? '1200'
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const table = []
  try {
    execFileSync(python, [file('make.py'), folder, mb], { stdio: ['ignore', 'ignore', 'pipe'] })
    for (const kind of ['bin', 'fsdp']) {
      const from = join(folder, kind)
      const [ours, theirs] = [join(folder, `${kind}-ours`), join(folder, `${kind}-theirs`)]
      const convert = [process.execPath, file('../../dist/cli/main.js'), 'convert', '-c', from, '--out', ours]
      table.push({ checkpoint: kind, by: 'trinity convert', ...measured(convert) })
      table.push({
        checkpoint: kind,
        by: 'PyTorch and Transformers',
        ...measured([python, file('transformers_way.py'), from, theirs]),
      })
      await same(ours, theirs)
      for (const path of [from, ours, theirs]) rmSync(path, { recursive: true })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(`\nA checkpoint of ${mb} MB in f32, to bf16; the tensors are equal`)
  printTable(table)
}

function measured(command) {
  const { seconds, bytes } = JSON.parse(execFileSync(python, [file('measure.py'), ...command], { encoding: 'utf8' }))
  return { 'processor s': format(seconds), 'peak GB': format(bytes / 1e9) }
}

async function same(a, b) {
  const [left, right] = await Promise.all([openModelDir(a), openModelDir(b)])
  for (const name of left.tensorNames()) {
    const [one, two] = [(await left.readRaw(name)).data, (await right.readRaw(name)).data]
    if (Buffer.compare(one, two) !== 0) throw new Error(`'${name}' differs`)
  }
  await Promise.all([left.close(), right.close()])
}
