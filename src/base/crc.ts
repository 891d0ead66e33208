import * as zlib from 'node:zlib'

const builtin = (zlib as { crc32?: (data: Uint8Array, value?: number) => number }).crc32

/** CRC-32 as in zip and PNG. Node has it since 20.15; older ones use the table. */
export const crc32: (data: Uint8Array) => number = builtin ?? tableCrc32

let table: Uint32Array | undefined

export function tableCrc32(data: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    return value
  })
  let crc = 0xffffffff
  for (let i = 0; i < data.length; i++) crc = (crc >>> 8) ^ table[(crc ^ data[i]) & 0xff]
  return (crc ^ 0xffffffff) >>> 0
}
