/** The shortest decimal number that is this f32: 0.00001 is stored as 0.000009999999747378752. */
export function short(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits))
    if (Math.fround(candidate) === Math.fround(value)) return candidate
  }
  return value
}
