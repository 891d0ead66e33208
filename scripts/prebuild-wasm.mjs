// Compiles the native engine to WebAssembly, with threads and vectors of 128 bits, for where no compiled engine fits:
// native/build/prebuilt/wasm32/trinity.cjs (what Node loads) and trinity.wasm beside it.
// Zig's own C++ library has neither exceptions nor threads there, so the needed part of it is compiled here with both.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build as bundle } from 'esbuild'
import { build, compile, fingerprint, root, run, units } from './native-units.mjs'
import { findZig, zigVersion } from './prebuild-native.mjs'

const zig = findZig()
const library = /\.lib_dir = "([^"]*)"/.exec(execFileSync(zig[0], [...zig.slice(1), 'env'], { encoding: 'utf8' }))[1]
const target = ['-target', 'wasm32-wasi', '-mcpu=generic+simd128+atomics+bulk_memory+exception_handling']
// Node 20 knows exceptions as they were first proposed.
const exceptions = ['-fwasm-exceptions', '-mllvm', '-wasm-use-legacy-eh=true']
const threads = ['-U_LIBCPP_HAS_THREADS', '-D_LIBCPP_HAS_THREADS=1', '-D_LIBCPP_HAS_THREAD_API_PTHREAD=1', '-pthread']
// Of the flags for a library that Node loads: warnings are seen there.
const others = ['-fPIC', '-fvisibility=hidden', '-pthread', '-Wall', '-Wextra']
const sources = join(root, 'native', 'wasm')
const output = join(build, 'prebuilt', 'wasm32')
const objects = join(build, `objects-wasm32-${process.pid}`)

const parts = {
  libcxxabi: `abort_message cxa_aux_runtime cxa_default_handlers cxa_exception cxa_exception_storage cxa_guard cxa_handlers
    cxa_personality cxa_vector cxa_virtual fallback_malloc private_typeinfo stdlib_exception stdlib_new_delete
    stdlib_stdexcept stdlib_typeinfo`,
  libcxx: `algorithm atomic call_once chrono condition_variable condition_variable_destructor error_category exception
    functional future hash memory mutex mutex_destructor new_handler new_helpers stdexcept string system_error thread
    vector verbose_abort`,
}

/** The needed part of the C++ library. */
function libraryUnits() {
  const include = ['libcxxabi/include', 'libcxx/src', 'libcxx/src/include', 'libunwind/include'].flatMap((folder) => [
    '-I',
    join(library, folder),
  ])
  const names = ['-DLIBCXXABI_NON_DEMANGLING_TERMINATE', '-D_LIBCXXABI_BUILDING_LIBRARY', '-D_LIBCPP_BUILDING_LIBRARY']
  const args = [
    '-O2',
    '-w',
    '-std=c++23',
    '-fvisibility=hidden',
    ...names,
    '-DLIBCXX_BUILDING_LIBCXXABI',
    '-D_LIBCXXABI_LINK_PTHREAD_LIB',
    ...include,
  ]
  const list = Object.entries(parts).flatMap(([part, files]) =>
    files.split(/\s+/).map((name) => ({
      file: join(library, part, 'src', `${name}.cpp`),
      object: join(objects, `${part}-${name}.o`),
      args,
    })),
  )
  const unwind = join(library, 'libunwind', 'src', 'Unwind-wasm.c')
  // A C file: `-x c` goes before it, and what only C++ understands is left alone.
  const c = [
    '-O2',
    '-w',
    '-fdeclspec',
    '-D_LIBUNWIND_HIDE_SYMBOLS',
    '-I',
    join(library, 'libunwind', 'include'),
    '-x',
    'c',
  ]
  return [...list, { file: unwind, object: join(objects, 'unwind.o'), args: c }]
}

function ownUnits() {
  const ours = ['heap.cpp', 'threads.cpp'].map((name) => ({
    file: join(sources, name),
    object: join(objects, `wasm-${name}.o`),
    args: ['-std=c++17', '-O2', '-Wall', '-fno-builtin'],
  }))
  const tag = {
    file: join(sources, 'tag.s'),
    object: join(objects, 'tag.o'),
    args: ['-Wno-unused-command-line-argument'],
  }
  // Strides are counted in the 32 bits of the machine; these files count in 64.
  const wide = ['backward.cpp', 'forward.cpp', 'gemm.cpp']
  const engine = units('wasm32', objects).map((unit) => {
    const narrowing = wide.includes(basename(unit.file)) ? ['-Wno-c++11-narrowing'] : []
    return { ...unit, args: [...narrowing, ...unit.args.filter((arg) => !others.includes(arg))] }
  })
  return [...engine, ...ours, tag]
}

/** The C library: zig compiles it for what it links, and says where it lies. */
async function libraries() {
  const file = join(objects, 'empty.c')
  writeFileSync(file, 'int main(void) { return 0; }\n')
  process.env.ZIG_VERBOSE_LINK = '1'
  const { code, text } = await run(zig, ['cc', ...target, '-pthread', '-O2', file, '-o', join(objects, 'empty.wasm')])
  if (code !== 0) throw new Error(`the C library could not be made\n${text}`)
  const line = text.split('\n').find((one) => one.startsWith('wasm-ld '))
  return line.split(' ').filter((word) => word.endsWith('.a'))
}

async function link(list) {
  const exported = ['__stack_pointer', '__wasm_init_tls', '__tls_size', '__wasm_call_ctors', 'malloc', 'free']
  const args = [
    '--no-entry',
    '--shared-memory',
    '--import-memory',
    '--max-memory=4294901760',
    '--initial-memory=33554432',
  ]
  args.push('-z', 'stack-size=1048576', '--stack-first', '--gc-sections', '--strip-all', '--export-table')
  // heap.cpp is in place of zig's malloc, which lies in one object with much else.
  args.push('--allow-multiple-definition', ...[...exported, 'aligned_alloc'].map((name) => `--export=${name}`))
  args.push('--export=napi_register_wasm_v1', '--allow-undefined')
  const made = await run(zig, ['wasm-ld', ...args, ...list, '-o', join(output, 'trinity.wasm')])
  if (made.code !== 0) throw new Error(`linking failed\n${made.text}`)
}

/** What Node loads first; both have to lie in one folder. */
const files = ['trinity.cjs', 'trinity.wasm'].map((name) => join(output, name))

/** Compiles it where its sources have changed; gives its files. */
export async function prebuildWasm() {
  const stamp = join(output, 'trinity.sha256')
  const texts = readdirSync(sources).map((name) => readFileSync(join(sources, name), 'utf8'))
  const want = fingerprint([zigVersion, ...texts, readFileSync(new URL(import.meta.url), 'utf8')])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === want && files.every((file) => existsSync(file))) return files
  mkdirSync(objects, { recursive: true })
  mkdirSync(output, { recursive: true })
  rmSync(stamp, { force: true })
  try {
    const list = [...ownUnits(), ...libraryUnits()]
    const failure = await compile([...zig, 'c++', ...target, ...exceptions, ...threads], list)
    if (failure) throw new Error(`${basename(failure)} could not be compiled`)
    await link([...list.map((unit) => unit.object), ...(await libraries())])
    await bundle({
      entryPoints: [join(sources, 'addon.mjs')],
      outfile: files[0],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      logLevel: 'error',
    })
    writeFileSync(stamp, want)
  } finally {
    rmSync(objects, { recursive: true, force: true })
  }
  return files
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log((await prebuildWasm()).join('\n'))
