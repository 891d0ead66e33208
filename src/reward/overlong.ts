export interface OverlongPenalty {
  maxResponseLength: number
  /** Length of the zone before the limit in which the penalty grows. */
  cacheLength: number
  penaltyFactor: number
}

/** 0 for short responses, falling evenly over the last `cacheLength` tokens to −penaltyFactor. */
export function overlongPenalty(
  length: number,
  { maxResponseLength, cacheLength, penaltyFactor }: OverlongPenalty,
): number {
  const free = maxResponseLength - cacheLength
  if (length < free) return 0
  if (length > maxResponseLength) return -penaltyFactor
  return cacheLength === 0 ? 0 : ((free - length) / cacheLength) * penaltyFactor
}
