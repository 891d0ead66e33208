import { isJsonObject } from '../base/file/json-file.js'
import type { Wire } from './dialect.js'
import type { RequestNotes } from './request-notes.js'
import { partText, type TextParts, unsupported, wireList, wireObject } from './wire.js'

/** Kind of content by the type of its part, in all APIs. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ image: 'image', image_url: 'image', input_image: 'image' },
  ...{ audio: 'audio', audio_url: 'audio', input_audio: 'audio' },
  ...{ video: 'video', video_url: 'video', input_video: 'video' },
  ...{ document: 'document', file: 'file', input_file: 'file' },
}

/**
 * Returns the text of a tool result. A part that is no text (an image, a file) becomes a placeholder and is recorded: the
 * result comes in the middle of a rollout, which an error would end.
 */
export function toolResultText(content: unknown, path: string, parts: TextParts, notes: RequestNotes): string {
  if (typeof content === 'string') return content
  return wireList(content, path)
    .map((given, i) => resultPart(wireObject(given, `${path}[${i}]`), `${path}[${i}]`, parts, notes))
    .join('\n')
}

function resultPart(part: Wire, path: string, parts: TextParts, notes: RequestNotes): string {
  const { type } = part
  if (typeof type !== 'string') throw unsupported(path, 'a part without a type', 'give text')
  if (Object.hasOwn(parts, type)) return partText(part, path, parts)
  const text = textInside(part, path, parts, notes)
  if (text !== undefined) return text
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : type
  notes.replaceMedia(kind, path)
  return placeholder(Object.hasOwn(KINDS, type) ? kind : 'content')
}

/** The text of a part that wraps text; undefined if it has none. */
function textInside(part: Wire, path: string, parts: TextParts, notes: RequestNotes): string | undefined {
  const { type, source, title } = part
  const heading = typeof title === 'string' && title !== '' ? `${title}\n` : ''
  if (type === 'tool_reference' && typeof part.tool_name === 'string') return part.tool_name
  if (type === 'search_result') return heading + toolResultText(part.content ?? '', `${path}.content`, parts, notes)
  if (type !== 'document' || !isJsonObject(source)) return undefined
  if (source.type === 'text' && typeof source.data === 'string') return heading + source.data
  if (source.type !== 'content') return undefined
  return heading + toolResultText(source.content ?? '', `${path}.source.content`, parts, notes)
}

/** Stands for content that a text model cannot read. It must stay the same: it is part of prompts that are trained on. */
function placeholder(kind: string): string {
  return `[${kind} omitted: the model reads only text]`
}
