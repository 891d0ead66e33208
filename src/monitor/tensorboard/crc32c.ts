const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

/** CRC-32C (Castagnoli), which is not the one of zip. */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff
  for (let i = 0; i < data.length; i++) crc = (crc >>> 8) ^ TABLE[(crc ^ data[i]) & 0xff]
  return (crc ^ 0xffffffff) >>> 0
}

/** As TFRecord files store it, so that a checksum of checksums stays meaningful. */
export function maskedCrc32c(data: Uint8Array): number {
  const crc = crc32c(data)
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
