/** Hands a file to the browser. */
export function save(name: string, content: Blob | string, type = 'text/plain'): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** A metric's name as the name of a file. */
export const fileName = (text: string) => text.replace(/[^\w.@-]+/g, '_')
