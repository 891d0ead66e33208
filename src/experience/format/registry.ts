import { Registry } from '../../base/registry.js'
import { cpt } from './cpt.js'
import { dpo } from './dpo.js'
import type { FormatterType } from './formatter.js'
import { sft } from './sft.js'

/** How records become experiences to train on, by `schema_type` of a data set. */
export const formatters = new Registry<FormatterType>('formatter', { sft, dpo, cpt })
