/** What integers, decimals, dates and times of data files become: a number where that says the same, otherwise text. */

/** Units of time, in digits after the second. */
export const SECONDS = 0
export const MILLISECONDS = 3
export const MICROSECONDS = 6
export const NANOSECONDS = 9

/** A number where all neighbors of it are numbers too, otherwise its digits. */
export function integerOf(value: bigint): number | string {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)
}

/** `unscaled` with the point `scale` digits from the right: a number where that is written the same, otherwise its digits. */
export function decimalOf(unscaled: bigint, scale: number): number | string {
  // No format has more than 76 digits; a damaged file may say two billion.
  if (Math.abs(scale) > 100) throw new RangeError(`a decimal with ${scale} digits after the point`)
  if (scale <= 0) return integerOf(unscaled * 10n ** BigInt(-scale))
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  const text = `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  const short = text.replace(/\.?0+$/, '')
  return String(Number(short)) === short ? Number(short) : text
}

/** A two's complement integer, most significant byte first. */
export function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return BigInt.asIntN(bytes.length * 8, value)
}

/** `2024-02-29` */
export function dateOf(days: number | bigint): string {
  return new Date(Number(days) * 86_400_000).toISOString().replace('T00:00:00.000Z', '')
}

/** `2024-02-29T12:00:00.000Z`, with as many more digits as the value needs. */
export function timestampOf(value: bigint, unit: number): string {
  const perSecond = 10n ** BigInt(unit)
  const fraction = ((value % perSecond) + perSecond) % perSecond
  const whole = new Date(Number((value - fraction) / perSecond) * 1000).toISOString()
  return whole.replace('.000Z', `.${digitsOf(fraction, unit)}Z`)
}

/** `12:00:00`, with the fraction of the second where there is one. */
export function timeOf(value: bigint, unit: number): string {
  const perSecond = 10n ** BigInt(unit)
  const seconds = Number(value / perSecond)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return value % perSecond === 0n ? clock : `${clock}.${digitsOf(value % perSecond, unit)}`
}

/** At least three digits, none of them an idle zero after that. */
function digitsOf(fraction: bigint, unit: number): string {
  const digits = (unit === 0 ? '' : String(fraction).padStart(unit, '0')).padEnd(3, '0')
  return digits.slice(0, 3) + digits.slice(3).replace(/0+$/, '')
}
