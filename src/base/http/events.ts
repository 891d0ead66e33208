/** The data of each server-sent event, in their order. An event that the end of the stream cuts does not count. */
export async function* serverEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let data: string[] = []
  for await (const line of lines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n')
      data = []
    } else if (line === 'data') data.push('')
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
}

/** Whole lines; they end with LF, CRLF or CR. */
async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  // parts, not one text: a long line in many pieces must not be searched again and again
  let parts: string[] = []
  let afterCr = false
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true })
    if (text === '') continue
    // the other half of a CRLF
    if (afterCr && text[0] === '\n') text = text.slice(1)
    afterCr = text.endsWith('\r')
    const found = text.split(/\r\n|\r|\n/)
    const rest = found.pop() as string
    for (const line of found) {
      yield parts.length === 0 ? line : parts.join('') + line
      parts = []
    }
    if (rest !== '') parts.push(rest)
  }
}
