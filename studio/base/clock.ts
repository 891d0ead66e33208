import { signal } from '@preact/signals'

/** Seconds since 1970; moves every five seconds, for texts like "3 min ago". */
export const now = signal(Date.now() / 1000)
setInterval(() => {
  if (!document.hidden) now.value = Date.now() / 1000
}, 5000)
