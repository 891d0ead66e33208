import fc from 'fast-check'

const r = String.raw

/** A truth and a response that is wrong by construction, however right it looks. */
export interface WrongAnswer {
  readonly truth: string
  readonly response: string
}

/** Ways to say two values, to deny one, or to leave open which is meant. */
const EVASIONS: readonly ((right: string, wrong: string) => string)[] = [
  (t, w) => `${t}, ${w}`,
  (t, w) => `${w}, ${t}`,
  (t, w) => r`${t} \text{ or } ${w}`,
  (t, w) => r`${w} \text{ and } ${t}`,
  (t, w) => r`\{${t}, ${w}\}`,
  (t, w) => `[${t}, ${w}]`,
  (t, w) => `(${t}, ${w})`,
  (t, w) => r`[${t}, ${w})`,
  (t, w) => r`${t} \cup ${w}`,
  (t, w) => `${t}; ${w}`,
  (t, w) => `${t} | ${w}`,
  (t, w) => r`${t} \pm ${w}`,
  (t, w) => r`${w} \pm ${t}`,
  (t, w) => `${t} = ${w}`,
  (t, w) => `${w} = ${t}`,
  (t, w) => `x = ${w} = ${t}`,
  (t, w) => `x = ${t} = ${w}`,
  (t, w) => r`x = ${w} \text{ or } x = ${t}`,
  (t, w) => r`${w} \approx ${t}`,
  (t, w) => r`${t} \equiv ${w}`,
  (t, w) => r`${t} \to ${w}`,
  (t, w) => r`${t} \ne ${w}`,
  (t, w) => r`${t} < x < ${w}`,
  (t, w) => r`\begin{pmatrix} ${t} \\ ${w} \end{pmatrix}`,
  (t, w) => r`\begin{cases} ${t} \\ ${w} \end{cases}`,
  (t, w) => r`${t} \quad ${w}`,
  (t, w) => r`\frac{${t}}{${w}}`,
  (t, w) => r`{${t}}^{${w}}`,
  (t) => r`\ne ${t}`,
  (t) => r`x \ne ${t}`,
  (t) => r`\neg ${t}`,
  (t) => r`\text{not } ${t}`,
  (t) => `x > ${t}`,
  (t) => r`x \le ${t}`,
  (t) => r`\ge ${t}`,
  (t) => r`(-\infty, ${t}]`,
  (t) => r`\pm ${t}`,
  (t) => r`${t} + 1`,
  (t) => r`${t} - 10^{-3}`,
  (t) => r`10^{400} + ${t}`,
  (t) => r`${t} \cdot 10^{400}`,
  (t) => r`${t}e999`,
  (t) => `${t}!`.concat('!'),
  (t) => r`\sqrt{-1} \cdot ${t}`,
  (t) => `x + ${t}`,
  (t) => `${t}x`,
  (_, w) => w,
  (_, w) => [...w].map((c) => (/\d/.test(c) ? String.fromCodePoint(0xff10 + Number(c)) : c)).join(''),
  (_, w) => [...w].map((c) => (/\d/.test(c) ? String.fromCodePoint(0x0660 + Number(c)) : c)).join(''),
  (_, w) => [...w].map((c) => (/\d/.test(c) ? String.fromCodePoint(0x1d7ce + Number(c)) : c)).join(''),
  () => '1e999',
  () => '-1e999',
  () => 'NaN',
  () => 'Infinity',
  () => r`\frac{0}{0}`,
  () => r`\mathbb{R}`,
  () => '',
]

/** A boxed answer in a response that names the right value elsewhere. */
const FRAMES: readonly ((inner: string, right: string) => string)[] = [
  (inner) => r`\boxed{${inner}}`,
  (inner) => r`The answer is \boxed{${inner}}.`,
  (inner, t) => r`First I thought \boxed{${t}}. That is wrong: it is \boxed{${inner}}.`,
  (inner, t) => r`<think>It is ${t}.</think> \boxed{${inner}}`,
  (inner, t) => r`<think>\boxed{${t}}</think>
<answer>\boxed{${inner}}</answer>`,
  (inner) => r`$$\boxed{\boxed{${inner}}}$$`,
  (inner) => r`\boxed{${inner}} <!-- ${'`'.repeat(3)} -->`,
  (inner) => r`\boxed {${inner}}`,
]

