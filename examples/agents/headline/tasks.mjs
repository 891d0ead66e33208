// Makes the tasks, and lessons that show the form of a call: node tasks.mjs FOLDER
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pcg64 } from 'trinity-rft'

const folder = process.argv[2] ?? 'made'
const items =
  `apple pear plum lemon melon grape onion carrot potato tomato pepper bean bread cheese butter egg rice pasta
  salt sugar honey tea coffee milk juice pen book lamp chair table cup plate spoon knife soap towel brush rope nail`.split(
    /\s+/,
  )
const random = new Pcg64(11)
const below = (n) => random.below(n - 1)
const any = (list) => list[below(list.length)]

/** A sum, a price, or a price and then a sum; the numbers are too large to be known by heart. */
function task() {
  const prices = Object.fromEntries(items.map((item) => [item, 11 + below(89)]))
  const item = any(items)
  const kind = below(3)
  if (kind === 0) {
    const [a, b] = [11 + below(89), 11 + below(89)]
    const sign = any(['*', '+', '-'])
    const words = { '*': `${a} times ${b}`, '+': `${a} plus ${b}`, '-': `${a} minus ${b}` }[sign]
    const truth = { '*': a * b, '+': a + b, '-': a - b }[sign]
    return made(`What is ${words}?`, prices, truth, [['calculator', { expression: `${a} ${sign} ${b}` }]])
  }
  const look = ['price', { item }]
  if (kind === 1) return made(`What is the price of one ${item}?`, prices, prices[item], [look])
  const count = 3 + below(20)
  const sum = ['calculator', { expression: `${count} * ${prices[item]}` }]
  return made(`How much are ${count} pieces of ${item}?`, prices, count * prices[item], [look, sum])
}

function made(question, prices, truth, needs) {
  return { question, prices, truth: String(truth), needs: needs.map(([tool, given]) => ({ tool, given })) }
}

const TOOLS = {
  weather: 'city',
  capital: 'country',
  translate: 'word',
  reverse: 'text',
  count: 'letters',
  color: 'thing',
}

/** How a call is written, with made-up tools: what is asked in the tasks is shown nowhere. */
function lesson() {
  const names = Object.keys(TOOLS)
  const at = below(names.length)
  const [name, other] = [names[at], names[(at + 1 + below(names.length - 1)) % names.length]]
  const word = any(items)
  const result = `${any(items)} ${any(items)}`
  const listed = random.random() < 0.5 ? [name, other] : [other, name]
  return {
    tools: listed.map((one) => ({
      type: 'function',
      function: {
        name: one,
        description: `Tells the ${one}`,
        parameters: { type: 'object', properties: { [TOOLS[one]]: { type: 'string' } }, required: [TOOLS[one]] },
      },
    })),
    messages: [
      { role: 'user', content: `What is the ${name} of ${word}?` },
      {
        role: 'assistant',
        content: `<tool_call>{"name": "${name}", "arguments": {"${TOOLS[name]}": "${word}"}}</tool_call>`,
      },
      { role: 'tool', content: result },
      { role: 'assistant', content: result },
    ],
  }
}

const lines = (count, one) => Array.from({ length: count }, () => `${JSON.stringify(one())}\n`).join('')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'train.jsonl'), lines(6000, task))
writeFileSync(join(folder, 'test.jsonl'), lines(200, task))
writeFileSync(join(folder, 'lessons.jsonl'), lines(256, lesson))
