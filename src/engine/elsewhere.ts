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
  // what a hosted model says, no other engine can say
  openai: {
    name: 'openai',
    title: 'OpenAI',
    gpus: false,
    replaceable: false,
    claims: ({ model }) => model.external_model.enable,
  },
}

const WORDS: Readonly<Record<string, string>> = { external: 'openai' }

/** Every word that begins with vllm has always meant vLLM. */
export function engineElsewhere(word: string): EngineElsewhere | undefined {
  const name = word.startsWith('vllm') ? 'vllm' : (WORDS[word] ?? word)
  return Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined
}

export function enginesElsewhere(): EngineElsewhere[] {
  return Object.values(ELSEWHERE)
}
