/** A receptacle of a made-up house: its kind, where it stands, and what is in it. */
export interface Furniture {
  readonly kind: string
  readonly at: number
  readonly isClosed?: boolean
  /** Kinds of objects; a number behind a kind names the same object again. */
  readonly holds?: readonly string[]
}

export interface House {
  readonly name: string
  readonly task: string
  readonly goal: string
  readonly start: number
  readonly furniture: readonly Furniture[]
  /** Commands that lead to texts which chance rarely finds. */
  readonly tour?: readonly string[]
  /** Further facts, with objects as `Kind#number`. */
  readonly facts?: readonly string[]
}

const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  cleanable: ['Apple', 'Plate', 'Mug', 'Knife', 'SoapBar'],
  heatable: ['Apple', 'Mug', 'Plate'],
  coolable: ['Apple', 'Mug', 'Plate'],
  sliceable: ['Apple'],
  toggleable: ['DeskLamp'],
  isReceptacleObject: ['Mug', 'Plate'],
}

const FIXED = new Set(['DeskLamp'])

/** A problem in PDDL for a house that nobody lives in. */
export function problemOf({ name, goal, start, furniture, facts = [] }: House): string {
  const count = new Map<string, number>()
  const place = (kind: string) => {
    const number = (count.get(kind) ?? 0) + 1
    count.set(kind, number)
    return kind.endsWith('Basin') ? `${kind.slice(0, -5)}_bar_${number}_bar_${kind}` : `${kind}_bar_${number}`
  }
  const receptacles = furniture.map((one) => ({ ...one, id: place(one.kind) }))
  const held = receptacles.flatMap(({ id, at, holds = [] }) =>
    holds.map((object) => {
      const [kind, number] = object.split('#')
      return { kind, id: number ? `${kind}_bar_${number}` : place(kind), in: id, at }
    }),
  )
  const objects = new Map(held.map(({ id, kind }) => [id, kind]))
  const kinds = [...new Set([...objects.values(), 'Knife', 'ButterKnife'])]
  const rooms = [...new Set(furniture.map(({ kind }) => kind).concat('Sink', 'SinkBasin', 'Microwave', 'Fridge'))]
  const places = [...new Set([start, ...furniture.map(({ at }) => at)])]
  const init = [
    `(atLocation agent1 loc_bar_${start})`,
    ...receptacles.flatMap(({ id, kind, at, isClosed }) => [
      `(receptacleType ${id} ${kind}Type)`,
      `(receptacleAtLocation ${id} loc_bar_${at})`,
      ...(isClosed === undefined ? [] : [`(openable ${id})`]),
      ...(isClosed === false ? [`(opened ${id})`] : []),
    ]),
    ...[...objects].flatMap(([id, kind]) => [
      `(objectType ${id} ${kind}Type)`,
      ...(FIXED.has(kind) ? [] : [`(pickupable ${id})`]),
      ...Object.entries(PROPERTIES).flatMap(([property, of]) => (of.includes(kind) ? [`(${property} ${id})`] : [])),
    ]),
    ...held.flatMap(({ id, at, in: receptacle }) => [
      `(inReceptacle ${id} ${receptacle})`,
      `(objectAtLocation ${id} loc_bar_${at})`,
    ]),
    ...rooms.flatMap((room) => kinds.map((kind) => `(canContain ${room}Type ${kind}Type)`)),
    ...facts.map((fact) => fact.replaceAll('#', '_bar_')),
  ]
  return `(define (problem ${name})
(:domain alfred)
(:objects agent1 - agent
  ${places.map((at) => `loc_bar_${at}`).join(' ')} - location
  ${receptacles.map(({ id }) => id).join(' ')} - receptacle
  ${[...objects.keys()].join(' ')} Curtains - object
  ${rooms.map((room) => `${room}Type`).join(' ')} - rtype
  ${kinds.map((kind) => `${kind}Type`).join(' ')} - otype)
(:init
  ${init.join('\n  ')})
(:goal ${goal}))`
}

const placed = (object: string, receptacle: string, more = '') =>
  `(and (exists (?r - receptacle) (exists (?o - object) (and (objectType ?o ${object}Type) (receptacleType ?r ${receptacle}Type) (inReceptacle ?o ?r) ${more}))))`

