// Word problems of our own with the equations that solve them. Nothing here comes from a data set.
import { NAMES, Sheet } from './sheet.mjs'
import { written } from './variants.mjs'

const THINGS =
  'apples marbles stickers books pencils cards shells cookies stamps balloons coins flowers oranges toys crayons eggs muffins beads candies photos'.split(
    ' ',
  )
const PLACES = 'shop farm school bakery market library factory garden camp zoo'.split(' ')
const HOLDERS = 'box bag basket shelf tray jar crate pack'.split(' ')
const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
const FRACTIONS = [
  ['half', 2],
  ['a third', 3],
  ['a quarter', 4],
  ['a fifth', 5],
  ['one-third', 3],
  ['one-fourth', 4],
  ['1/2', 2],
  ['1/3', 3],
  ['1/4', 4],
  ['1/5', 5],
]
const TIMES = [
  ['twice', 2],
  ['two times', 2],
  ['three times', 3],
  ['4 times', 4],
  ['five times', 5],
  ['3 times', 3],
  ['double', 2],
]

/** Something comes and goes. */
function collection(s) {
  const [name, other] = s.different(NAMES, 2)
  const thing = s.of(THINGS)
  let now = s.int(3, 30) * s.of([2, 4, 6, 12])
  let text = s.of([
    `${name} has ${now} ${thing}.`,
    `${name} starts with ${now} ${thing}.`,
    `There are ${now} ${thing} in ${name}'s collection.`,
  ])
  for (let i = s.int(1, 4); i > 0; i--) {
    const kind = s.int(0, 6)
    if (kind === 0) {
      const more = s.int(2, 40)
      text += s.of([
        ` Then ${name} buys ${more} more.`,
        ` ${other} gives ${name} ${more} more ${thing}.`,
        ` ${name} finds another ${more}.`,
      ])
      now = s.step(now, '+', more)
    } else if (kind === 1 && now > 4) {
      const less = s.int(1, now - 2)
      text += s.of([
        ` ${name} gives ${less} to ${other}.`,
        ` ${name} loses ${less} of them.`,
        ` ${less} ${thing} are sold.`,
      ])
      now = s.step(now, '-', less)
    } else if (kind === 2) {
      const [words, by] = s.of(FRACTIONS)
      if (now % by !== 0 || now <= by) continue
      const part = s.step(now, '/', by)
      text += s.of([` ${name} gives ${words} of the ${thing} to ${other}.`, ` Then ${name} loses ${words} of them.`])
      now = s.step(now, '-', part)
    } else if (kind === 3) {
      const [count, each] = [s.int(2, 9), s.int(2, 12)]
      text += ` ${name} buys ${count} packs of ${each} ${thing}.`
      now = s.step(now, '+', s.step(count, '*', each))
    } else if (kind === 4 && now < 150) {
      const [words, by] = s.of(TIMES)
      text += ` ${other} brings ${words} as many ${thing} as ${name} has.`
      now = s.step(now, '+', s.step(now, '*', by))
    } else if (kind === 5 && now > 12) {
      const [days, each] = [s.int(2, 4), s.int(1, Math.floor(now / 5))]
      text += ` ${name} uses ${each} ${thing} a day for ${days} days.`
      now = s.step(now, '-', s.step(each, '*', days))
    } else if (kind === 6 && now % 10 === 0) {
      const percent = s.of([10, 20, 30, 40, 50])
      text += ` ${percent}% of the ${thing} turn out to be broken and are thrown away.`
      now = s.step(now, '-', s.step(now, '*', percent / 100))
    }
  }
  if (s.steps.length === 0) return undefined
  return `${text} ${s.of([`How many ${thing} does ${name} have now?`, `How many ${thing} are left?`, `How many ${thing} does ${name} have in the end?`])}`
}

