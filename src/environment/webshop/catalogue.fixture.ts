import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A catalogue of our own in the original's form: sixty things that nobody sells, and what is odd about real ones. */

const THINGS: readonly (readonly [thing: string, category: string, path: string])[] = [
  ['Lamp', 'garden', 'Home & Kitchen › Lighting › Lamps'],
  ['Shampoo', 'beauty', 'Beauty › Hair Care › Shampoos'],
  ['Kettle', 'garden', 'Home & Kitchen › Kitchen › Kettles'],
  ['Sneakers', 'fashion', 'Clothing, Shoes & Jewelry › Men › Shoes'],
  ['Granola', 'grocery', 'Grocery › Breakfast Foods › Granola'],
  ['Headphones', 'electronics', 'Electronics › Headphones › Over-Ear'],
]
const ADJECTIVES = [
  'Wooden',
  'Quiet',
  'Organic',
  'Folding',
  'Bright',
  "Traveler's",
  'Waterproof',
  'Hand-made',
  '2-in-1',
  'Naïve',
]
const USES = ['living room', 'dry hair', 'long walks', 'busy mornings', 'small kitchens', "children's parties"]
const COLORS = ['Navy Blue', 'Dark Red', 'White/Black', 'Mint', 'color 7"', 'Grün']
const SIZES = ['Small', 'X-Large', '12 oz (Pack of 2)', '30x40cm']
const ATTRIBUTES = ['easy to clean', 'gluten free', 'long lasting', 'water resistant', 'noise cancelling', 'tea tree']

const choice = <T>(list: readonly T[], at: number) => list[at % list.length]

function item(i: number) {
  const [thing, category, path] = choice(THINGS, i)
  const adjective = choice(ADJECTIVES, i * 7)
  const use = choice(USES, i * 5 + Math.floor(i / 6))
  const values = (list: readonly string[], from: number) =>
    list.slice(from % 3, (from % 3) + 3).map((value) => ({ value: ` ${value} `, asin: '', image: null }))
  const customization: Record<string, unknown> = {
    Color: values(COLORS, i),
    Size: i % 3 === 0 ? values(SIZES, i) : null,
    ...(i % 20 === 7 && { 'Fit [cm]': [{ value: 'wide [new]' }, { value: 'Mint' }] }),
  }
  return {
    asin: `B0${String(7 * i + 100).padStart(3, '0')}TEST${'XYZ'[i % 3]}`,
    name: `${choice(['Alba', 'Borea', 'Corvo'], i)} ${adjective} ${thing} for ${use}${i % 11 === 0 ? ' ★ 100% new' : ''}`,
    full_description: [
      `A ${adjective.toLowerCase()} ${thing.toLowerCase()} that runs and runs. It is made for ${use}, and for nothing else.`,
      i % 4 === 0 ? `It's <b>not</b> a toy & weighs ${i}.${i % 10} kg.` : '',
      i % 13 === 5 ? '日本語の説明 カタカナ 👍🏽 caf\u00e9' : '',
    ].join(' '),
    small_description: i % 17 === 3 ? `${choice(ATTRIBUTES, i)} only` : bullets(i),
    pricing: ['$19.99', '$5.49$12.5', '', '$1,299.00', '$40'][i % 5],
    customization_options: i % 4 === 1 ? '' : customization,
    images: ['https://example.org/i.jpg'],
    category,
    query: ` ${thing}s ${i % 2 === 0 ? 'for ' : ''}${use} `,
    product_category: path,
  }
}

function bullets(i: number): string[] {
  return [
    `${choice(ATTRIBUTES, i)}: as good on day ${i} as on the first`,
    `Fits ${choice(USES, i)}; 3.5'' x 2"`,
    ...(i % 6 === 2 ? ['', '  '] : []),
  ]
}

/** As `items_shuffle.json`: some of the records are left out when it is read. */
export function rawItems() {
  const items = Array.from({ length: 60 }, (_, i) => item(i))
  return [...items.slice(0, 30), { ...item(3), name: 'seen before' }, { ...item(1), asin: 'nan' }, ...items.slice(30)]
}

/** As `items_ins_v2.json`. */
export function rawAttributes() {
  const entries = rawItems().map(({ asin, query }, i) => {
    const attributes = [choice(ATTRIBUTES, i), choice(ATTRIBUTES, i + 2)]
    const made = { instruction: `Find me ${attributes[0]} ${query.trim()}`, instruction_attributes: attributes }
    return [asin, { attributes, ...(i % 5 !== 0 && made) }]
  })
  return Object.fromEntries(entries.slice(0, 55))
}

/** As `items_human_ins.json`. */
export function rawInstructions() {
  const wishes = (i: number) => [
    {
      instruction: `i want ${choice(ADJECTIVES, i * 7).toLowerCase()} ${choice(THINGS, i)[0].toLowerCase()}...`,
      instruction_attributes: [choice(ATTRIBUTES, i)],
      instruction_options: i % 4 === 1 ? [] : [choice(COLORS, (i % 3) + 1).toLowerCase()],
    },
    { instruction: 'anything', instruction_attributes: [], instruction_options: [] },
    ...(i % 9 === 0
      ? [{ instruction: 'a second wish', instruction_attributes: ['tea tree'], instruction_options: ['mint'] }]
      : []),
  ]
  return Object.fromEntries(Array.from({ length: 20 }, (_, i) => [item(3 * i).asin, wishes(3 * i)]))
}

/** Writes the three files into a folder, a new one if none is given. */
export function writeCatalogue(folder = mkdtempSync(join(tmpdir(), 'trinity-webshop-'))): string {
  writeFileSync(join(folder, 'items_shuffle.json'), JSON.stringify(rawItems()))
  writeFileSync(join(folder, 'items_ins_v2.json'), JSON.stringify(rawAttributes()))
  writeFileSync(join(folder, 'items_human_ins.json'), JSON.stringify(rawInstructions()))
  return folder
}
