/** Combining marks and the like, which stand on the character before them. */
const NO_WIDTH = /[\p{Mn}\p{Me}\u1160-\u11ff]/u
/** Code points that take two columns, from and to. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd],
]
const EMOJI = /\p{Emoji_Presentation}/u

/** Columns of a terminal that a character takes. Where terminals disagree, the larger number: a line never gets too long. */
function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) as number
  if (code < 0x300) return 1
  if (NO_WIDTH.test(character)) return 0
  return WIDE.some(([from, to]) => code >= from && code <= to) || EMOJI.test(character) ? 2 : 1
}

/** Columns of a terminal that a text takes; control characters and colors are not expected in it. */
export function widthOf(text: string): number {
  // most texts
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

/** Cuts a text to a width, with an ellipsis for what is lost. */
export function cutTo(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${beginning(text, width - 1)}…`
}

/** The end of a text, which says more than its beginning where it is a path. */
export function endOf(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const characters = [...text]
  let room = width - 1
  let from = characters.length
  while (from > 0 && widthOfCharacter(characters[from - 1]) <= room) room -= widthOfCharacter(characters[--from])
  return `…${characters.slice(from).join('')}`
}

/** As much of a text as a width has room for. */
export function beginning(text: string, width: number): string {
  let [end, room] = [0, width]
  for (const character of text) {
    room -= widthOfCharacter(character)
    if (room < 0) break
    end += character.length
  }
  return text.slice(0, end)
}

/** Blanks up to a width. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