/** Some have more than others. */
function comparison(s) {
  const people = s.different(NAMES, s.int(2, 4))
  const thing = s.of(THINGS)
  const verb = s.of(['has', 'collected', 'sold', 'made', 'counted'])
  const counts = [s.int(2, 20) * s.of([1, 2, 3, 6])]
  const sentences = []
  for (let i = 1; i < people.length; i++) {
    const from = s.int(0, i - 1)
    const base = counts[from]
    const kind = s.int(0, 4)
    if (kind === 0) {
      const more = s.int(2, 30)
      sentences.push(`${people[i]} ${verb} ${more} more ${thing} than ${people[from]}.`)
      counts.push(s.step(base, '+', more))
    } else if (kind === 1 && base > 3) {
      const less = s.int(1, base - 2)
      sentences.push(`${people[i]} ${verb} ${less} fewer ${thing} than ${people[from]}.`)
      counts.push(s.step(base, '-', less))
    } else if (kind === 2 && base % 2 === 0) {
      sentences.push(`${people[i]} ${verb} half as many ${thing} as ${people[from]}.`)
      counts.push(s.step(base, '/', 2))
    } else if (kind === 3) {
      const [words, by] = s.of(TIMES)
      const more = s.int(2, 9)
      sentences.push(`${people[i]} ${verb} ${more} more than ${words} as many ${thing} as ${people[from]}.`)
      counts.push(s.step(s.step(base, '*', by), '+', more))
    } else {
      const [words, by] = s.of(TIMES)
      sentences.push(`${people[i]} ${verb} ${words} as many ${thing} as ${people[from]}.`)
      counts.push(s.step(base, '*', by))
    }
  }
  const known = `${people[0]} ${verb} ${counts[0]} ${thing}.`
  const text = s.int(0, 1) ? [known, ...sentences].join(' ') : `${sentences.join(' ')} If ${known.slice(0, -1)},`
  const end = text.endsWith(',') ? (t) => t[0].toLowerCase() + t.slice(1) : (t) => t
  const ask = s.int(0, 2)
  if (ask === 0 || people.length === 2) {
    s.sum(...counts)
    return `${text} ${end(s.of([`How many ${thing} do they have altogether?`, `How many ${thing} do the ${people.length} of them have in total?`]))}`
  }
  if (ask === 1) return `${text} ${end(`How many ${thing} does ${people.at(-1)} have?`)}`
  const [high, low] = counts.at(-1) > counts[0] ? [counts.at(-1), counts[0]] : [counts[0], counts.at(-1)]
  if (high === low) return undefined
  s.step(high, '-', low)
  return `${text} ${end(`What is the difference between the number of ${thing} of ${people[0]} and ${people.at(-1)}?`)}`
}

/** Things with prices. */
function shopping(s) {
  const name = s.of(NAMES)
  const things = s.different(THINGS, s.int(1, 3))
  const costs = []
  const parts = things.map((thing) => {
    const [count, price] = [s.int(2, 15), s.int(0, 4) ? s.int(1, 25) : s.int(1, 20) / 2]
    costs.push(s.step(count, '*', price))
    return s.of([
      `${count} ${thing} for $${written(price)} each`,
      `${count} ${thing} that cost $${written(price)} each`,
      `${count} ${thing} at $${written(price)} apiece`,
    ])
  })
  const list = parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
  let text = s.of([`${name} buys ${list}.`, `${name} went to the ${s.of(PLACES)} and bought ${list}.`])
  let total = costs.length > 1 ? s.sum(...costs) : costs[0]
  const kind = s.int(0, 4)
  if (kind === 0) {
    const percent = s.of([10, 20, 25, 50, 5])
    text += s.of([` There is a discount of ${percent}% on everything.`, ` ${name} has a coupon for ${percent}% off.`])
    total = s.step(total, '-', s.step(total, '*', percent / 100))
    return `${text} How much does ${name} pay?`
  }
  if (kind === 1) {
    const bill = Math.ceil((total + s.int(1, 30)) / 10) * 10
    s.step(bill, '-', total)
    return `${text} ${name} pays with $${bill}. How much change does ${name} get?`
  }
  if (kind === 2) {
    const percent = s.of([5, 10, 20])
    total = s.step(total, '+', s.step(total, '*', percent / 100))
    return `${text} Tax adds ${percent}%. How much does ${name} pay in total?`
  }
  if (kind === 3) {
    const week = s.int(2, 6)
    s.step(total, '*', week)
    return `${text} ${name} does this every week. How much does ${name} spend in ${week} weeks?`
  }
  return `${text} How much does ${name} spend in total?`
}

