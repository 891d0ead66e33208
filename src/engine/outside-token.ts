/** The first id that is no token of a vocabulary of this size. A plain loop: contexts are long, and this is done for each turn of an agent. */
export function outsideToken(ids: Int32Array, vocabSize: number): number | undefined {
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]
    if (id < 0 || id >= vocabSize) return id
  }
  return undefined
}
