import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gradeMath } from './grade.js'

const r = String.raw

/** Pairs of one value, by what makes them look different. */
const EQUAL: Record<string, [string, string][]> = {
  fractions: [
    [r`\frac{40}{400}`, '0.1'],
    ['0.1000', r`\frac{1} {10}`],
    [r`\dfrac12`, '1/2'],
    [r`\frac{50}3`, '50/3'],
    [r`-\frac{1}{2}`, r`\frac{-1}{2}`],
    [r`3\frac12`, '3.5'],
    [r`2\frac{1}{4}`, '9/4'],
    ['3 1/2', '7/2'],
    [r`0.1\overline{6}`, '1/6'],
    [r`\frac{\sqrt{3}}{3}`, r`\frac1{\sqrt3}`],
    ['1/2 x', 'x/2'],
    ['½', '0.5'],
  ],
  numbers: [
    ['36.0', '36'],
    ['5.', '5'],
    ['+2', '2'],
    ['−5', '-5'],
    ['1,000', '1000'],
    ['1{,}000', '1000'],
    [r`10,\!000`, '10000'],
    [r`10\,000`, '10000'],
    ['4.5e33', r`4.5 \times 10^{33}`],
    ['0.333333', '1/3'],
    ['2^{1009}', r`2\cdot 2^{1008}`],
    [r`2021 \cdot 505 \cdot 337`, '343943885'],
    [r`\frac{100!}{99!}`, '100'],
    [r`\approx8.24`, '8.24'],
    [r`\frac{2}{3}\approx0.67`, '2/3'],
    [r`x \approx 5`, '5'],
    [r`x = \frac{2}{3} \approx 0.67`, '2/3'],
    [r`\frac{2}{3}\approx0.67`, '0.67'],
    [r`\frac{2}{3}\approx0.67`, r`\approx 0.67`],
    ['x = y = 5', '5'],
    [r`1,\! 000`, '1000'],
    ['1 000', '1000'],
    ['12 345 678', '12345678'],
    ['28_9', '28'],
    ['{A5}_{11}', 'A5_{11}'],
  ],
  marks: [
    [r`50\%`, '0.5'],
    [r`50\%`, '50'],
    ['62.5%', '0.625'],
    [r`90^\circ`, '90'],
    [r`90^\circ`, r`\frac{\pi}{2}`],
    ['30^{\\circ}', '30 degrees'],
    [r`30\degree`, r`30^\circ`],
    [r`30^{\degree}`, '30'],
    [r`\sin 90^\circ`, '1'],
    [r`200\%`, '200'],
    [r`\$ -5`, '-5'],
    ['7 DVDs', '7'],
    ['60 minutes/hour', '60'],
    [r`\frac{270}7\text{ degrees}`, r`\frac{270}{7}`],
    [r`\$36`, '36'],
    [r`\$36`, '36 dollars'],
    ['50 km/h', '50'],
    [r`50 \text{ km/h}`, '50 km/h'],
    [r`5\text{ m}`, '5'],
    ['5 m', r`5\text{ m}`],
    [r`5\text{ cm}`, '50 mm'],
    ['60 minutes', '1 hour'],
    ['45 minutes', '45'],
    [r`864 \mbox{ inches}^2`, '864 square inches'],
    [r`34\text{ sq. units}`, '34'],
    [r`8\!:\!34 \text{ p.m.}`, '8:34'],
    ['12 apples', '12'],
  ],
  structures: [
    ['(1,2)', '1,2'],
    [r`\left( 3, \frac{\pi}{2} \right)`, r`(3,\pi/2)`],
    [r`\{1,2\}`, '2,1'],
    [r`\{1,2,3\}`, r`\{3,1,2\}`],
    ['2,1', '1,2'],
    ['100,101,102', '102, 101, 100'],
    [r`1\pm\sqrt{2}`, r`1-\sqrt2,1+\sqrt2`],
    [r`-2\text{ or }-12`, '-12, -2'],
    [r`\{\pm 6, \pm 2\}`, r`\{-6, -2, 2, 6\}`],
    [']1,2[', '(1,2)'],
    [r`(3,4]`, r`\left(3,4\right]`],
    [r`[3,7]\cup[7,9)`, '[3,9)'],
    [r`(-\infty,1)\cup(1,\infty)`, r`\mathbb{R}\setminus\{1\}`],
    [r`x\in[-2,7]`, '[-2,7]'],
    [r`-2\le x\le 7`, '[-2,7]'],
    ['x>5', r`(5,\infty)`],
    ['x<-1 or x>4', r`(-\infty,-1)\cup(4,\infty)`],
    [r`\begin{pmatrix} 1 & 2 \\ 0 & 1 \end{pmatrix}`, r`\begin{bmatrix}1&2\\0&1\end{bmatrix}`],
    ['(4,-3)', r`\begin{pmatrix}4\\-3\end{pmatrix}`],
    ['1:2', r`\frac12`],
    ['x = 1, y = 2', '1, 2'],
  ],
  symbols: [
    ['5', 'x=5'],
    ['6+30=36', '36'],
    ['f(x)=2x', '2x'],
    ['f(x)=2x', 'y=2x'],
    ['y=2x+3', '2x-y+3=0'],
    ['(x+1)^2', 'x^2+2x+1'],
    ['xy', 'yx'],
    [r`\sin^2 x`, r`1-\cos^2x`],
    [r`2\sin 5x\cos x`, r`\sin 6x+\sin 4x`],
    [r`2\sin5x\cosx`, r`2 \sin 5x \cos x`],
    [r`10p^3\sqrt{3p}`, r`10\sqrt{3p^7}`],
    [r`\binom{2n}{n}`, r`\frac{(2n)!}{n! n!}`],
    [r`\sqrt[3]{4}`, '4^{1/3}'],
    [r`e^{i\pi}`, '-1'],
    [r`\ln 8`, r`3\ln 2`],
    [r`\log 100`, '2'],
    [r`\lfloor n/2\rfloor`, r`\lfloor \frac{n}{2}\rfloor`],
    [r`\lfloor (n+1)/2\rfloor`, r`\lceil n/2\rceil`],
    [r`x = \arcsin{1.3 \sin{\theta_w}}`, r`\arcsin(1.3\sin\theta_w)`],
    ['|x-1|', '|1-x|'],
    [r`\frac{e^{2 i t}}{(2+2 i)}`, r`\frac{(1-i)e^{2it}}{4}`],
    [r`\frac{1}{3} E_{1}+\frac{2}{3} E_{2}`, '(E_1+2E_2)/3'],
    ['√2', r`\sqrt{2}`],
    ['2π', r`2\pi`],
  ],
  words: [
    [r`\text{east}`, 'East'],
    [r`\text{Yes}`, 'yes'],
    ['B', '(B)'],
    [r`\textbf{(B)}`, 'B'],
    ['(B) 12', 'B'],
    ['Softball,Kickball,Picnic', r`\text{Softball, Kickball, Picnic}`],
    ['$5$', '5'],
    [r`\boxed{5}`, '5'],
    ['', ' '],
  ],
}

