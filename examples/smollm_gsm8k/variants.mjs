// Training questions of GSM8K with other numbers: the equations of the solution say how the answer depends on them.

const CONSTANTS = new Set([0.01, 0.5, 1, 2, 100, 1000])
const WORDS = new Map(
  Object.entries({
    one: 1,
    single: 1,
    once: 1,
    two: 2,
    twice: 2,
    double: 2,
    doubled: 2,
    half: 2,
    pair: 2,
    second: 2,
    three: 3,
    thrice: 3,
    triple: 3,
    third: 3,
    four: 4,
    quarter: 4,
    fourth: 4,
    five: 5,
    fifth: 5,
    six: 6,
    sixth: 6,
    seven: 7,
    week: 7,
    weeks: 7,
    weekly: 7,
    daily: 7,
    eight: 8,
    nine: 9,
    ten: 10,
    tenth: 10,
    eleven: 11,
    twelve: 12,
    dozen: 12,
    dozens: 12,
    year: 12,
    years: 12,
    month: 12,
    months: 12,
    feet: 12,
    foot: 12,
    inches: 12,
    day: 24,
    days: 24,
    hours: 24,
    hour: 60,
    hourly: 60,
    minute: 60,
    minutes: 60,
    seconds: 60,
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    hundred: 100,
    mph: 60,
  }),
)
const close = (a, b) => Math.abs(a - b) < 1e-6
/** Digits after the point; 9 if there are more than four. */
const places = (value) => [0, 1, 2, 3, 4].find((n) => close(value * 10 ** n, Math.round(value * 10 ** n))) ?? 9
export const written = (value) => String(Number(value.toFixed(4)))

/** "48/2=24" for each step; undefined where a step cannot be read. */
export function equations(answer) {
  const found = [...answer.matchAll(/<<([^<>]*)>>/g)].map((match) =>
    match[1].replaceAll(/[\s,$]/g, '').replaceAll(/(?<![\d.])\.(?=\d)/g, '0.'),
  )
  return found.every((one) => /^[-+*/().\d]+=-?[\d.]+$/.test(one)) && found.length > 0 ? found : undefined
}

/** What follows ####. */
export const final = (answer) => answer.split('####')[1].trim().replaceAll(',', '')

/** The solution as equations alone: few tokens, and each a step of the computation. */
export const brief = (steps, result) => `${steps.join('\n')}\n#### ${result}`

function evaluate(parts) {
  let at = 0
  const sum = () => {
    let value = product()
    while (parts[at] === '+' || parts[at] === '-') value = parts[at++] === '+' ? value + product() : value - product()
    return value
  }
  const product = () => {
    let value = atom()
    while (parts[at] === '*' || parts[at] === '/') value = parts[at++] === '*' ? value * atom() : value / atom()
    return value
  }
  const atom = () => {
    const part = parts[at++]
    if (part === '-') return -atom()
    if (part !== '(') return typeof part === 'number' ? part : Number.NaN
    const value = sum()
    return parts[at++] === ')' ? value : Number.NaN
  }
  const value = sum()
  return at === parts.length ? value : Number.NaN
}