/** Pay by the hour. */
function wage(s) {
  const name = s.of(NAMES)
  const [rate, hours, days] = [s.int(6, 30), s.int(2, 10), s.int(2, 7)]
  let text = s.of([
    `${name} earns $${rate} an hour and works ${hours} hours a day, ${days} days a week.`,
    `${name} works ${days} days a week for ${hours} hours a day and is paid $${rate} per hour.`,
  ])
  const week = s.step(s.step(rate, '*', hours), '*', days)
  const kind = s.int(0, 4)
  if (kind === 0) return `${text} How much does ${name} earn in a week?`
  if (kind === 1) {
    const weeks = s.int(2, 10)
    s.step(week, '*', weeks)
    return `${text} How much does ${name} earn in ${weeks} weeks?`
  }
  if (kind === 2) {
    const cost = s.int(1, Math.floor(week / 10)) * 5
    s.step(week, '-', cost)
    return `${text} Each week ${name} spends $${cost} on rent and food. How much does ${name} save each week?`
  }
  if (kind === 3) {
    const extra = s.int(1, 8)
    const over = s.step(rate, '*', 1.5)
    text += ` For overtime the rate is 1.5 times as high. This week ${name} also worked ${extra} hours of overtime.`
    s.step(week, '+', s.step(over, '*', extra))
    return `${text} How much did ${name} earn this week?`
  }
  const percent = s.of([10, 20, 25])
  s.step(week, '-', s.step(week, '*', percent / 100))
  return `${text} ${percent}% of it is taken for taxes. How much is left each week?`
}

/** Speed, time, distance. */
function travel(s) {
  const name = s.of(NAMES)
  const [speed, hours, faster, more] = [s.int(3, 16) * 5, s.int(2, 8), s.int(1, 5) * 5, s.int(1, 6)]
  const kind = s.int(0, 3)
  if (kind === 0) {
    const first = s.step(speed, '*', hours)
    s.step(first, '+', s.step(s.step(speed, '+', faster), '*', more))
    return `${name} drives at ${speed} miles per hour for ${hours} hours. Then ${name} drives ${faster} miles per hour faster for ${more} hours. How many miles does ${name} drive in total?`
  }
  if (kind === 1) {
    const way = speed * hours
    s.step(way, '/', speed)
    return `A train goes ${way} miles at ${speed} miles per hour. How many hours does it take?`
  }
  if (kind === 2) {
    const way = speed * hours * 2
    s.step(s.step(way, '/', speed), '+', more)
    return `${name} has to travel ${way} miles. The bus goes ${speed} miles per hour, and it stops for ${more} hours in total. How many hours does the journey take?`
  }
  const [miles, days] = [s.int(2, 12), s.int(3, 9)]
  s.step(s.step(s.step(miles, '*', 2), '*', days), '*', more + 1)
  return `${name} walks ${miles} miles to the ${s.of(PLACES)} and ${miles} miles back, ${days} days a week. How many miles does ${name} walk in ${more + 1} weeks?`
}

/** Containers that hold as many. */
function groups(s) {
  const name = s.of(NAMES)
  const thing = s.of(THINGS)
  const holder = s.of(HOLDERS)
  const [count, each] = [s.int(2, 20), s.int(2, 24)]
  const kind = s.int(0, 4)
  if (kind === 0) {
    const [own, wide] = [s.int(2, 9), s.int(2, 8)]
    s.step(s.step(s.step(own, '*', wide), '*', each), '+', count)
    return `A ${s.of(PLACES)} has ${own} rooms. Each room has ${wide} shelves, and each shelf holds ${each} ${thing}. There are ${count} more ${thing} on a table. How many ${thing} are there?`
  }
  if (kind === 1) {
    const left = s.int(1, each - 1)
    const total = count * each + left
    s.step(s.step(total, '-', left), '/', each)
    return `${name} has ${total} ${thing} and puts ${each} into each ${holder}, until ${left} are left. How many does ${name} fill?`
  }
  if (kind === 2) {
    const friends = s.int(2, 9)
    const all = s.step(friends * 2, '*', each)
    s.step(all, '/', friends)
    return `${name} has ${friends * 2} ${holder}${holder.endsWith('x') ? 'es' : 's'} with ${each} ${thing} each and shares all of them equally among ${friends} friends. How many ${thing} does each friend get?`
  }
  if (kind === 3) {
    const price = s.int(2, 15)
    const total = count * each
    s.step(s.step(total, '/', each), '*', price)
    return `A ${holder} with ${each} ${thing} costs $${price}. ${name} needs ${total} ${thing}. How much does ${name} have to pay?`
  }
  const bad = s.int(1, each)
  s.step(s.step(count, '*', each), '-', bad)
  return `There are ${count} ${holder}${holder.endsWith('x') ? 'es' : holder.endsWith('f') ? '' : 's'} with ${each} ${thing} each. ${bad} of the ${thing} are bad. How many good ${thing} are there?`
}

