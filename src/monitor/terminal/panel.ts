import { redact } from '../../base/secret/index.js'
import { visibleLine } from '../../base/terminal/visible.js'
import { padTo, widthOf } from '../../base/terminal/width.js'
import { wrap } from '../../base/terminal/wrap.js'
import { type Board, type BoardRole, coursed, figuresOf, LOOPS } from './board.js'
import { cellsOf, flatCells, tallCells } from './cells.js'
import { type Example, ends } from './example.js'
import { duration, percent } from './number.js'
import { type Colors, lineOf, packed, type Span, widthOfSpans } from './span.js'

export interface PanelPlace {
  readonly width: number
  readonly rows: number
  readonly colors: Colors
  /** Milliseconds. */
  readonly now: number
}

/** Width of the labels. */
const INDENT = 10
/** Lines of the terminal that are left to what stays. */
const FREE = 4
/** From here on there is room for two answers side by side, and for a picture of where the time goes. */
const WIDE = 110
/** Rows from which curves are several lines high. */
const HIGH = 22
/** Rows from which there are empty lines between the parts. */
const AIRY = 32

/** What is drawn of a run: no line wider than the place, and no more of them than fit. */
export function panelLines(board: Board, title: string, begun: number, place: PanelPlace): string[] {
  const most = Math.max(3, place.rows - FREE)
  const head = [headLine(board, title, begun, place), ...board.ordered.flatMap((role) => roleLines(board, role, place))]
  // the first of them is dropped last
  const sections = [curveLines(board, place), exampleLines(board, place), timeLines(board, place)]
  let lines = [place.colors.dim('─'.repeat(place.width)), ...head].slice(0, most)
  const isAiry = place.rows >= AIRY
  for (const section of sections) {
    const spaced = isAiry && section.length > 0 ? ['', ...section] : section
    if (lines.length + spaced.length <= most) lines = [...lines, ...spaced]
  }
  return lines
}

/** Name, bar, and the time that has gone and is left. */
function headLine(board: Board, title: string, begun: number, { width, colors, now }: PanelPlace): string {
  const { bold, dim, green } = colors
  const progress = board.pace
  const left = board.left
  const share = progress?.share
  const times = [
    ...(share === undefined ? [] : [percent(Math.floor(share * 100) / 100)]),
    duration(Math.floor((now - begun) / 1000)),
    ...(left === undefined ? [] : [`about ${duration(left)} left`]),
  ].join(' · ')
  const name = padTo(visibleLine(redact(title)), INDENT)
  const room = width - widthOf(name) - widthOf(times) - 2
  if (share === undefined || room < 8) return lineOf([[name, bold], ' ', times], width)
  const done = Math.round(share * room)
  const bar: Span[] = [
    ['━'.repeat(done), green],
    ['─'.repeat(room - done), dim],
  ]
  return lineOf([[name, bold], ' ', ...bar, ' ', times], width)
}

function roleLines(board: Board, state: BoardRole, { width, colors, now }: PanelPlace): string[] {
  const { name, phase, since, progress, metrics } = state
  const doing = phase === '' ? '' : `${visibleLine(redact(phase))} · ${duration(Math.floor((now - since) / 1000))}`
  const isLoop = LOOPS.includes(name)
  const each = progress.secondsPerStep
  const figures = [
    ...figuresOf(name, metrics, coursed(board)),
    ...(isLoop && each !== undefined ? [`${duration(each)}/step`] : []),
  ]
  const head: Span[] = [[padTo(name, INDENT - 2), colors.bold], '  ']
  const groups: Span[][] = [[...head, [...(isLoop ? [`step ${progress.text}`] : []), doing].join('  ')]]
  for (const figure of figures) groups.push([[figure, colors.dim]])
  return packed(groups, width, INDENT).map((line) => lineOf(line, width))
}

