/** What a model may write, as a grammar over the bytes of its tokens: JSON that fits a schema, patterns, choices. */

export { Constraint, type TokenSet } from './constraint.js'
export { allowedFor, constraintFor, formatOf } from './constraints.js'
export { type Format, formatPart } from './format.js'
export { Grammar, type Part } from './grammar.js'
export { schemaPart } from './schema/compile.js'
export { type Vocabulary, vocabularyOf } from './vocabulary.js'
