/**
 * What a terminal would obey instead of show: control characters, those that change the direction of writing, that have no
 * width or end a line, halves of characters, and private or unassigned ones.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u115f\u3164\uffa0]/gu
/** Chooses between two looks of the character before it, which terminals count differently. */
const VARIANTS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu
/** More marks on one letter than any language has: they would reach into the lines above. */
const PILED = /(\p{M}{4})\p{M}+/gu
const [TAB, NEWLINE, DELETE] = [0x09, 0x0a, 0x7f]

/** Text of strangers, such as a model, as a terminal may show it: nothing in it moves the cursor or changes a color. */
export function visible(text: string): string {
  return cleaned(text, shown)
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return cleaned(text.trim().replaceAll(/\s*\n\s*/g, ' ⏎ '), (character) => shown(character).replace('\n', ' '))
}

function cleaned(text: string, show: (character: string) => string): string {
  // most texts
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text.replaceAll('\r\n', '\n').replaceAll(VARIANTS, '').replaceAll(PILED, '$1').replaceAll(UNSHOWN, show)
}

function shown(character: string): string {
  const code = character.codePointAt(0) as number
  if (code === NEWLINE) return '\n'
  if (code === TAB) return '    '
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === DELETE) return '␡'
  return `\\u{${code.toString(16)}}`
}