const whole = fc.oneof(fc.integer({ min: 3, max: 2000 }), fc.constantFrom(2 ** 53, 123456789, 4096))

/** Wrong answers to questions with a number. */
export const wrongNumber: fc.Arbitrary<WrongAnswer> = fc
  .record({
    right: whole,
    shift: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(1000)),
    evasion: fc.constantFrom(...EVASIONS),
    frame: fc.constantFrom(...FRAMES),
  })
  .map(({ right, shift, evasion, frame }) => {
    const truth = String(right)
    return { truth, response: frame(evasion(truth, String(BigInt(right) + BigInt(shift))), truth) }
  })

const LETTERS = ['A', 'B', 'C', 'D'] as const
const CHOICES: readonly ((right: string, wrong: string) => string)[] = [
  (t, w) => `${t}, ${w}`,
  (t, w) => `${w} or ${t}`,
  (t, w) => r`\text{${t} and ${w}}`,
  (t, w) => `${t}${w}`,
  (t, w) => `(${t})(${w})`,
  (t, w) => `${t}/${w}`,
  (t, w) => `${w}. ${t}`,
  (t) => `not ${t}`,
  (t) => r`\text{not (${t})}`,
  (t) => r`\neg ${t}`,
  () => 'A, B, C, D',
  () => 'ABCD',
  () => r`\text{all of the above}`,
  (_, w) => `(${w})`,
  (t, w) => `(${w}) ${t}`,
]

/** Wrong answers to questions with letters. */
export const wrongChoice: fc.Arbitrary<WrongAnswer> = fc
  .record({
    letters: fc.shuffledSubarray([...LETTERS], { minLength: 2, maxLength: 2 }),
    choice: fc.constantFrom(...CHOICES),
    frame: fc.constantFrom(...FRAMES),
  })
  .map(({ letters: [t, w], choice, frame }) => ({ truth: t, response: frame(choice(t, w), t) }))

/** Truths that are no number, each with answers that differ in one detail. */
const STRUCTURED: readonly (readonly [truth: string, ...wrong: string[]])[] = [
  ['(1, 2)', '(2, 1)', '(1, 2, 2)', '(1, 2, 3)', r`\{1, 2, 3\}`, '1', '12', '1.2', '(1, -2)'],
  ['[0, 1]', '(0, 1)', '[0, 1)', '(0, 1]', r`(-\infty, \infty)`, r`[0, 1] \cup [2, 3]`, r`\mathbb{R}`],
  [r`\{1, 2\}`, r`\{1\}`, r`\{1, 2, 3\}`, r`\{1, 1\}`, r`\{\}`, r`[1, 2]`, r`1 < x < 2`],
  ['x^2 + 1', 'x^2 - 1', 'x^2 + 2', 'x^2', '(x+1)^2', 'y^2 + 1', 'x^3 + 1', '2x + 1', 'x^2 + 1 = 0', 'x^{2+1}'],
  [r`\frac{1}{3}`, '0.3', '0.33', r`\frac{3}{1}`, '1/30', '1:4', r`\frac13 + \frac13`, '3'],
  [
    r`\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`,
    r`\begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}`,
    r`\begin{pmatrix} 1 & 2 & 3 & 4 \end{pmatrix}`,
    '10',
    '-2',
  ],
  [r`2\sqrt{3}`, r`\sqrt{6}`, r`3\sqrt{2}`, r`-2\sqrt{3}`, r`\pm 2\sqrt{3}`, '3.4', r`2\sqrt{3} + 2\sqrt{3}`],
  ['1e400', '1e401', '1e999', r`\infty`, '10^{401}', '-1e400'],
  ['x > 3', r`x \ge 3`, 'x < 3', '3', 'x > -3', 'x = 3', r`x \ne 3`],
  ['3 - 2i', '3 + 2i', '-2i', '3', r`\sqrt{13}`, '2 - 3i'],
]

