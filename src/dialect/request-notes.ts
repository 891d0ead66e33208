import type { Logger } from '../base/log/logger.js'
import { nearest } from '../base/nearest.js'
import { unsupported } from './wire.js'

/** Treatment of request fields that no dialect knows. */
export type UnknownFields = 'ignore' | 'refuse'

/** Parts of a request that do not reach the model as they were sent. */
export const NOTE_KINDS = ['field', 'tool', 'media'] as const
export type NoteKind = (typeof NOTE_KINDS)[number]

export interface RequestNote {
  /** `field`: an unknown key, ignored. `tool`: a hosted tool, not offered. `media`: a part of a tool result, replaced by text. */
  readonly kind: NoteKind
  /** Key, type of the tool, or type of the part, as the client wrote it. */
  readonly name: string
  /** Place in the request. */
  readonly path: string
}

/** Number of notes by kind and label. */
export type NoteCounts = Readonly<Record<NoteKind, Readonly<Record<string, number>>>>

/** Collects what a request loses while it is read. */
export class RequestNotes {
  readonly #notes: RequestNote[] = []
  #media: RequestNote[] = []
  #known: readonly string[] = []

  get isEmpty(): boolean {
    return this.#notes.length === 0 && this.#media.length === 0
  }

  [Symbol.iterator](): IterableIterator<RequestNote> {
    return [...this.#notes, ...this.#media].values()
  }

  /** Records unknown keys; `known` are the keys of the dialect, for hints. */
  ignoreFields(paths: readonly string[], known: readonly string[]): void {
    this.#known = known
    for (const path of paths) this.#notes.push({ kind: 'field', name: path, path })
  }

  dropTool(type: string, path: string): void {
    this.#notes.push({ kind: 'tool', name: type, path })
  }

  replaceMedia(type: string, path: string): void {
    this.#media.push({ kind: 'media', name: type, path })
  }

  /** Forgets media before an answer of the model: an earlier request brought them, and was counted. */
  passAnswer(): void {
    this.#media = []
  }

  /** Throws if a field was ignored or a tool dropped. */
  refuse(): void {
    const [note] = this.#notes
    if (!note) return
    const { kind, name, path } = note
    if (kind === 'tool') throw unsupported(path, `a tool of type ${JSON.stringify(short(name))}`, 'use functions')
    throw unsupported(short(path), `'${short(name)}'`, this.#hint(name))
  }

  /** A sentence for the log. */
  textOf({ kind, name }: RequestNote): string {
    const shown = JSON.stringify(short(name))
    if (kind === 'tool')
      return `requests offer tools of type ${shown}, which are not run here: the model does not see them`
    if (kind === 'media') return `tool results have parts of type ${shown}: the model sees a placeholder`
    const hint = this.#hint(name)
    return `requests have the unknown field ${shown}, which is ignored${hint === undefined ? '' : ` (${hint})`}`
  }

  #hint(name: string): string | undefined {
    const near = nearest(short(name), this.#known)
    return near === undefined ? undefined : `did you mean '${near}'?`
  }
}

/** Longest name in a log line or an error, in characters. */
const LONGEST_NAME = 64
/** Distinct names that are logged; clients may send any number. */
const MOST_LOGGED = 32

function short(name: string): string {
  return name.length > LONGEST_NAME ? name.slice(0, LONGEST_NAME) : name
}

/** Logs each distinct note once, up to a bound. */
export class NoteLog {
  readonly #logged = new Set<string>()

  add(notes: RequestNotes, logger: Pick<Logger, 'warn'>): void {
    for (const note of notes) {
      if (this.#logged.size >= MOST_LOGGED) return
      const id = `${note.kind} ${short(note.name)}`
      if (this.#logged.has(id)) continue
      this.#logged.add(id)
      logger.warn(notes.textOf(note))
    }
  }
}

/** Names that may be labels of metrics. Clients choose the others, and would fill the memory of whatever collects them. */
const LABELS: Readonly<Record<NoteKind, ReadonlySet<string>>> = {
  field: new Set(
    `context_management client_metadata betas container web_search_options moderation reasoning thinking
    reasoning.context reasoning.mode output_config.task_budget include_reasoning separate_reasoning
    stream_reasoning thinking_budget provider plugins transforms route models safe_prompt prompt_mode extra_body
    extra_headers extra_query timeout request_id rid kv_transfer_params vllm_xargs mm_processor_kwargs
    guided_decoding_backend guided_whitespace_pattern length_penalty repeat_penalty typical_p mirostat
    spaces_between_special_tokens add_special_tokens return_tokens_as_token_ids custom_params keep_alive options
    seed presence_penalty frequency_penalty stream_options`.split(/\s+/),
  ),
  tool: new Set(
    `web_search web_search_preview web_fetch file_search code_interpreter code_execution image_generation mcp mcp_toolset
    tool_search tool_search_tool_regex tool_search_tool_bm25 advisor`.split(/\s+/),
  ),
  media: new Set(['image', 'audio', 'video', 'document', 'file']),
}

/** Label of a note in metrics: its name without a version, if it is one that is known, else `other`. */
export function labelOf({ kind, name }: RequestNote): string {
  const bare = kind === 'tool' ? short(name).replace(/_\d{4}_?\d{2}_?\d{2}$/, '') : name
  return LABELS[kind].has(bare) ? bare : 'other'
}

/** Counters of notes by label. */
export class NoteCounter {
  readonly #counts: Record<NoteKind, Record<string, number>> = { field: {}, tool: {}, media: {} }

  add(notes: RequestNotes): void {
    for (const note of notes) {
      const counts = this.#counts[note.kind]
      const label = labelOf(note)
      counts[label] = (counts[label] ?? 0) + 1
    }
  }

  read(): NoteCounts {
    const { field, tool, media } = this.#counts
    return { field: { ...field }, tool: { ...tool }, media: { ...media } }
  }
}
