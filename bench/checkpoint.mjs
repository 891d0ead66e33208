// What hashing every byte of a checkpoint costs, beside plainly writing and reading the same file.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { format, interleave, printTable, ratio } from './lib.mjs'

export const title = 'Hashes of checkpoints'
export const about = 'hashing while a large file is written and read, against doing it without (--mb=512 --rounds=5)'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const PIECE = 4 << 20

/** The sources as one module, so that the benchmark needs no build. */
async function bundle(folder) {
  const { build } = await import('esbuild')
  const [entry, outfile] = [join(folder, 'entry.ts'), join(folder, 'checkpoint.mjs')]
  const from = (file) => JSON.stringify(join(root, 'src', file))
  const text = `export { hashFile } from ${from('file/block-hash.ts')}; export { writeSafetensors } from ${from('model/safetensors-write.ts')}`
  writeFileSync(entry, text)
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' })
  return import(pathToFileURL(outfile).href)
}

/** One tensor after the other, as a model is written; nothing is hashed. */
async function writePlainly(path, tensors) {
  const handle = await open(`${path}.tmp`, 'wx')
  for (const { data } of tensors) await handle.write(data())
  await handle.sync()
  await handle.close()
  await rename(`${path}.tmp`, path)
}

async function readPlainly(path, take = () => {}) {
  const handle = await open(path, 'r')
  const buffer = Buffer.allocUnsafe(PIECE)
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, PIECE, null)
    if (bytesRead === 0) break
    take(buffer.subarray(0, bytesRead))
  }
  await handle.close()
}

export async function run(args) {
  const number = (name, otherwise) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise)
  const [mb, rounds] = [number('mb', 512), number('rounds', 5)]
  mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, 'node_modules', '.cache', 'trinity-bench-'))
  try {
    const { hashFile, writeSafetensors } = await bundle(folder)
    const weights = new Float32Array((16 << 20) / 4).map((_, i) => Math.sin(i))
    const tensors = Array.from({ length: mb / 16 }, (_, i) => {
      return { name: `w${i}`, dtype: 'F32', shape: [weights.length], data: () => weights }
    })
    const [file, other] = [join(folder, 'model.safetensors'), join(folder, 'plain')]
    const table = async (cases, base) => {
      const delay = monitorEventLoopDelay({ resolution: 1 })
      const blocked = {}
      const timed = Object.entries(cases).map(([name, work]) => {
        const watched = async () => {
          delay.reset()
          delay.enable()
          await work()
          delay.disable()
          blocked[name] = Math.max(blocked[name] ?? 0, delay.max / 1e6)
        }
        return [name, watched]
      })
      const results = await interleave(Object.fromEntries(timed), { rounds })
      const rows = Object.keys(cases).map((name) => ({
        case: name,
        'MB/s': format((mb * 1.048576) / (results[name].median / 1e3)),
        [`time × ${base}`]: format(ratio(results, name, base)),
        'longest block of the event loop, ms': format(blocked[name]),
      }))
      printTable(rows)
      console.log('')
    }
    console.log(`${mb} MiB written and put on the disk`)
    await table(
      {
        'plain write': () => writePlainly(other, tensors),
        'written and hashed': () => writeSafetensors(file, tensors),
      },
      'plain write',
    )
    await rm(other)
    console.log(`${mb} MiB read; the file is in memory, so this is the hash against no disk at all`)
    await table(
      {
        'plain read': () => readPlainly(file),
        'blocks of SHA-256 (verification)': () => hashFile(file),
        'one SHA-256 in one thread': async () => {
          const hash = createHash('sha256')
          await readPlainly(file, (bytes) => hash.update(bytes))
          hash.digest()
        },
      },
      'plain read',
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