/** How a question's answer follows from its numbers, or undefined where that is not certain. */
export function understand({ question, answer }) {
  const texts = equations(answer)
  if (!texts) return undefined
  const words = new Set((question.toLowerCase().match(/[a-z]+/g) ?? []).map((word) => WORDS.get(word)))
  const numbers = [...question.matchAll(/(?<![\w./:-])\d[\d,]*(?:\.\d+)?(?![\w/:-]|\.\d|,\d)/g)].map((match) => {
    const text = match[0].replace(/,$/, '')
    return {
      text,
      at: match.index,
      value: Number(text.replaceAll(',', '')),
      percent: question[match.index + text.length] === '%',
      used: false,
    }
  })
  // 20% is also 0.2, and a price 20% lower is 0.8 of it
  const shares = numbers.flatMap(({ percent, value }) =>
    percent ? [value / 100, 1 - value / 100, 1 + value / 100, 100 - value, 100 + value] : [],
  )
  const steps = []
  for (const text of texts) {
    const [left, right] = text.split('=')
    const parts = (left.match(/[\d.]+|[-+*/()]/g) ?? []).map((part) => {
      if (!/\d/.test(part)) return part
      const value = Number(part)
      const ofSteps = steps.filter((step) => close(step.result, value))
      const ofQuestion = numbers.filter((number) => close(number.value, value))
      const sources = [...ofSteps, ...ofQuestion]
      const unused = sources.filter(({ used }) => !used)
      // a number that could be two things is the one which nothing has used yet
      const source = sources.length === 1 ? sources[0] : unused.length === 1 ? unused[0] : undefined
      if (sources.length > 0 && !source) return { unclear: true }
      if (!source)
        return CONSTANTS.has(value) || words.has(value) || shares.some((one) => close(one, value))
          ? { value }
          : { unclear: true }
      source.used = true
      return steps.includes(source) ? { step: steps.indexOf(source) } : { number: numbers.indexOf(source) }
    })
    if (parts.some((part) => part.unclear)) return undefined
    steps.push({ parts, result: Number(right), used: false })
  }
  if (!close(steps.at(-1).result, Number(final(answer)))) return undefined
  const free = numbers.flatMap(({ used, value }, i) =>
    used &&
    ![1, 2, 100].includes(value) &&
    !words.has(value) &&
    numbers.filter((other) => other.value === value).length === 1
      ? [i]
      : [],
  )
  const plan = { question, numbers, steps, free }
  const same = solve(
    plan,
    numbers.map(({ value }) => value),
  )
  return free.length > 0 && same && same.every(({ value }, i) => close(value, steps[i].result)) ? plan : undefined
}

/** Value and text of each step with these numbers. */
function solve({ steps }, values) {
  const results = []
  for (const { parts } of steps) {
    const filled = parts.map((part) =>
      typeof part === 'string'
        ? part
        : (part.value ?? (part.step === undefined ? values[part.number] : results[part.step].value)),
    )
    const value = evaluate(filled)
    if (!Number.isFinite(value)) return undefined
    results.push({
      value,
      text: `${filled.map((part) => (typeof part === 'string' ? part : written(part))).join('')}=${written(value)}`,
    })
  }
  return results
}

function draw({ value, percent }, random) {
  const between = (low, high) => Math.ceil(low) + random.below(Math.max(0, Math.floor(high) - Math.ceil(low)))
  if (percent) return value % 5 === 0 ? 5 * between(1, 19) : between(2, 98)
  const digits = places(value)
  if (digits > 0) return between(Math.ceil(value * 2), Math.ceil(value * 8)) / 4
  const unit =
    value >= 1000 && value % 100 === 0
      ? 100
      : value >= 50 && value % 10 === 0
        ? 10
        : value >= 20 && value % 5 === 0
          ? 5
          : 1
  return unit * between(Math.max(2, value / unit / 2.5), Math.max(4, (value / unit) * 2.5))
}

/** The question with other numbers and the equations that solve it, or undefined where none were found. */
export function vary(plan, random) {
  for (let attempt = 0; attempt < 60; attempt++) {
    const values = plan.numbers.map((number, i) => (plan.free.includes(i) ? draw(number, random) : number.value))
    const results = solve(plan, values)
    const fits = results?.every(({ value }, i) => {
      const before = plan.steps[i].result
      return (
        value > 0 &&
        places(value) <= places(before) &&
        (before >= 1 ? value >= 1 : value < 1) &&
        value <= Math.max(100, before * 8)
      )
    })
    if (!fits) continue
    let question = ''
    let end = 0
    plan.numbers.forEach(({ at, text }, i) => {
      question += plan.question.slice(end, at)
      question += plan.free.includes(i)
        ? text.includes(',')
          ? values[i].toLocaleString('en-US')
          : shown(values[i], text)
        : text
      end = at + text.length
    })
    question += plan.question.slice(end)
    return { question, steps: results.map(({ text }) => text), result: written(results.at(-1).value) }
  }
  return undefined
}

const shown = (value, like) => (/\.\d\d$/.test(like) ? value.toFixed(2) : written(value))