/** Now, then, and how much older. */
function ages(s) {
  const [a, b, c] = s.different(NAMES, 3)
  const [age, more, years] = [s.int(4, 30), s.int(2, 15), s.int(2, 20)]
  const [words, by] = s.of(TIMES)
  const kind = s.int(0, 2)
  if (kind === 0) {
    s.step(s.step(age, '*', by), '+', years)
    return `${a} is ${age} years old. ${b} is ${words === 'double' ? 'twice' : words} as old as ${a}. How old will ${b} be in ${years} years?`
  }
  if (kind === 1) {
    const second = s.step(age, '+', more)
    s.sum(age, second, s.step(second, '*', 2))
    return `${a} is ${more} years older than ${b}, and ${c} is twice as old as ${a}. If ${b} is ${age}, what is the sum of their ages?`
  }
  s.step(s.step(s.step(age + years, '-', years), '+', more), '*', 2)
  return `In ${years} years ${a} will be ${age + years} years old. ${b} is ${more} years older than ${a}, and ${c} is twice as old as ${b}. How old is ${c} now?`
}

/** A task that is done bit by bit. */
function progress(s) {
  const name = s.of(NAMES)
  const [first, second] = s.different(DAYS, 2)
  const done = s.int(2, 20) * 2
  const total = done * s.int(5, 9)
  const unit = s.of(['pages', 'lines', 'miles', 'bricks', 'words'])
  const job = {
    pages: 'read a book of',
    lines: 'learn a poem of',
    miles: 'hike a trail of',
    bricks: 'lay a wall of',
    words: 'type a text of',
  }[unit]
  const [words, by] = s.of([
    ['twice as many', 2],
    ['half as many', 0.5],
    ['three times as many', 3],
  ])
  const then = by < 1 ? s.step(done, '/', 2) : s.step(done, '*', by)
  const left = s.step(total, '-', s.step(done, '+', then))
  const text = `${name} has to ${job} ${total} ${unit}. On ${first} ${name} does ${done} ${unit}, and on ${second} ${words}.`
  const days = [2, 3, 4, 5, 6].find((n) => left % n === 0)
  if (days === undefined || s.int(0, 2) === 0) return `${text} How many ${unit} are left?`
  s.step(left, '/', days)
  return `${text} The rest is done in ${days} equal parts. How many ${unit} are in each part?`
}

/** A part of a whole, by fraction or percent. */
function shares(s) {
  const thing = s.of(['students', 'people', 'animals', 'cars', 'workers', 'trees', 'guests'])
  const percent = s.of([10, 20, 25, 30, 40, 60, 75])
  const total = s.int(2, 15) * 20
  const part = s.step(total, '*', percent / 100)
  const place = s.of(PLACES)
  const text = `There are ${total} ${thing} at a ${place}. ${percent}% of them leave at noon`
  const kind = s.int(0, 2)
  if (kind === 0) {
    s.step(total, '-', part)
    return `${text}. How many stay?`
  }
  const rest = s.step(total, '-', part)
  const by = [2, 3, 4, 5].find((n) => rest % n === 0)
  if (!by) return `${text}. How many stay?`
  const late = s.step(rest, '/', by)
  const word = { 2: 'half', 3: 'a third', 4: 'a quarter', 5: 'a fifth' }[by]
  if (kind === 1) return `${text}, and ${word} of the rest leave in the evening. How many leave in the evening?`
  s.step(rest, '-', late)
  return `${text}, and ${word} of the rest leave in the evening. How many are left?`
}

/** One computation, said outright. */
function drill(s) {
  const kind = s.int(0, 5)
  const [a, b] = [s.int(2, 999), s.int(2, 99)]
  if (kind === 0) s.step(a, '+', s.int(2, 999))
  else if (kind === 1) s.step(a + b, '-', b)
  else if (kind === 2) s.step(s.int(2, 99), '*', s.int(2, 12))
  else if (kind === 3) s.step(s.int(2, 99), '*', s.int(2, 99))
  else if (kind === 4) s.step(s.int(2, 99) * (b % 12 || 12), '/', b % 12 || 12)
  else s.step(s.int(1, 40) * 10, '*', s.int(1, 19) / 20)
  const left = s.steps[0].split('=')[0]
  return s.of([`What is ${left}?`, `Calculate ${left}.`, `${left} = ?`])
}

const KINDS = [
  collection,
  collection,
  comparison,
  comparison,
  shopping,
  shopping,
  wage,
  travel,
  groups,
  groups,
  ages,
  progress,
  shares,
  drill,
]

/** A problem, its equations and its result. */
export function story(random) {
  for (;;) {
    const sheet = new Sheet(random)
    const question = sheet.of(KINDS)(sheet)
    if (question && sheet.steps.length > 0)
      return { question, steps: sheet.steps, result: sheet.steps.at(-1).split('=')[1] }
  }
}