function curveLines(board: Board, { width, rows, colors }: PanelPlace): string[] {
  const cells = cellsOf(board, colors)
  if (cells.length === 0) return []
  const isTall = rows >= HIGH && width >= 60
  const height = rows >= 30 ? 3 : 2
  const half = Math.ceil(cells.length / 2)
  const tall =
    tallCells(cells, width, height, colors) ??
    both(tallCells(cells.slice(0, half), width, height, colors), tallCells(cells.slice(half), width, height, colors))
  return isTall && tall && tall.length <= rows / 2.5 ? tall : flatCells(cells, width, colors)
}

function both(first: string[] | undefined, second: string[] | undefined): string[] | undefined {
  return first && second && [...first, ...second]
}

function exampleLines(board: Board, place: PanelPlace): string[] {
  const { width, rows, colors } = place
  const { examples } = board
  const isWide = width >= WIDE && examples.length > 1
  if (rows < HIGH) return examples.map((one) => shortExample(one, width, colors))
  const each = isWide ? Math.floor((width - 3) / 2) : width
  const texts = examples.map((one) => example(one, each, rows >= 30 ? 3 : 2, colors))
  if (!isWide) return texts.flatMap((lines) => lines.map(({ text }) => text))
  const height = Math.max(...texts.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    texts
      .map((lines) => `${lines[row]?.text ?? ''}${' '.repeat(each - (lines[row]?.width ?? 0))}`)
      .join('   ')
      .trimEnd(),
  )
}

function shortExample({ label, reward, question, answer }: Example, width: number, { bold, dim }: Colors): string {
  const room = width - INDENT - widthOf(reward) - 5
  const asked = ends(question, Math.floor(room / 2))
  const head: Span[] = [[padTo(label, INDENT - 2), bold], '  ', reward, '  ']
  return lineOf([...head, [asked, dim], ' → ', ends(answer, room - widthOf(asked))], width)
}

/** The question in one line, the answer in so many. */
function example(
  { label, reward, question, answer }: Example,
  width: number,
  height: number,
  { bold, dim, green, red }: Colors,
): { text: string; width: number }[] {
  const room = width - INDENT
  const paint = label === 'worst' ? red : green
  const asked = ends(question, room - widthOf(reward) - 2)
  const head: Span[] = [[padTo(label, INDENT - 2), bold], '  ', [reward, paint], '  ', [asked, dim]]
  const answered = wrap(ends(answer, room * height - height * 4), room).slice(0, height)
  const lines: Span[][] = [head, ...answered.map((line): Span[] => [' '.repeat(INDENT), line])]
  return lines.map((line) => ({ text: lineOf(line, width), width: Math.min(width, widthOfSpans(line)) }))
}

const SHADES = ['█', '▓', '▒', '░']

function timeLines(board: Board, { width, colors, now }: PanelPlace): string[] {
  const { bold, dim } = colors
  const paints = [colors.blue, colors.yellow, colors.magenta, colors.cyan]
  const lines = board.ordered.flatMap((role): Span[][] => {
    const shares = LOOPS.includes(role.name) ? role.spent.shares(now) : []
    if (shares.length === 0) return []
    const picture = width >= WIDE ? 24 : 0
    const bar = shares.slice(0, SHADES.length).map(({ share }, i): Span => {
      return [SHADES[i].repeat(Math.round(share * picture)), paints[i]]
    })
    // the signs explain the bar: without one they would explain nothing
    const sign = (i: number): Span[] => (picture > 0 ? [[SHADES[i] ?? ' ', paints[i] ?? dim], ' '] : [])
    const words = shares.map(({ kind, share }, i): Span[] => [...sign(i), `${visibleLine(kind)} ${percent(share)}`])
    // the largest shares that fit
    return packed([[[padTo(role.name, INDENT - 1), dim], ...bar], ...words], width - INDENT).slice(0, 1)
  })
  return lines.map((line, i) => lineOf([[padTo(i === 0 ? 'time' : '', INDENT), bold], ...line], width))
}
