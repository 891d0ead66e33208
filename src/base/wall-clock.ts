/** YYYYmmdd and HHMMSS, local time, with `between` between them. */
export function wallClock(time: Date, between = ''): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${time.getFullYear()}${two(time.getMonth() + 1)}${two(time.getDate())}`
  return `${day}${between}${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`
}
