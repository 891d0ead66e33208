import type { Check } from './check.js'
import type { Host } from './host.js'

export interface CompilerVersion {
  readonly family: 'gcc' | 'clang' | 'apple-clang'
  readonly version: string
}

/** Reads the first lines of `c++ --version`. */
export function parseCompilerVersion(text: string): CompilerVersion | undefined {
  const clang = /^(?:\S+ )*?(Apple )?(?:clang|LLVM) version (\d+(?:\.\d+)*)/m.exec(text)
  if (clang) return { family: clang[1] ? 'apple-clang' : 'clang', version: clang[2] }
  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0": the number after the bracket is the compiler's, the one inside the package's
  const gcc = /^\S*(?:g\+\+|c\+\+|gcc)\S* \(.*\) (\d+(?:\.\d+)*)/m.exec(text)
  return gcc ? { family: 'gcc', version: gcc[1] } : undefined
}

/** Needs the standard library of its year, not only the language: half-installed compilers have none. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'c++20': '#include <span>\n#include <vector>\nint f(std::span<const float> v) { return int(v.size()); }\n',
  'c++17': '#include <optional>\n#include <thread>\nstd::optional<int> f() { return 1; }\n',
}

async function bestStandard(host: Host, compiler: string): Promise<string | undefined> {
  for (const [standard, input] of Object.entries(PROGRAMS)) {
    const args = [`-std=${standard}`, '-fsyntax-only', '-x', 'c++', '-']
    if ((await host.exec(compiler, args, { input, timeoutMs: 15_000 })).status === 'ok') return standard
  }
  return undefined
}

/** `required`: only where the addon still has to be built. */
export async function checkCompiler(host: Host, required: boolean): Promise<Check> {
  const base = { id: 'compiler', section: 'runtime', name: 'C++ compiler', required } as const
  const chosen = host.env.CXX?.trim()
  let broken: Check | undefined
  for (const compiler of chosen ? [chosen] : ['g++', 'clang++', 'c++']) {
    const answer = await host.exec(compiler, ['--version'])
    if (answer.status === 'missing') continue
    const version = parseCompilerVersion(answer.stdout)
    const label = version ? `${compiler} ${version.version}` : compiler
    const standard = answer.status === 'ok' ? await bestStandard(host, compiler) : undefined
    if (standard) {
      const data = { command: compiler, family: version?.family ?? null, version: version?.version ?? null, standard }
      return { ...base, status: 'ok', found: `${label}, compiles ${standard.toUpperCase()}`, data }
    }
    broken ??= { ...base, status: 'wrong', found: `${label} compiles neither C++20 nor C++17`, fix: installHint(host) }
  }
  if (broken) return broken
  const found = chosen ? 'CXX names a program that cannot be run' : 'neither g++ nor clang++ found'
  return { ...base, status: chosen ? 'wrong' : 'missing', found, fix: installHint(host) }
}

function installHint(host: Host): string {
  if (host.platform === 'darwin') return 'xcode-select --install'
  return 'install g++ 9 or newer (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++), or set CXX'
}
