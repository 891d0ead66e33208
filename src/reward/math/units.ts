import type { Rational } from './rational.js'

/** A unit as a multiple of a base unit, so that 60 minutes are one hour. */
export interface Unit {
  readonly base: string
  readonly factor: Rational
}

const TABLE: Record<string, string> = {
  // base unit: name factor …
  m: 'm 1 meter 1 metre 1 mm 1/1000 millimeter 1/1000 millimetre 1/1000 cm 1/100 centimeter 1/100 centimetre 1/100 dm 1/10 km 1000 kilometer 1000 kilometre 1000 nm 1/1000000000 nanometer 1/1000000000',
  inch: 'inch 1 inches 1 in 1 foot 12 feet 12 ft 12 yard 36 yd 36 mile 63360 mi 63360',
  s: 's 1 sec 1 second 1 ms 1/1000 millisecond 1/1000 minute 60 min 60 hour 3600 hr 3600 h 3600 day 86400 week 604800',
  month: 'month 1 year 12 yr 12 decade 120 century 1200 centuries 1200',
  g: 'g 1 gram 1 gramme 1 mg 1/1000 milligram 1/1000 kg 1000 kilogram 1000 tonne 1000000',
  ounce: 'ounce 1 oz 1 pound 16 lb 16 lbs 16',
  dollar: 'dollar 1 usd 1 buck 1 cent 1/100',
  euro: 'euro 1',
  yuan: 'yuan 1 rmb 1',
  rupee: 'rupee 1',
  liter: 'liter 1 litre 1 l 1 L 1 ml 1/1000 milliliter 1/1000 millilitre 1/1000',
  gallon: 'gallon 1 quart 1/4 pint 1/8 cup 1/16',
  radian: 'radian 1 rad 1',
  hertz: 'hertz 1 hz 1',
  joule: 'joule 1 J 1 kj 1000',
  newton: 'newton 1 N 1',
  watt: 'watt 1 W 1 kw 1000',
  volt: 'volt 1 V 1',
  pascal: 'pascal 1 pa 1',
  kelvin: 'kelvin 1 K 1',
  mole: 'mole 1 mol 1',
  unit: 'unit 1',
}

const UNITS = new Map<string, Unit>()
for (const [base, row] of Object.entries(TABLE)) {
  const words = row.split(' ')
  for (let i = 0; i < words.length; i += 2) {
    const [n, d = '1'] = words[i + 1]!.split('/')
    UNITS.set(words[i]!, { base, factor: { n: BigInt(n!), d: BigInt(d) } })
  }
}

/** Two-letter runs that are more often a product of variables than a unit when they are not marked as text. */
const AMBIGUOUS = new Set(['in', 'pa', 'ms', 'mi'])

/** The unit called so. A single letter, or a run that may be variables, is one only inside `\text` or `\mathrm`. */
export function findUnit(word: string, marked: boolean): Unit | undefined {
  if (!marked && (word.length < 2 || AMBIGUOUS.has(word))) return undefined
  const lower = word.length === 1 ? word : word.toLowerCase()
  const exact = UNITS.get(lower)
  if (exact) return exact
  return lower.length > 3 && lower.endsWith('s') ? UNITS.get(lower.slice(0, -1)) : undefined
}
