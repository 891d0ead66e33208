import { type Expr, LossTrace } from '../graph/index.js'
import { lineOf } from './building.js'

/** A trace that remembers which line asked first for a column, so that one that nothing fills can be shown. */
export class PlacedTrace extends LossTrace {
  readonly places = new Map<string, string>()

  override column(name: string): Expr {
    this.#remember(name)
    return super.column(name)
  }

  override rowColumn(name: string): Expr {
    this.#remember(name)
    return super.rowColumn(name)
  }

  #remember(name: string): void {
    const place = this.places.has(name) ? undefined : lineOf(new Error(name))
    if (place !== undefined) this.places.set(name, place)
  }
}
