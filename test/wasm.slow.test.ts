import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const main = join(root, 'dist', 'cli', 'main.js')
const numbers = /trainer {2}step (\d+).*?reward (\S+).*?entropy (\S+)/g

function node(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, text: stdout + stderr }
}

/** The engine as WebAssembly: compiled (zig has to be there), then compared with the one of this machine. */
describe('the engine as WebAssembly', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trinity-wasm-'))
    const built = node([join(root, 'scripts', 'prebuild-wasm.mjs')], {}, root)
    if (built.status !== 0) throw new Error(built.text)
  }, 600_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  function quickStart(addon: string | undefined, first: readonly string[] = []) {
    const name = `${addon}-${first.length}`
    const settings = ['buffer.total_steps=3', 'buffer.batch_size=8', `name=${name}`].flatMap((one) => ['--set', one])
    const config = join(root, 'examples', 'quickstart', 'quickstart.yaml')
    const env = { TRINITY_NATIVE_ADDON: addon, TRINITY_NATIVE_THREADS: '2' }
    const ran = node([...first, main, 'run', '--config', config, ...settings], env, folder)
    expect(ran.status, ran.text).toBe(0)
    const steps = [...ran.text.matchAll(numbers)].map((found) => found.slice(1).map(Number))
    expect(steps).toHaveLength(3)
    return { steps, text: ran.text }
  }

  it('learns what the compiled one learns, and says that it is slow', () => {
    const native = quickStart(undefined)
    const wasm = quickStart('wasm')
    expect(native.text).not.toContain('WebAssembly')
    expect(wasm.text.match(/^note .*WebAssembly/gm)).toHaveLength(1)
    // The same answers at first; rounding parts them later, so that one of 128 may be another.
    for (const [i, [step, reward, entropy]] of wasm.steps.entries()) {
      expect(step).toBe(native.steps[i][0])
      expect(Math.abs(reward - native.steps[i][1])).toBeLessThan(0.02)
      expect(Math.abs(entropy - native.steps[i][2])).toBeLessThan(0.02)
    }
  }, 300_000)

  it('works where workers and addons are forbidden', () => {
    const permission = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission'
    const flags = [permission, '--allow-fs-read=*', '--allow-fs-write=*']
    const script = `
      const { NativeEngine } = await import(${JSON.stringify(join(root, 'dist', 'engine.js'))})
      const engine = new NativeEngine()
      const call = { seq: 1, deadlineMs: 60_000 }
      const model = await engine.openSample({ path: ${JSON.stringify(join(root, 'test', 'fixtures', 'tiny-llama'))} }, call)
      const request = { prompt: Int32Array.of(1, 2, 3), n: 1, params: { temperature: 0, maxTokens: 8, ignoreEos: true } }
      const [sample] = await model.sample(request, { ...call, seq: 2 })
      console.log(JSON.stringify([...sample.tokens]))
      await engine.close()`
    const sample = (first: readonly string[], addon: string | undefined) =>
      node([...first, '--input-type=module', '-e', script], { TRINITY_NATIVE_ADDON: addon }, folder)
    const alone = sample(flags, 'wasm')
    expect(alone.status, alone.text).toBe(0)
    const tokens = (text: string) => /^\[.*\]$/m.exec(text)?.[0]
    expect(tokens(alone.text)).toBe(tokens(sample([], undefined).text))
  }, 60_000)

  it('is small', () => {
    const bytes = readFileSync(join(root, 'native', 'build', 'prebuilt', 'wasm32', 'trinity.wasm')).length
    expect(bytes).toBeLessThan(1e6)
  })
})
