import { TrinityError } from '../base/error.js'

/** A whole number that was given to an option. */
export function wholeNumber(
  option: string,
  text: string | undefined,
  otherwise: number,
  least = 0,
  most = Number.POSITIVE_INFINITY,
): number {
  if (text === undefined) return otherwise
  if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  const range = Number.isFinite(most) ? `${least} to ${most}` : `${least}`
  throw new TrinityError('cli/number', `${option} is '${text}'; expected a whole number from ${range}`, {
    path: option,
  })
}

/** A number from 0 that was given to an option. */
export function decimal(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value
  throw new TrinityError('cli/number', `${option} is '${text}'; expected a number from 0`, { path: option })
}
