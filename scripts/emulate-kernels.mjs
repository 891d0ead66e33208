// Runs the C++ tests of the native engine (kernels and sampler, 16-bit weights among them) on another processor, under an
// emulator: `node scripts/emulate-kernels.mjs PLATFORM [COMMAND…]`, as in `… linux-arm64-musl qemu-aarch64 -cpu max`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { platforms } from '../native/prebuilt.mjs'
import { build, compile, root, run, units } from './native-units.mjs'
import { compilerFor, succeed } from './prebuild-native.mjs'

const [platform, ...command] = process.argv.slice(2)
// What is linked whole needs no libraries of that platform where it runs.
if (!(platform in platforms) || platforms[platform].libc !== 'musl') {
  const fits = Object.keys(platforms).filter((name) => platforms[name].libc === 'musl')
  console.error(`usage: node scripts/emulate-kernels.mjs ${fits.join('|')} [COMMAND…]`)
  process.exit(2)
}

async function buildTest(name, compiler, engine, folder) {
  const output = join(folder, name)
  const args = ['-std=c++17', '-O2', '-static', '-pthread', join(root, 'native', 'test', `${name}_test.cpp`), ...engine]
  succeed(name, await run(compiler, [...args, '-o', output]))
  return output
}

mkdirSync(build, { recursive: true })
const folder = mkdtempSync(join(build, `kernels-${platform}-`))
try {
  const compiler = compilerFor(platform)
  const engine = units(platforms[platform].cpu, folder).filter(({ object }) => !object.includes('addon-'))
  const failure = await compile(compiler, engine)
  if (failure) throw new Error(`${failure} could not be compiled for ${platform}`)
  for (const name of ['kernels', 'sample']) {
    const objects = engine.map((unit) => unit.object)
    const [first, ...rest] = [...command, await buildTest(name, compiler, objects, folder)]
    const { status, error } = spawnSync(first, rest, { stdio: 'inherit' })
    if (error) console.error(String(error))
    if (status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
