import type { House } from './house.js'

/** A thing to do: an action of the game, and the objects by which it is known among those that are possible. */
export interface Deed {
  readonly action: string
  readonly objects: readonly number[]
}

/** Deeds one after another, and where they end. */
export interface Route {
  readonly deeds: readonly Deed[]
  readonly end: number
}

export const shortest = (routes: readonly Route[]): Route | undefined =>
  routes.reduce<Route | undefined>(
    (best, one) => (best && best.deeds.length <= one.deeds.length ? best : one),
    undefined,
  )

/** From a place to a receptacle, and what is done there; one that is closed may have to be opened. */
export function visit(house: House, from: number, receptacle: number, deeds: readonly Deed[], opened = false): Route {
  const end = house.location(receptacle)!
  const walk = end === from ? [] : [{ action: 'gotolocation', objects: [receptacle] }]
  const open = opened && house.isClosed(receptacle) ? [{ action: 'openobject', objects: [receptacle] }] : []
  return { deeds: [...walk, ...open, ...deeds], end }
}

export function joined(first: Route, second: Route | undefined): Route | undefined {
  return second && { deeds: [...first.deeds, ...second.deeds], end: second.end }
}
