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

/** What stands for a `$name` in the tools below; `$name2` and `$name3` are others of the same. */
const WORDS = {
  item: items,
  city: 'Paris Rome Oslo Cairo Lima Tokyo Delhi Quito Vienna Boston Madrid Dublin Sydney Prague Lagos Hanoi'.split(' '),
  country: 'France Italy Norway Egypt Peru Japan India Kenya Chile Spain Canada Greece Brazil Poland'.split(' '),
  person: 'Anna Ben Clara David Emma Felix Grace Hugo Irene Jonas Karen Leo Maria Nora Oscar Paula'.split(' '),
  animal: 'horse cat dog whale eagle tiger sheep goat frog bee bear wolf rabbit duck camel snake'.split(' '),
  color: 'red green blue yellow white black brown orange purple pink grey silver'.split(' '),
  sky: 'sunny|light rain|heavy snow|fog in the morning|cloudy|a storm|clear and cold|warm and windy'.split('|'),
  day: 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' '),
  month: 'January February March April May June July August September October November December'.split(' '),
  code: Array.from({ length: 60 }, (_, i) => `${'KTRBXQ'[i % 6]}${'AZMWE'[i % 5]}${101 + i * 13}`),
  number: Array.from({ length: 990 }, (_, i) => String(10 + i)),
}

// name: [description, argument and what it is such as, what is given, what comes back, questions]
const TOOLS = {
  weather: [
    'Forecast for a city',
    'city',
    '$city',
    '$sky',
    'Do I need a coat in $city?',
    'Will it rain in $city today?',
  ],
  capital: ['Seat of government', 'country', '$country', '$city', 'From which city is $country governed?'],
  population: ['Number of people who live in a place', 'place', '$city', '$number3', 'How big is $city?'],
  age: ['How many years old someone is', 'person', '$person', '$number3', 'When was $person born, in years ago?'],
  home: ['City in which a person lives', 'name', '$person', '$city2', 'Where can I visit $person?'],
  phone: ['Looks up a telephone number', 'person', '$person', '$number3', 'How do I call $person?'],
  job: ['Profession of a person', 'who', '$person', 'a $color $animal keeper', 'What does $person do for a living?'],
  birthday: ['Day of birth', 'person', '$person', '$day in $month', 'When do we have a party for $person?'],
  stock: ['Number of pieces in the store', 'product', '$item', '$number3', 'Is there any $item left?'],
  shelf: ['Place of a product in the store', 'product', '$item', 'row $number3', 'Where do I find the $item?'],
  weight: [
    'Grams of one thing',
    'thing',
    '$item',
    '$number3',
    'How heavy is a $item?',
    'What does the scale say for a $item?',
  ],
  paint: ['Color of a thing', 'object', '$item', '$color', 'What does the $item look like?'],
  barcode: ['Finds the code of a product', 'product', '$item', '$code', 'What is printed under the $item?'],
  describe: [
    'Says what a code stands for',
    'code',
    '$code',
    '$color $item3',
    'What is meant by $code?',
    'Explain $code.',
  ],
  parcel: ['Where a parcel is', 'tracking', '$code', '$city', 'Has $code arrived yet?', 'I am waiting for $code.'],
  owner: ['Person to whom something belongs', 'thing', '$item', '$person', 'Whose $item is this?'],
  recipe: ['Dish made of an ingredient', 'ingredient', '$item', '$item2 pie', 'What can I cook with $item?'],
  translate: [
    'Word in another language',
    'text',
    '$item to $country',
    '$animal',
    'How do people in $country say $item?',
  ],
  spell: ['Letters of a word', 'word', '$animal', '$code', 'How is $animal written?'],
  sound: ['Noise of an animal', 'animal', '$animal', 'a $color noise', 'What do I hear from a $animal?'],
  speed: [
    'How fast an animal runs',
    'animal',
    '$animal',
    '$number3',
    'Can a $animal catch me?',
    'How quick is a $animal?',
  ],
  food: ['What an animal eats', 'animal', '$animal', '$item', 'What shall I feed to my $animal?'],
  holiday: ['Free days of a month', 'month', '$month', '$day', 'When can I stay in bed in $month?'],
  menu: ['Lunch of a day', 'day', '$day', '$item and $item2', 'What will we eat on $day?'],
  hours: ['Time at which the shop is open', 'day', '$day', 'until $number3', 'Can I come on $day?'],
  anthem: ['Song of a country', 'country', '$country', 'The $color $animal', 'What do they sing in $country?'],
  page: ['Opens a book at a page', 'number', '$number', '$animal and $item', 'What do I read on sheet $number?'],
  room: ['Guest of a hotel room', 'number', '$number', '$person', 'Who sleeps behind door $number?'],
  bus: ['Last stop of a bus', 'line', '$number', '$city', 'Where does the $number take me?'],
  compare: [
    'Tests two numbers',
    'formula: such as 12 > 7',
    '$number > $number2',
    isMore,
    'Is $number more than $number2?',
  ],
  order: [
    'Tests whether a number is smaller',
    'test: such as 3 < 5',
    '$number < $number2',
    isMore,
    'Is $number below $number2?',
  ],
  ratio: [
    'Name of a mixture',
    'formula: such as 36 : 9',
    '$number : $number2',
    '$color',
    'Mix $number parts with $number2 parts.',
  ],
  pick: [
    'Draws a number',
    'range: such as 10..20',
    '$number..$number2',
    '$number3',
    'Any number from $number to $number2?',
  ],
  seat: [
    'Who has a seat',
    'place: such as 4/17',
    '$number/$number2',
    '$person',
    'Who is in row $number, chair $number2?',
  ],
  screen: [
    'Name of a screen size',
    'size: such as 640 x 480',
    '$number x $number2',
    '$color',
    'I have $number by $number2 dots.',
  ],
  route: [
    'Finds the way',
    'way: such as Paris - Rome',
    '$city - $city2',
    'via $city3',
    'How do I get from $city to $city2?',
  ],
  flight: ['Next plane', 'trip: such as Lima > Oslo', '$city > $city2', '$code', 'I want to fly from $city to $city2.'],
  match: [
    'Result of a game',
    'teams: such as Peru v Chile',
    '$country v $country2',
    '$person',
    'Who won, $country or $country2?',
  ],
  blend: [
    'Mixes two colors',
    'colors: such as red & blue',
    '$color & $color2',
    '$color3',
    'I stir $color into $color2.',
  ],
  shift: [
    'Moves the letters of a word',
    'text: such as cat by 3',
    '$item by $number',
    '$code',
    'Hide $item with the key $number.',
  ],
  meeting: [
    'Finds a time for two',
    'who: such as Ben + Leo',
    '$person + $person2',
    '$day',
    'When can $person see $person2?',
  ],
}

