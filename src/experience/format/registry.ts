import { Registry } from '../../base/registry.js'
import { cpt } from './cpt.js'
import { dpo } from './dpo.js'
import type { FormatterType } from './formatter.js'
import { sft } from './sft.js'

/** By `schema_type`. */
export const formatters = new Registry<FormatterType>('formatter', { sft, dpo, cpt })
