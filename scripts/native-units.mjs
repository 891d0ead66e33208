// What the native engine is compiled from, and how, whatever the compiler: used by build-native.mjs (this machine's
// compiler) and prebuild-native.mjs (every platform).
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const build = join(root, 'native', 'build')
const source = join(root, 'native', 'src')

const common = ['-std=c++17', '-fPIC', '-fvisibility=hidden', '-pthread', '-Wall', '-Wextra']
const kernels = ['-O3', '-ffp-contract=fast', '-fno-math-errno', '-fno-trapping-math']
const instructionSets = {
  x64: {
    baseline: [],
    avx2: ['-mavx2', '-mfma', '-mf16c'],
    avx512: ['-mavx512f', '-mavx512dq', '-mavx512bw', '-mavx512vl', '-mfma', '-mprefer-vector-width=512'],
  },
  arm64: { neon: [] },
}
/** Products in bfloat16 by the instruction for them, beside the kernels of AVX-512. */
const brain = { x64: { avx512_bf16: [...instructionSets.x64.avx512, '-mavx512bf16'] } }

/** The folder of Node's C interface and its functions, in a package. */
export function nodeApi() {
  const { include_dir, def_paths } = createRequire(import.meta.url)('node-api-headers')
  return { include: include_dir, definitions: def_paths.node_api_def }
}

function sources() {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cpp|h)$/.test(name))
    .sort()
}

/** Changes with the sources, with what they are compiled by (`how`) and with this file. */
export function fingerprint(how) {
  const hash = createHash('sha256').update(JSON.stringify(how))
  for (const name of sources()) hash.update(name).update(readFileSync(join(source, name)))
  return hash.update(readFileSync(fileURLToPath(import.meta.url))).digest('hex')
}

/** One entry for each object file: the kernels once per instruction set of `arch`, everything else once. */
export function units(arch, objects) {
  const list = []
  const add = (file, [isa, flags]) => {
    const args = [...common, ...kernels, ...flags, `-DTRINITY_ISA=${isa}`]
    list.push({ file: join(source, 'kernels', file), object: join(objects, `kernels-${isa}.o`), args })
  }
  for (const set of Object.entries(instructionSets[arch] ?? { baseline: [] })) add('table.cpp', set)
  for (const set of Object.entries(brain[arch] ?? {})) add('brain.cpp', set)
  const { include } = nodeApi()
  for (const name of sources().filter((file) => file.endsWith('.cpp') && !file.startsWith('kernels'))) {
    const object = join(objects, name.replace(/[\\/]/g, '-').replace(/\.cpp$/, '.o'))
    list.push({ file: join(source, name), object, args: [...common, '-O2', '-I', include, '-DNAPI_VERSION=8'] })
  }
  return list
}

/** Runs a compiler, given as a command with its first arguments. */
export function run([command, ...first], args) {
  return new Promise((resolve) => {
    let text = ''
    const child = spawn(command, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', (data) => (text += data))
    child.stderr.on('data', (data) => (text += data))
    child.on('error', (error) => resolve({ code: 1, text: String(error) }))
    child.on('close', (code) => resolve({ code, text }))
  })
}

/** Compiles a list of units; returns the file that could not be, if any. */
export async function compile(compiler, list) {
  const queue = [...list]
  let failure
  const worker = async () => {
    for (let unit = queue.shift(); unit && !failure; unit = queue.shift()) {
      const { code, text } = await run(compiler, [...unit.args, '-c', unit.file, '-o', unit.object])
      if (text) process.stderr.write(text)
      if (code !== 0) failure = unit.file
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return failure
}
