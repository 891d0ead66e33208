import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { checkCompiler, parseCompilerVersion } from './compiler.js'
import { localHost } from './host.js'

const DEBIAN = `g++ (Debian 12.2.0-14+deb12u1) 12.2.0
Copyright (C) 2022 Free Software Foundation, Inc.
`
const FEDORA = 'g++ (GCC) 14.2.1 20250110 (Red Hat 14.2.1-7)\nCopyright (C) 2024 Free Software Foundation, Inc.\n'
const CROSS = 'x86_64-linux-gnu-g++-13 (Ubuntu 13.3.0-6ubuntu2~24.04.1) 13.3.0\n'
const CLANG = 'Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64-pc-linux-gnu\nThread model: posix\n'
const PLAIN_CLANG = 'clang version 19.1.7\nTarget: aarch64-unknown-linux-gnu\n'
const APPLE = 'Apple clang version 16.0.0 (clang-1600.0.26.6)\nTarget: arm64-apple-darwin24.2.0\n'

describe('parseCompilerVersion', () => {
  it.each([
    [DEBIAN, 'gcc', '12.2.0'],
    [FEDORA, 'gcc', '14.2.1'],
    [CROSS, 'gcc', '13.3.0'],
    [CLANG, 'clang', '18.1.3'],
    [PLAIN_CLANG, 'clang', '19.1.7'],
    [APPLE, 'apple-clang', '16.0.0'],
  ])('%s', (text, family, version) => {
    expect(parseCompilerVersion(text)).toEqual({ family, version })
  })
  it('knows nothing of other programs', () => {
    expect(parseCompilerVersion('rustc 1.80.0 (051478957 2024-07-21)')).toBeUndefined()
    expect(parseCompilerVersion('')).toBeUndefined()
  })
})

/** A compiler that takes only some standards. */
function compiler(version: string, ...standards: string[]) {
  return (args: readonly string[]) => {
    if (args[0] === '--version') return { stdout: version }
    return { status: standards.some((s) => args.includes(`-std=${s}`)) ? 'ok' : 'failed' } as const
  }
}

describe('checkCompiler', () => {
  it('takes the first that compiles, in its newest standard', async () => {
    const host = fakeHost({
      programs: {
        'g++': compiler(DEBIAN),
        'clang++': compiler(CLANG, 'c++17', 'c++20'),
        'c++': compiler(CROSS, 'c++17'),
      },
    })
    expect(await checkCompiler(host, true)).toMatchObject({
      status: 'ok',
      data: { command: 'clang++', family: 'clang', version: '18.1.3', standard: 'c++20' },
    })
  })
  it('falls back to C++17', async () => {
    const check = await checkCompiler(fakeHost({ programs: { 'g++': compiler(DEBIAN, 'c++17') } }), false)
    expect(check).toMatchObject({ status: 'ok', data: { standard: 'c++17' } })
  })
  it('is wrong when it cannot compile, missing when there is none, required only as asked', async () => {
    const broken = await checkCompiler(fakeHost({ programs: { 'g++': compiler(DEBIAN) } }), true)
    expect(broken).toMatchObject({ status: 'wrong', required: true })
    expect(await checkCompiler(fakeHost(), false)).toMatchObject({ status: 'missing', required: false })
  })
  it('uses CXX and nothing else when it is set', async () => {
    const programs = { 'g++': compiler(DEBIAN, 'c++20'), 'my-c++': compiler(CLANG, 'c++20') }
    expect((await checkCompiler(fakeHost({ programs, env: { CXX: 'my-c++' } }), true)).data?.command).toBe('my-c++')
    expect((await checkCompiler(fakeHost({ programs, env: { CXX: 'gone' } }), true)).status).toBe('wrong')
  })
  it('really compiles on this machine', async () => {
    const host = localHost()
    const present = (await host.exec('g++', ['--version'])).status === 'ok'
    const check = await checkCompiler({ ...host, env: {} }, true)
    if (present) expect(check.data?.standard).toMatch(/^c\+\+(17|20)$/)
    else expect(check.status).not.toBe('warning')
  })
})
