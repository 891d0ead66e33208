import { TrinityError } from '../../base/error.js'

/** Far above what people write; what a program made without end is told so before it costs anything. */
const MOST_VALUES = 100_000
const MOST_CHARACTERS = 2_000_000
const DEEPEST = 200

/** Refuses schemas whose mere size would keep the program busy. Takes anything, also objects that contain themselves. */
export function checkSize(schema: unknown): void {
  let values = 0
  let characters = 0
  let level: unknown[] = [schema]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw tooLarge(`is nested more than ${DEEPEST} deep`)
    const below: unknown[] = []
    for (const value of level) {
      if (++values > MOST_VALUES) throw tooLarge(`has more than ${MOST_VALUES} values`)
      if (typeof value === 'string') characters += value.length
      else if (typeof value === 'object' && value !== null) {
        for (const key of Object.keys(value)) {
          characters += key.length
          below.push((value as Record<string, unknown>)[key])
          if (below.length > MOST_VALUES) throw tooLarge(`has more than ${MOST_VALUES} values`)
        }
      }
      if (characters > MOST_CHARACTERS) throw tooLarge(`has more than ${MOST_CHARACTERS} characters`)
    }
    level = below
  }
}

function tooLarge(how: string): TrinityError {
  return new TrinityError('grammar/too-large', `the schema ${how}`, {
    path: '#',
    hint: 'use a smaller schema, with $ref for what comes more than once',
  })
}
