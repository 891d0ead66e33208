import type { EngineElsewhere } from '../config/index.js'

/** Engines that existing files name and that are not part of this version. Another one serves in their place. */
const ELSEWHERE: Readonly<Record<string, EngineElsewhere>> = {
  sglang: { name: 'sglang', title: 'SGLang', gpus: true },
}

export function engineElsewhere(word: string): EngineElsewhere | undefined {
  return Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined
}

export function enginesElsewhere(): EngineElsewhere[] {
  return Object.values(ELSEWHERE)
}
