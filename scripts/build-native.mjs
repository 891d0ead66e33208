// Compiles the native engine: no build system, no downloads, only a C++ compiler. Runs at `npm install` and by
// `npm run build:native`; does nothing when the sources have not changed. A missing compiler is no install failure:
// the engine says what to do when it is asked for.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'native', 'src')
const build = join(root, 'native', 'build')
const target = join(build, 'trinity.node')
const stamp = join(build, 'trinity.sha256')

const common = ['-std=c++17', '-fPIC', '-fvisibility=hidden', '-pthread', '-Wall', '-Wextra']
const kernels = ['-O3', '-ffp-contract=fast', '-fno-math-errno', '-fno-trapping-math']
const instructionSets = {
  x64: {
    baseline: [],
    avx2: ['-mavx2', '-mfma', '-mf16c'],
    avx512: ['-mavx512f', '-mavx512dq', '-mavx512bw', '-mavx512vl', '-mfma', '-mprefer-vector-width=512'],
  },
  arm64: { baseline: [] },
}

function sources() {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cpp|h)$/.test(name))
    .sort()
}

function fingerprint(compiler) {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, compiler, common, kernels]))
  for (const name of sources()) hash.update(name).update(readFileSync(join(source, name)))
  return hash.update(readFileSync(fileURLToPath(import.meta.url))).digest('hex')
}

function findCompiler() {
  const candidates = process.env.CXX ? [process.env.CXX] : ['g++', 'clang++', 'c++']
  for (const name of candidates) {
    const asked = spawnSync(name, ['--version'], { encoding: 'utf8' })
    if (asked.status === 0) return { name, version: asked.stdout.split('\n')[0] }
  }
  return undefined
}

function units(objects) {
  const list = []
  for (const [isa, flags] of Object.entries(instructionSets[process.arch] ?? { baseline: [] })) {
    const args = [...common, ...kernels, ...flags, `-DTRINITY_ISA=${isa}`]
    list.push({ file: join(source, 'kernels', 'table.cpp'), object: join(objects, `kernels-${isa}.o`), args })
  }
  const include = createRequire(import.meta.url)('node-api-headers').include_dir
  for (const name of sources().filter((file) => file.endsWith('.cpp') && !file.startsWith('kernels'))) {
    const object = join(objects, name.replace(/[\\/]/g, '-').replace(/\.cpp$/, '.o'))
    list.push({ file: join(source, name), object, args: [...common, '-O2', '-I', include, '-DNAPI_VERSION=8'] })
  }
  return list
}

function run(command, args) {
  return new Promise((resolve) => {
    let text = ''
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', (data) => (text += data))
    child.stderr.on('data', (data) => (text += data))
    child.on('error', (error) => resolve({ code: 1, text: String(error) }))
    child.on('close', (code) => resolve({ code, text }))
  })
}

async function compile(compiler, list) {
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

async function main() {
  const strict = process.argv.includes('--strict')
  const fail = (message) => {
    process.stderr.write(`trinity: the native engine was not built: ${message}\n`)
    process.exit(strict ? 1 : 0)
  }
  if (process.env.TRINITY_SKIP_NATIVE) return
  const compiler = findCompiler()
  if (!compiler) {
    return fail(
      'no C++ compiler found. Install one (Debian/Ubuntu: apt install g++, Fedora: dnf install gcc-c++, ' +
        'macOS: xcode-select --install) and run `npm rebuild trinity-rft`. Everything else works without it.',
    )
  }
  const want = fingerprint(compiler.version)
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return
  const started = Date.now()
  const objects = join(build, `objects-${process.pid}`)
  mkdirSync(objects, { recursive: true })
  try {
    const list = units(objects)
    const failure = await compile(compiler.name, list)
    if (failure) return fail(`${compiler.version} could not compile ${failure}`)
    const shared =
      process.platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared', '-Wl,-z,relro,-z,now']
    const output = join(objects, 'trinity.node')
    const linked = await run(compiler.name, [...shared, '-pthread', ...list.map((unit) => unit.object), '-o', output])
    if (linked.code !== 0) return fail(`linking failed\n${linked.text}`)
    // Renamed into place: a process that has the old one loaded keeps it.
    renameSync(output, target)
    writeFileSync(stamp, want)
    process.stdout.write(
      `trinity: native engine built with ${compiler.version} in ${((Date.now() - started) / 1000).toFixed(1)} s\n`,
    )
  } finally {
    rmSync(objects, { recursive: true, force: true })
  }
}

await main()
