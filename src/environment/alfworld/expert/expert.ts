import type { Game } from '../game.js'
import type { State } from '../pddl/state.js'
import { type Aim, aimOf } from './aim.js'
import { House } from './house.js'
import { type Deed, joined, type Route, shortest, visit } from './route.js'

/** What gives an object a property: the action, and the types of receptacles where it is done. */
const TREATMENTS: Readonly<Record<string, { action: string; places: readonly string[] }>> = {
  isclean: { action: 'cleanobject', places: ['sinkbasintype', 'sinktype'] },
  ishot: { action: 'heatobject', places: ['microwavetype'] },
  iscool: { action: 'coolobject', places: ['fridgetype'] },
}

/**
 * Knows the whole house, and from any state the shortest way to the goal that goes straight for it: put away what is in
 * the way, fetch the object, treat it, bring it. It understands the six kinds of tasks of ALFWorld.
 */
export class Expert {
  readonly #game: Game
  readonly #aim: Aim | undefined

  constructor(game: Game) {
    this.#game = game
    this.#aim = aimOf(game.goal)
  }

  /**
   * The next command; undefined: the goal is reached, is of another kind, or cannot be reached any more, with something in
   * hand that no place takes.
   */
  next(state: State): string | undefined {
    if (!this.#aim || this.#game.isWon(state)) return undefined
    const house = new House(this.#game, state)
    const route = this.#aim.kind === 'light' ? light(house, this.#aim) : place(house, this.#aim)
    const deed = route?.deeds[0]
    return deed && this.#game.commandFor(deed.action, deed.objects, state)
  }
}

/** With an empty hand: puts down what it holds where that costs least. */
function dropped(house: House): Route | undefined {
  const { here, held } = house
  if (held === undefined) return { deeds: [], end: here }
  const put = (taker: number): Deed => ({ action: 'putobject', objects: [held, taker] })
  return shortest(house.takers(held).map((one) => visit(house, here, one, [put(one)], true)))
}

/** Takes an object, from where it can be taken soonest. */
function fetched(house: House, from: number, object: number): Route | undefined {
  if (!house.has('pickupable', object)) return undefined
  const take = (holder: number): Deed => ({ action: 'pickupobject', objects: [object, holder] })
  return shortest(house.holders(object).map((one) => visit(house, from, one, [take(one)], true)))
}

/** One of the objects in hand: the one that is, or any that can be fetched after the hand is empty. */
function inHand(house: House, objects: readonly number[]): { object: number; route: Route }[] {
  const { here, held } = house
  if (held !== undefined && objects.includes(held)) return [{ object: held, route: { deeds: [], end: here } }]
  const start = dropped(house)
  if (!start) return []
  return objects.flatMap((object) => {
    const route = joined(start, fetched(house, start.end, object))
    return route ? [{ object, route }] : []
  })
}

function light(house: House, { object: type, lamp: kind }: Extract<Aim, { kind: 'light' }>): Route | undefined {
  const lamps = house.objectsOf(kind).filter((lamp) => house.has('toggleable', lamp))
  const ends = (from: number) =>
    lamps.flatMap((lamp) => {
      const use = house.has('istoggled', lamp) ? [] : [{ action: 'toggleobject', objects: [lamp] }]
      return house.holders(lamp).map((holder) => visit(house, from, holder, use))
    })
  const routes = inHand(house, house.objectsOf(type)).map(({ route }) => joined(route, shortest(ends(route.end))))
  return shortest(routes.filter((route) => route !== undefined))
}

function place(house: House, aim: Extract<Aim, { kind: 'place' }>): Route | undefined {
  const { object: type, properties, count, receptacle: kind } = aim
  const wanted = properties.filter((one) => Object.hasOwn(TREATMENTS, one))
  const given = properties.filter((one) => !Object.hasOwn(TREATMENTS, one))
  const objects = house.objectsOf(type).filter((object) => given.every((one) => house.has(one, object)))
  const isReady = (object: number) => wanted.every((one) => house.has(one, object))
  /** Treated, and brought to the target. */
  const brought = (object: number, from: Route, target: number) => {
    let route: Route | undefined = from
    for (const property of wanted.filter((one) => !house.has(one, object))) {
      const { action, places } = TREATMENTS[property]
      const stations = places.flatMap((one) => house.receptaclesOf(one))
      const { end } = route as Route
      route = joined(
        route as Route,
        shortest(stations.map((one) => visit(house, end, one, [{ action, objects: [object, one] }]))),
      )
      if (!route) return undefined
    }
    const put = { action: 'putobject', objects: [object, target] }
    return joined(route, visit(house, route.end, target, [put], true))
  }
  const routes = house.receptaclesOf(kind).map((target) => {
    const done = objects.filter((object) => house.isIn(object, target) && isReady(object) && object !== house.held)
    const open = objects.filter((object) => !done.includes(object) && house.takers(object).includes(target))
    const first = inHand(house, open).flatMap(({ object, route }) => {
      const way = brought(object, route, target)
      return way ? [{ object, way }] : []
    })
    if (done.length + 1 >= count) return shortest(first.map(({ way }) => way))
    const both = first.flatMap(({ object, way }) =>
      open
        .filter((other) => other !== object)
        .map((other) => {
          const next = fetched(house, way.end, other)
          const second = next && brought(other, next, target)
          return second && joined(way, second)
        }),
    )
    return shortest(both.filter((route) => route !== undefined))
  })
  return shortest(routes.filter((route) => route !== undefined))
}
