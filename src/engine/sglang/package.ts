import type { ServerPackage } from '../served/python.js'

export const SGLANG: ServerPackage = { module: 'sglang', title: 'SGLang' }
