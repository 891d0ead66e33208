/** Operations per second of nothing but fused multiply-adds on all threads; about a tenth of a second. */
export async function measurePeak(addon) {
  return addon.peak(4_000_000)
}
