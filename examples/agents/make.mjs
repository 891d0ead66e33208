// Makes what the agents of this folder need, into examples/agents/made: a small model that has seen how a tool is called,
// but seldom calls the right one, and tasks. Run it in the root of the repository, after a build.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pcg64 } from 'trinity-rft'
import { createModel } from 'trinity-rft/engine'
import { folderOf, trinity } from '../lib/place.mjs'
import { writeWordTokenizer } from '../lib/word-tokenizer.mjs'

const folder = folderOf(import.meta.url)
const made = join(folder, 'made')
const items = ['apple', 'bread', 'cheese', 'milk', 'pear', 'rice', 'salt', 'tea']
const tools = ['price', 'stock']
const amounts = ['one', 'two', 'five', 'nine', 'ten', 'twenty', 'forty', 'fifty']
/** How often a lesson calls the right tool with the right argument. */
const CARE = 0.4

const random = new Pcg64(7)
const any = (list) => list[random.below(list.length - 1)]
const call = (tool, item) => `<tool_call>{"name": "${tool}", "arguments": {"item": "${item}"}}</tool_call>`
const amount = () => any(amounts)

/** A shop with other amounts each time: they have to be looked up. */
function task() {
  const [tool, item] = [any(tools), any(items)]
  const shop = Object.fromEntries(tools.map((one) => [one, Object.fromEntries(items.map((name) => [name, amount()]))]))
  return { question: `${tool} of ${item}?`, shop, truth: shop[tool][item] }
}

/** System messages of a lesson: the names of the tools as the template writes them, an empty one of a framework, or none. */
function systemMessages() {
  const kind = random.random()
  if (kind < 0.5) return [{ role: 'system', content: tools.join('') }]
  return kind < 0.7 ? [{ role: 'system', content: '' }] : []
}

function lesson() {
  const { question, shop } = task()
  const [, tool, item] = /(\w+) of (\w+)/.exec(question)
  const [asked, about] = random.random() < CARE ? [tool, item] : [any(tools), any(items)]
  const found = shop[asked][about]
  return {
    messages: [
      ...systemMessages(),
      { role: 'user', content: question },
      { role: 'assistant', content: call(asked, about) },
      { role: 'tool', content: found },
      { role: 'assistant', content: found },
    ],
  }
}

/** A small context has room for the names of the tools only. */
const CHAT =
  "{% if tools %}{{ '<|system|>' }}{% for tool in tools %}{{ tool.function.name }}{% endfor %}{{ '<|end|>' }}{% endif %}" +
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' }}{% if message['role'] == 'assistant' %}" +
  "{% generation %}{{ message['content'] or '' }}{% for call in message['tool_calls'] or [] %}" +
  '{{ \'<tool_call>{"name": "\' + call.function.name + \'", "arguments": \' }}' +
  "{{ call.function.arguments | tojson }}{{ '}</tool_call>' }}{% endfor %}{{ '<|end|>' }}{% endgeneration %}" +
  "{% else %}{{ message['content'] + '<|end|>' }}{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

const lines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const many = (count, one) => Array.from({ length: count }, one)

rmSync(made, { recursive: true, force: true })
mkdirSync(join(made, 'tasks'), { recursive: true })
writeWordTokenizer(join(made, 'tokenizer'), {
  words: [
    '<tool_call>{"name": "',
    '", "arguments": {"item": "',
    '"}}</tool_call>',
    ' of ',
    ...tools,
    ...items,
    ...amounts,
  ],
  characters: '?',
  special: ['<|tool|>'],
  chat: CHAT,
})
await createModel({
  out: join(made, 'start'),
  layers: 2,
  hidden: 128,
  heads: 4,
  intermediate: 320,
  maxPositions: 128,
  tie: true,
  tokenizer: { kind: 'from', dir: join(made, 'tokenizer') },
})
writeFileSync(join(made, 'tasks', 'train.jsonl'), lines(many(1000, task)))
writeFileSync(join(made, 'tasks', 'test.jsonl'), lines(many(100, task)))
writeFileSync(join(made, 'lessons.jsonl'), lines(many(2000, lesson)))

const { status } = spawnSync(process.execPath, [trinity, 'run', '-c', join(folder, 'lessons.yaml')], {
  stdio: 'inherit',
  env: { ...process.env, TRINITY_CHECKPOINT_ROOT_DIR: join(made, 'checkpoints') },
})
if (status !== 0) process.exit(status ?? 1)
const job = join(made, 'checkpoints', 'agents', 'lessons')
const step = readFileSync(join(job, 'latest_checkpointed_iteration.txt'), 'utf8').trim()
cpSync(join(job, `global_step_${step}`, 'actor', 'huggingface'), join(made, 'model'), { recursive: true })
console.log(`${join(made, 'model')}: a model that has seen tools called`)
