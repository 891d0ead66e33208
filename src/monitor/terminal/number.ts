/** A number as people read it: three digits that matter, no exponents where they are not needed. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 1e9 || size < 1e-4) return value.toExponential(1).replace('e+', 'e')
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  if (Number.isInteger(value)) return String(value)
  return String(Number(value.toPrecision(3)))
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return String(share)
  const value = share * 100
  return `${value !== 0 && Math.abs(value) < 10 ? Number(value.toPrecision(2)) : Math.round(value)} %`
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return String(seconds)
  if (seconds < 10) return `${Number(Math.max(0, seconds).toPrecision(2))} s`
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (seconds < 3600) {
    const rest = Math.round(seconds) % 60
    return seconds < 600 && rest > 0 ? `${Math.floor(Math.round(seconds) / 60)} min ${rest} s` : `${minutes} min`
  }
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
  return `${Math.round(seconds / 86_400)} days`
}