const DIFFERENT: [string, string][] = [
  // Exponents beyond the range of doubles.
  ['1234567e400', '5'],
  ['-1234567e999', '1234567'],
  ['1.234567e320', r`\pi`],
  ['1234567e-400', '0'],
  ['1234567e400', '1234567e401'],
  // One answer, one value.
  [r`7 \approx 5`, '5'],
  [r`7 \approx 5`, '7'],
  [r`x \approx 7 = 5`, '5'],
  [r`7 \sim 5`, '5'],
  ['14.5 ≈ 15', '15'],
  ['x = 7 = 5', '5'],
  [r`200\%`, '2'],
  ['60 minutes/hour', '1'],
  [r`5\text{ m}/\text{cm}`, '500'],
  [r`\lfloor 180^\circ \rfloor`, '180'],
  [r`\approx 1.41`, r`\sqrt{2}`],
  ['1 000', '1, 0'],
  ['2 RC', '2'],
  ['0.333', '1/3'],
  ['1.414', r`\sqrt{2}`],
  ['0.1234567', '0.1234568'],
  ['17.5', '0.175'],
  ['-1', '1'],
  ['12', '1 2'],
  [r`\frac{1}{23}`, r`\frac{12}{3}`],
  [r`3\frac12`, '1.5'],
  ['1,234', '1,235'],
  ['2^{4950}', '2^{4950}+1'],
  ['42.1875', '2^{4950}'],
  [r`123456789123\pi`, r`123456789124\pi`],
  ['28_9', '26'],
  ['10_2', '10_3'],
  // Letters are never deleted as units.
  ['a+b', 'c+b'],
  ['5 m', '5'],
  ['5m', '5'],
  ['m', 'n'],
  ['s', ''],
  ['2s', '2'],
  ['a', 'A'],
  [r`5\text{ cm}`, r`5\text{ m}`],
  [r`\$132`, r`132^\circ`],
  ['5 apples', '5 oranges'],
  ['2 hours', '3 hours'],
  [r`50\%`, r`5\%`],
  ['y=5', 'x=5'],
  ['x=5', 'x=-5'],
  ['x<5', r`x\le5`],
  ['(1,2)', '[1,2]'],
  ['[1,2)', '[1,2]'],
  ['(1,2)', '(2,1)'],
  [r`\{1,2\}`, '(1,2)'],
  ['1,2,3', '1,2'],
  ['8:34', '4:17'],
  [r`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, r`\begin{pmatrix}1&2\\3&5\end{pmatrix}`],
  [r`(-\infty,1)\cup(1,\infty)`, r`(-\infty,\infty)`],
  ['|x|', 'x'],
  ['2x^2', '2x'],
  ['x^2+1', 'y^2+1'],
  [r`\log 100`, r`\ln 100`],
  ['I(0)', '0'],
  [r`\lceil n / 2\rceil+1`, r`\lceil n / 3\rceil+1`],
  [r`\lfloor\sqrt{n-1}\rfloor`, r`\lfloor\sqrt{n-2}\rfloor`],
  [r`\text{(A)}`, r`\text{(A)}+1`],
  ['east', 'seat'],
  ['CBAD', 'ABCD'],
  ['even', 'odd'],
  ['A', 'B'],
  ['0', r`\emptyset`],
  ['0', 'none'],
  ['1/0', '2/0'],
  [r`\infty`, r`-\infty`],
  [r`\infty`, '5'],
  ['9^9^9^9', '9^9^9^8'],
  ['', '5'],
]

describe('gradeMath', () => {
  for (const [name, pairs] of Object.entries(EQUAL)) {
    it.each(pairs)(`${name}: %s is %s`, (a, b) => {
      expect([gradeMath(a, b), gradeMath(b, a)]).toEqual([true, true])
    })
  }

  it.each(DIFFERENT)('%s is not %s', (a, b) => {
    expect([gradeMath(a, b), gradeMath(b, a)]).toEqual([false, false])
  })

  it('forgives a relative difference, or a factor of 100, only when asked to', () => {
    expect(gradeMath('3.1416', r`\pi`)).toBe(false)
    expect(gradeMath('3.1416', r`\pi`, { tolerance: 1e-4 })).toBe(true)
    expect(gradeMath('3.15', r`\pi`, { tolerance: 1e-4 })).toBe(false)
    expect(gradeMath('17.5', '0.175', { percentage: true })).toBe(true)
    expect(gradeMath('17.5', '0.175', { percentage: true, tolerance: 1e-4 })).toBe(true)
  })
})

const piece = fc.constantFrom(
  ...r`\frac \sqrt \left( \right) { } ( ) [ ] \{ \} ^ _ + - * / = < \le , ; : ! % $ \pm \cup \in \infty \pi \sin \text{ cm} \text{or} \begin{pmatrix} \end{pmatrix} \\ & | ' . x y i e f( 0 1 2 9 10 1,000 3.5 apples CD \overline{3} \log_ \binom \lfloor \rfloor \boxed{ or`.split(
    ' ',
  ),
)
const formula = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(' '))
const anything = fc.oneof(formula, fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 20 }))

