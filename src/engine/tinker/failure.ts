import { TrinityError } from '../../base/error.js'

/** An answer that cannot be what was asked for. */
export function badAnswer(what: string, hint = 'is this a service that speaks the Tinker API as client 0.25 does?') {
  return new TrinityError('tinker/answer', `the Tinker service gave a wrong answer: ${what}`, { hint })
}

/** Something that a configuration or a caller asks for and the API has no word for. */
export function unsupported(what: string, path: string, hint: string): TrinityError {
  return new TrinityError('engine/unsupported', `a Tinker service ${what}`, { path, hint })
}
