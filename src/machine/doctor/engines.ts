import { blocks, type Check, type EngineVerdict } from './check.js'

/** The verdicts, with the engines that this version cannot open marked as such. */
export function currentVerdicts(checks: readonly Check[], known: (engine: string) => boolean): EngineVerdict[] {
  return verdicts(checks).map((verdict) =>
    known(verdict.engine) ? verdict : { engine: verdict.engine, ready: false, why: 'not part of this version' },
  )
}

/** What the checks mean: which engines have on this machine everything they need. */
export function verdicts(checks: readonly Check[]): EngineVerdict[] {
  const byId = new Map(checks.map((check) => [check.id, check]))
  const usable = (id: string) => {
    const status = byId.get(id)?.status
    return status === 'ok' || status === 'warning'
  }
  const gpus = checks.filter((check) => /^cuda\.\d+$/.test(check.id)).length
  const blocked = checks.filter(blocks)

  const local = (engine: string, needs: readonly string[], gpuNeeded: boolean): EngineVerdict => {
    const absent = usable('python') ? needs.filter((name) => !usable(`python.${name}`)) : ['Python', ...needs]
    const lacks = gpuNeeded && gpus === 0 ? [...absent, 'a CUDA device'] : absent
    if (lacks.length > 0) {
      const install = engine === 'torch' ? 'trinity setup torch' : `install ${absent.join(' ')} into that Python`
      const fix = absent.length > 0 && usable('python') ? install : undefined
      return { engine, ready: false, why: `needs ${lacks.join(', ')}`, fix }
    }
    const worker = byId.get('python.worker')
    if (engine === 'torch' && worker?.status === 'wrong') {
      return { engine, ready: false, why: `${worker.name}: ${worker.found}`, fix: worker.fix }
    }
    if (gpus === 0) return { engine, ready: true, why: 'on the CPU: there is no CUDA device' }
    const cpuBuild = byId.get('python.torch')?.data?.cuda === null
    const on = `on ${gpus} CUDA device${gpus > 1 ? 's' : ''}`
    if (!cpuBuild && worker?.data?.cudaDevices === 0) {
      const fix = 'install a driver as new as the CUDA that torch was built for'
      return { engine, ready: !gpuNeeded, why: 'torch sees no CUDA device', fix }
    }
    if (!cpuBuild) return { engine, ready: true, why: on }
    const fix = 'install a CUDA build of torch into that Python (trinity setup torch makes one)'
    return { engine, ready: !gpuNeeded, why: 'torch is a CPU build, so it cannot use the CUDA device', fix }
  }
  const remote = (engine: string, variables: readonly string[]): EngineVerdict => {
    const set = variables.filter((name) => usable(`env.${name}`))
    return set.length > 0
      ? { engine, ready: true, why: `over HTTP, ${set.join(' and ')} set; the service was not asked` }
      : { engine, ready: false, why: `${variables[0]} is not set`, fix: `set ${variables.join(' or ')}` }
  }

  return [
    blocked.length === 0
      ? { engine: 'native', ready: true, why: 'in this process, on the CPU; no Python needed' }
      : {
          engine: 'native',
          ready: false,
          why: blocked.map((check) => `${check.name}: ${check.found}`).join('; '),
          fix: blocked[0].fix,
        },
    local('torch', ['torch', 'transformers'], false),
    local('vllm', ['vllm'], true),
    local('sglang', ['sglang'], true),
    remote('tinker', ['TINKER_API_KEY']),
    remote('openai', ['OPENAI_API_KEY', 'OPENAI_BASE_URL']),
  ]
}
