import { signal } from '@preact/signals'

/** Runs that are selected for comparison, in the order in which they were. Kept while one looks around. */
export const chosen = signal<readonly string[]>([])

export const isChosen = (id: string) => chosen.value.includes(id)

export function choose(id: string): void {
  chosen.value = isChosen(id) ? chosen.value.filter((other) => other !== id) : [...chosen.value, id]
}