export const wrongStructure: fc.Arbitrary<WrongAnswer> = fc
  .tuple(fc.constantFrom(...STRUCTURED), fc.nat(100), fc.constantFrom(...FRAMES))
  .map(([[truth, ...wrong], at, frame]) => ({ truth, response: frame(wrong[at % wrong.length]!, truth) }))

export interface WrongEquation {
  readonly equation: string
  readonly target: number
  readonly numbers: readonly number[]
}

/** Equations of CountDown that break one rule: other numbers, another value, or no arithmetic. */
export const wrongEquation: fc.Arbitrary<WrongEquation> = fc
  .record({
    numbers: fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 2, maxLength: 5 }),
    breach: fc.constantFrom<(numbers: readonly number[], sum: number) => readonly [equation: string, target: number]>(
      (n, sum) => [n.join(' + '), sum + 1],
      (n, sum) => [`${n.join(' + ')} + ${n[0]}`, sum + n[0]!],
      (n, sum) => [n.slice(1).join(' + '), sum - n[0]!],
      (n, sum) => [`${n.join(' + ')} = ${sum + 1}`, sum + 1],
      (n, sum) => [`${n.join(' + ')} + 0`, sum],
      (n, sum) => [`${n.join(' + ')} * 1`, sum],
      (n) => [n.join(''), Number(n.join(''))],
      (n) => [`${n.join(' + ')} / 0`, 0],
      (_, sum) => [`${sum + 7}`, sum + 7],
      (n, sum) => [`${n.join(' + ')} or ${sum}`, sum + 3],
      (n, sum) => [`(${n.join(' + ')}`, sum + 2],
      (n, sum) => [`${n.join(' + ')} # ${sum + 1}`, sum + 1],
      (n, sum) => [`${n.join(' + ')}\n${sum + 1}`, sum + 1],
      (n, sum) => [
        n.map((x) => [...String(x)].map((d) => String.fromCodePoint(0xff10 + Number(d))).join('')).join(' + '),
        sum + 1,
      ],
      (n, sum) => [`${n.join(' + ')} + 1e999 - 1e999`, sum],
      (_, sum) => [`len('${'a'.repeat(Math.min(500, sum))}')`, sum],
      (_, sum) => [`__import__('os').system('${sum}')`, sum],
    ),
  })
  .map(({ numbers, breach }) => {
    const [equation, target] = breach(
      numbers,
      numbers.reduce((a, b) => a + b, 0),
    )
    return { equation, target, numbers }
  })
  // One number whose text is the whole equation is right.
  .filter(({ equation, numbers }) => !(numbers.length === 1 && equation === String(numbers[0])))

/** Calls that are not the expected ones, with the expected ones. */
export const wrongCalls: fc.Arbitrary<{ readonly made: string; readonly expected: string }> = fc.constantFrom(
  ...[
    ['{"a": 1}', '{"a": "1"}'],
    ['{"a": 1}', '{"a": true}'],
    ['{"a": 1}', '{"a": 1, "b": null}'],
    ['{"a": null}', '{}'],
    ['{"a": null}', '{"a": 1e999}'],
    ['{"a": 1e999}', '{"a": -1e999}'],
    ['{"a": [1, 2]}', '{"a": [2, 1]}'],
    ['{"a": [1, 2]}', '{"a": "1,2"}'],
    ['{"a": {}}', '{"a": []}'],
    ['{"a": "x"}', '{"a": "x "}'],
    ['{"a": "x"}', '{"A": "x"}'],
    ['{}', '{"__proto__": {"a": 1}}'],
    ['{"__proto__": 1}', '{"__proto__": 2}'],
    ['{"a": 0.1}', '{"a": 0.10000001}'],
    ['{"a": ""}', '{"a": null}'],
    ['{"a": 0}', '{"a": false}'],
  ].map(([a, b]) => ({ made: call('f', a!), expected: call('f', b!) })),
  { made: call('f', '{}'), expected: call('g', '{}') },
  { made: `[${call('f', '{}')}, ${call('f', '{}')}]`, expected: call('f', '{}') },
  { made: call('f', '{}'), expected: `[${call('f', '{}')}, ${call('f', '{}')}]` },
  { made: '[]', expected: call('f', '{}') },
  { made: '{"name": "f"}', expected: call('f', 'null') },
  { made: call('toString', '{}'), expected: call('f', '{}') },
)