describe('gradeMath on any text', () => {
  it('finds a text equal to itself, is symmetric, and never throws', () => {
    fc.assert(
      fc.property(anything, anything, (a, b) => {
        expect(gradeMath(a, a)).toBe(true)
        expect(gradeMath(a, ` ${a} `)).toBe(true)
        expect(gradeMath(a, b)).toBe(gradeMath(b, a))
      }),
      { numRuns: 1500 },
    )
  })

  it('tells exact fractions apart', () => {
    const whole = fc.integer({ min: -9999, max: 9999 })
    fc.assert(
      fc.property(whole, whole, whole, whole, (a, b, c, d) => {
        fc.pre(b !== 0 && d !== 0)
        expect(gradeMath(r`\frac{${a}}{${b}}`, `${c}/${d}`)).toBe(a * d === b * c)
      }),
    )
  })

  // What would not end, or end only after minutes, fails by the time limit of the test runner.
  it.each([
    ['towers', '9^9^9^9', '9^{9^{9^{9}}}'],
    ['powers', '10^10000', '10^{10000}+1'],
    ['nested powers', r`((((2^{99})^{99})^{99})^{99})^{99}`, '1'],
    ['factorials', '100000!', '99999!!'],
    ['exponents', '1e999999999', '1e999999998'],
    ['deep braces', `${'{'.repeat(2000)}1${'}'.repeat(2000)}`, '1'],
    ['open brackets', '('.repeat(3900), '('.repeat(3899)],
    ['minus signs', `${'-'.repeat(3900)}1`, '1'],
    ['long digits', '7'.repeat(3900), `${'7'.repeat(3899)}8`],
    ['long sums', '1+'.repeat(1900), `${'1+'.repeat(700)}1`],
    [
      'long lists',
      Array.from({ length: 700 }, (_, k) => k).join(','),
      Array.from({ length: 700 }, (_, k) => 699 - k).join(','),
    ],
    ['lists of products', Array(60).fill('(x+1)^9').join(','), Array(60).fill('(x+2)^9').join(',')],
    ['100 kB of letters', 'ab '.repeat(33_000), 'ba '.repeat(33_000)],
    ['100 kB of braces', '{'.repeat(100_000), '}'.repeat(100_000)],
    ['100 kB of blanks', `1${' '.repeat(100_000)}2`, '3'],
  ])('%s end', (_name, a, b) => {
    expect(gradeMath(a, a)).toBe(true)
    gradeMath(a, b)
    gradeMath(b, a)
  })
})
