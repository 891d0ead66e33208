import { readFileSync } from 'node:fs'

/** What an event file says of one step, the later value counting. A file whose end was cut is read as far as it goes. */
export function scalarsAt(file: string, step: number): Map<string, number> {
  const bytes = readFileSync(file)
  const found = new Map<string, number>()
  for (let at = 0; at + 12 <= bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at))
    const data = bytes.subarray(at + 12, at + 12 + length)
    at += 16 + length
    if (data.length < length) break
    const event = new Map(fieldsOf(data))
    const summary = event.get(5)
    // A step of 0 may be left out.
    if (!(summary instanceof Uint8Array) || Number(event.get(2) ?? 0) !== step) continue
    for (const [, one] of fieldsOf(summary)) {
      if (!(one instanceof Uint8Array)) continue
      const value = new Map(fieldsOf(one))
      const [name, number] = [value.get(1), value.get(2)]
      if (name instanceof Uint8Array && typeof number === 'number') found.set(Buffer.from(name).toString(), number)
    }
  }
  return found
}

/** Fields of a protocol buffer, those of a length as bytes. */
function fieldsOf(data: Uint8Array): [number, bigint | number | Uint8Array][] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const found: [number, bigint | number | Uint8Array][] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < data.length) {
    const key = Number(varint())
    const [field, wire] = [key >> 3, key & 7]
    if (wire === 0) found.push([field, varint()])
    else if (wire === 2) {
      const length = Number(varint())
      found.push([field, data.subarray(at, at + length)])
      at += length
    } else {
      found.push([field, wire === 1 ? view.getFloat64(at, true) : view.getFloat32(at, true)])
      at += wire === 1 ? 8 : 4
    }
  }
  return found
}
