let seq = 0

/** Number of a call to a sampler or scorer. These change no model, so any number that was not used before will do. */
export function nextSeq(): number {
  return ++seq
}
