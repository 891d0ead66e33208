import type { ServerPackage } from '../served/python.js'

export const VLLM: ServerPackage = { module: 'vllm', title: 'vLLM' }
