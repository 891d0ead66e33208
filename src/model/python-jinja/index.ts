/**
 * Chat templates are written for Python's Jinja. Where the JavaScript one differs in what templates use, it is taught to
 * do as Python does, one difference per file; everything else of it stays. Templates come with models that are downloaded:
 * `budget.ts` bounds what a rendering may take.
 */
import { installBounds } from './bounds.js'
import { installFilters } from './filters.js'
import { installFloats } from './floats.js'
import { installLoops } from './loops.js'
import { installPrint } from './print.js'
import { installStrings } from './strings.js'

installStrings()
installPrint()
installFilters()
installFloats()
installLoops()
installBounds()

export { Template } from '@huggingface/jinja'
export { TemplateLimitError } from './budget.js'
export { parseWithFloats } from './floats.js'
