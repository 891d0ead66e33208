/** A name as a part of a file name: no separators, nothing hidden, not too long. */
export function fileName(name: string): string {
  const plain = name.replace(/[^\w.-]+/g, '_').replace(/^\.+/, '_')
  return plain.slice(0, 100) || '_'
}
