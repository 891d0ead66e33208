import type { EngineElsewhere } from '../config/index.js'

/** Engines that existing files name and that are not part of this version. Another one serves in their place. */
const ELSEWHERE: Readonly<Record<string, EngineElsewhere>> = {
  vllm: { name: 'vllm', title: 'vLLM', gpus: true, replaceable: true },
  sglang: { name: 'sglang', title: 'SGLang', gpus: true, replaceable: true },
  tinker: {
    name: 'tinker',
    title: 'Tinker',
    gpus: false,
    replaceable: true,
    claims: ({ model }) => model.tinker.enable,
  },
}

/** Every word that begins with vllm has always meant vLLM. */
export function engineElsewhere(word: string): EngineElsewhere | undefined {
  const name = word.startsWith('vllm') ? 'vllm' : word
  return Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined
}

export function enginesElsewhere(): EngineElsewhere[] {
  return Object.values(ELSEWHERE)
}
