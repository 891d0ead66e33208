import { LEVELS } from '../base/log/log-dir.js'
import { redact } from '../base/secret/known.js'

/** What a variable of ours may hold, as far as the program that reads it would ignore anything else. */
const RULES: Readonly<Record<string, { isGood: (value: string) => boolean; wants: string }>> = {
  TRINITY_LOG_LEVEL: {
    isGood: (value) => [...LEVELS, 'WARN', 'CRITICAL', 'FATAL'].includes(value.toUpperCase()),
    wants: `one of ${LEVELS.join(', ')}`,
  },
  TRINITY_NATIVE_ISA: {
    isGood: (value) => ['baseline', 'avx2', 'avx512'].includes(value),
    wants: 'one of baseline, avx2, avx512',
  },
  TRINITY_NATIVE_THREADS: {
    isGood: (value) => /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 256,
    wants: 'a number from 1 to 256',
  },
  TRINITY_TORCH_GRACE: { isGood: (value) => Number(value) > 0, wants: 'a number of seconds' },
  TRINITY_HUB: {
    isGood: (value) => ['huggingface', 'hf', 'modelscope', 'ms'].includes(value.toLowerCase()),
    wants: 'huggingface or modelscope',
  },
}

/** A warning for each variable whose value does not do what was wanted. */
export function badVariables(env: NodeJS.ProcessEnv = process.env): string[] {
  return Object.entries(RULES).flatMap(([name, { isGood, wants }]) => {
    const value = env[name]
    return value === undefined || isGood(value)
      ? []
      : [redact(`${name} is '${value}', which is no value: use ${wants}`)]
  })
}