const kitchen: readonly Furniture[] = [
  { kind: 'CounterTop', at: 1, holds: ['Apple', 'Knife', 'Mug', 'Spoon'] },
  { kind: 'Fridge', at: 2, isClosed: true, holds: ['Apple', 'Bread'] },
  { kind: 'Microwave', at: 1, isClosed: true },
  { kind: 'SinkBasin', at: 3, holds: ['Plate', 'Spoon'] },
  { kind: 'Cabinet', at: 4, isClosed: true, holds: ['Plate'] },
  { kind: 'Cabinet', at: 4, isClosed: false, holds: ['Mug'] },
  { kind: 'Drawer', at: 5, isClosed: true },
]

/** One house for each of the six kinds of tasks. */
export const HOUSES: readonly House[] = [
  {
    name: 'put',
    task: 'Your task is to: put some bread on countertop.',
    goal: placed('Bread', 'CounterTop'),
    start: 0,
    furniture: kitchen,
    facts: ['(inReceptacleObject Spoon#1 Mug#1)'],
    tour: ['go to countertop 1', 'take mug 2 from countertop 1', 'examine mug 2', 'open microwave 1', 'look'],
  },
  {
    name: 'clean',
    task: 'Your task is to: put a clean plate in fridge.',
    goal: placed('Plate', 'Fridge', '(cleanable ?o) (isClean ?o)'),
    start: 0,
    furniture: kitchen,
  },
  {
    name: 'heat',
    task: 'Your task is to: heat some apple and put it in cabinet.',
    goal: placed('Apple', 'Cabinet', '(heatable ?o) (isHot ?o)'),
    start: 6,
    furniture: kitchen,
    facts: ['(isCool Apple#1)'],
    tour: [
      ...['go to countertop 1', 'take knife 1 from countertop 1', 'slice apple 2 with knife 1', 'examine knife 1'],
      ...['move knife 1 to countertop 1', 'take apple 2 from countertop 1', 'examine apple 2', 'inventory'],
      ...['heat apple 2 with microwave 1', 'examine apple 2', 'go to sinkbasin 1', 'clean apple 2 with sinkbasin 1'],
      ...['examine apple 2', 'go to fridge 1', 'cool apple 2 with fridge 1', 'examine apple 2', 'help'],
    ],
  },
  {
    name: 'cool',
    task: 'Your task is to: cool some mug and put it in drawer.',
    goal: placed('Mug', 'Drawer', '(coolable ?o) (isCool ?o)'),
    start: 0,
    furniture: kitchen,
  },
  {
    name: 'two',
    task: 'Your task is to: find two soapbar and put them in cabinet.',
    goal: `(and (exists (?r - receptacle) (exists (?o1 - object) (and (objectType ?o1 SoapBarType) (receptacleType ?r CabinetType) (inReceptacle ?o1 ?r)
      (exists (?o2 - object) (and (not (= ?o1 ?o2)) (objectType ?o2 SoapBarType) (receptacleType ?r CabinetType) (inReceptacle ?o2 ?r)))))))`,
    start: 2,
    furniture: [
      { kind: 'Cabinet', at: 1, isClosed: true },
      { kind: 'Cabinet', at: 2, isClosed: true, holds: ['Cloth'] },
      { kind: 'SinkBasin', at: 3, holds: ['SoapBar'] },
      { kind: 'CounterTop', at: 3, holds: ['SoapBar', 'SoapBar#1'] },
      { kind: 'Toilet', at: 4, holds: ['SoapBar'] },
    ],
  },
  {
    name: 'light',
    task: 'Your task is to: examine the book with the desklamp.',
    goal: `(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot DeskLampType) (toggleable ?ot) (isToggled ?ot)
      (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) (exists (?o - object ?a - agent) (and (objectType ?o BookType) (holds ?a ?o))))`,
    start: 0,
    furniture: [
      { kind: 'Desk', at: 1, holds: ['DeskLamp', 'Pen', 'Pen'] },
      { kind: 'Bed', at: 2, holds: ['Book', 'Pillow'] },
      { kind: 'Drawer', at: 1, isClosed: true, holds: ['Book'] },
    ],
    tour: [
      'go to desk 1',
      'use desklamp 1',
      'use desklamp 1',
      'take pen 1 from desk 1',
      'move pen 1 to desk 1',
      'look',
    ],
  },
]

/** The row of a task set that holds a house. */
export function rowOf(house: House): Record<string, unknown> {
  return { id: house.name, task: house.task, pddl_problem: problemOf(house) }
}