function call(name: string, args: string): string {
  return `{"name": "${name}", "arguments": ${args}}`
}

const TOKENS = [
  ...[
    '<think>',
    '</think>',
    '<answer>',
    '</answer>',
    '<analysis>',
    '<confidence>',
    '</confidence>',
    '<tool_call>',
    '</tool_call>',
  ],
  ...[
    '<action>',
    '</action>',
    '```',
    '```json\n',
    '"action": "',
    'search[',
    'click[',
    ']',
    '[',
    '{',
    '}',
    '{"name": "f", "arguments": ',
  ],
  ...[
    '{"trajectory_summary": "x", "root_cause_analysis": "y", "trajectory_outcome": "failure", "improvement_suggestion": "z", "retry_from_step": 1}',
  ],
  ...[
    r`\boxed{`,
    r`\boxed`,
    r`\frac{`,
    r`\sqrt`,
    r`\left(`,
    r`\text{`,
    r`\begin{pmatrix}`,
    r`\\`,
    '&',
    '$',
    '$$',
    '####',
    'The answer is ',
  ],
  ...[
    'A: ',
    'Answer:',
    ' or ',
    ' and ',
    ',',
    '=',
    '+',
    '-',
    '*',
    '/',
    '^',
    '_',
    '(',
    ')',
    '!',
    '%',
    '|',
    '<',
    '>',
    '~',
    r`\le `,
    r`\pm `,
  ],
  ...[
    '0',
    '1',
    '12',
    '3.5',
    '1e999',
    '1,000',
    '½',
    '٣',
    '𝟕',
    'x',
    'e',
    'i',
    r`\pi`,
    r`\infty`,
    'NaN',
    'null',
    '"',
    '\\',
    '\n',
    ' ',
  ],
  ...[
    '\u0000',
    '\u200b',
    '\ufeff',
    '\ud800',
    '🙂',
    '__proto__',
    'constructor',
    'toString',
    'up',
    'left',
    'hit',
    'stick',
    '7',
  ],
]

/** Any text, dense in the marks that parsers of answers look for. */
export const anyAnswer: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...TOKENS) }, fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''))

const LONG = 40_000
const NESTINGS = [
  ['[', ']'],
  ['{"a":', '1}'],
  ['{"name": "f", "arguments": ', '{}}'],
  ['(', ')'],
  [r`\left(`, r`\right)`],
  [r`\frac{1}{`, '}'],
  [r`\boxed{`, '}'],
  [r`\sqrt{`, '}'],
  ['<think>', '</think>'],
  ['<tool_call>', '</tool_call>'],
] as const

function mark(): fc.Arbitrary<string> {
  return fc.constantFrom('', ...TOKENS)
}

function nested(part: string): string {
  return part.repeat(Math.ceil(LONG / 2 / part.length))
}

/** Long repetitions that make a backtracking or quadratic reader slow, and nesting that exhausts a recursive one. */
export const longAnswer: fc.Arbitrary<string> = fc
  .oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 3 }), mark(), mark()),
    },
    fc.constantFrom(...NESTINGS).map(([open, close]): [string[], string, string] => [[], nested(open), nested(close)]),
  )
  .map(([parts, before, after]) => {
    const unit = parts.join('')
    return before + (unit === '' ? '' : unit.repeat(Math.ceil(LONG / unit.length))) + after
  })
