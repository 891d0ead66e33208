// For which system and processor a compiled library is, by its first bytes: a package must not hold another one's.

const elf = { 62: 'x64', 183: 'arm64' }
const machO = { 16777223: 'x64', 16777228: 'arm64' }
const pe = { 34404: 'x64' }

/** `{ os, cpu }`, or undefined for anything else. */
export function libraryFormat(bytes) {
  if (bytes.length < 64) return undefined
  if (bytes.readUInt32BE(0) === 0x0061736d) return known('any', 'wasm32')
  if (bytes.readUInt32BE(0) === 0x7f454c46) return known('linux', elf[bytes.readUInt16LE(18)])
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return known('darwin', machO[bytes.readUInt32LE(4)])
  if (bytes.toString('latin1', 0, 2) !== 'MZ') return undefined
  const header = bytes.readUInt32LE(60)
  if (header + 6 > bytes.length || bytes.toString('latin1', header, header + 4) !== 'PE\0\0') return undefined
  return known('win32', pe[bytes.readUInt16LE(header + 4)])
}

function known(os, cpu) {
  return cpu && { os, cpu }
}
