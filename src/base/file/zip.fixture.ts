import { deflateRawSync } from 'node:zlib'
import { crc32 } from '../crc.js'

/** As the format is described: each file with its header, then the directory, then where the directory is. */
export function zipped(files: Readonly<Record<string, string | Uint8Array>>, comment = ''): Buffer {
  const parts: Buffer[] = []
  const list: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content as string)
    const stored = data.length < 20
    const packed = stored ? data : deflateRawSync(data)
    const label = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(stored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(label.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    list.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, place, label)
    const local = [Buffer.from('PK\x03\x04', 'latin1'), common, label, packed]
    parts.push(...local)
    offset += Buffer.concat(local).length
  }
  const directory = Buffer.concat(list)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...parts, directory, end, Buffer.from(comment, 'latin1')])
}
