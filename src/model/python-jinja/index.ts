/**
 * Chat templates are written for Python's Jinja. Where the JavaScript one differs in what templates use, it is taught to
 * do as Python does, one difference per file; everything else of it stays.
 */
import { installFilters } from './filters.js'
import { installFloats } from './floats.js'
import { installPrint } from './print.js'
import { installStrip } from './strip.js'

installStrip()
installPrint()
installFilters()
installFloats()

export { Template } from '@huggingface/jinja'
export { parseWithFloats } from './floats.js'