// a question, the two calls that it needs, and what is given to each: the second is given the `$result` of the first
const CHAINS = [
  ['What is the thing with the label of the $item?', 'barcode', '$item', 'describe', '$result'],
  ['Do I need a coat where $person lives?', 'home', '$person', 'weather', '$result'],
  ['How do I get from $city to $person?', 'home', '$person', 'route', '$city - $result'],
  ['I want to fly from $city to the place of $person.', 'home', '$person', 'flight', '$city > $result'],
  ['Is $person more than $number years old?', 'age', '$person', 'compare', '$result > $number'],
  ['Is a $item lighter than $number grams?', 'weight', '$item', 'order', '$result < $number'],
  ['Are there more than $number pieces of $item left?', 'stock', '$item', 'compare', '$result > $number'],
  ['Mix $number parts with as many as a $item is heavy.', 'weight', '$item', 'ratio', '$number : $result'],
  ['Any number from $number to the people of $city?', 'population', '$city', 'pick', '$number..$result'],
  ['How many people live where $country is governed?', 'capital', '$country', 'population', '$result'],
  ['I stir the color of the $item into $color.', 'paint', '$item', 'blend', '$result & $color'],
  ['How old is the one who has the $item?', 'owner', '$item', 'age', '$result'],
  ['How do I call the guest behind door $number?', 'room', '$number', 'phone', '$result'],
  ['When can $person see the one who has the $item?', 'owner', '$item', 'meeting', '$person + $result'],
  ['How heavy is what a $animal eats?', 'food', '$animal', 'weight', '$result'],
  ['Hide $item with the speed of a $animal as the key.', 'speed', '$animal', 'shift', '$item by $result'],
]

function isMore(formula) {
  const [a, sign, b] = formula.split(' ')
  return String(sign === '>' ? Number(a) > Number(b) : Number(a) < Number(b))
}

function shuffled(list) {
  const rest = [...list]
  return list.map(() => rest.splice(below(rest.length), 1)[0])
}

function toolOf(name) {
  const [description, takes] = TOOLS[name]
  const [, argument, hint] = /^(\w+)(?:: (.*))?$/.exec(takes)
  const properties = { [argument]: { type: 'string', ...(hint && { description: hint }) } }
  const parameters = { type: 'object', properties, required: [argument], additionalProperties: false }
  return { type: 'function', function: { name, description, parameters } }
}

/** How a call is written and a tool is chosen, with made-up tools: what is asked in the tasks is shown nowhere. */
function lesson() {
  const words = {}
  for (const [name, list] of Object.entries(WORDS)) {
    const [one, two, three] = shuffled(list)
    Object.assign(words, { [name]: one, [`${name}2`]: two, [`${name}3`]: three })
  }
  const filled = (text) => text.replace(/\$(\w+)/g, (_, name) => words[name])

  const single = any(Object.keys(TOOLS))
  const [, , given, , ...questions] = TOOLS[single]
  const [question, ...needs] = below(3) === 0 ? any(CHAINS) : [any(questions), single, given]
  const messages = [{ role: 'user', content: filled(question) }]
  const names = []
  for (let at = 0; at < needs.length; at += 2) {
    const name = needs[at]
    const [argument] = toolOf(name).function.parameters.required
    const value = filled(needs[at + 1])
    const gives = TOOLS[name][3]
    words.result = typeof gives === 'string' ? filled(gives) : gives(value)
    const call = `<tool_call>{"name": "${name}", "arguments": {"${argument}": "${value}"}}</tool_call>`
    messages.push({ role: 'assistant', content: call }, { role: 'tool', content: words.result })
    names.push(name)
  }
  messages.push({ role: 'assistant', content: words.result })

  const others = shuffled(Object.keys(TOOLS).filter((name) => !names.includes(name)))
  const listed = [...names, ...others].slice(0, 2 + below(2))
  return { tools: shuffled(listed).map(toolOf), messages }
}

const lines = (count, one) => Array.from({ length: count }, () => `${JSON.stringify(one())}\n`).join('')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'train.jsonl'), lines(6000, task))
writeFileSync(join(folder, 'test.jsonl'), lines(200, task))
writeFileSync(join(folder, 'lessons.jsonl'), lines(512, lesson))
