import { isJsonObject } from '../base/file/json-file.js'
import { jsonIn } from '../base/json-text.js'
import type { Call, Part, Reading } from './answer.js'
import { heldBack } from './text-gate.js'
import { TOOL_CALL, TOOL_CALL_END } from './tool-format.js'

const THINK = '<think>'
const THINK_END = '</think>'

/**
 * Reads an answer as it is written: the parts are the same however the text is cut, texts that follow each other put
 * together.
 *
 * Reasoning stands before `</think>`; templates often put `<think>` into the prompt, so it may be missing. Calls are
 * written as Qwen and Hermes models do: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. A block that is not such
 * JSON stays text: what the model wrote is never lost. Only the blanks around calls are.
 */
export class AnswerReader {
  readonly #reading: Reading
  readonly #index: number
  #held = ''
  #at: 'start' | 'reasoning' | 'answer' | 'text' | 'call'
  #begun = false
  #calls = 0

  constructor(reading: Reading, index: number) {
    this.#reading = reading
    this.#index = index
    this.#at = reading.reasoning ? 'start' : 'text'
  }

  push(text: string): Part[] {
    this.#held += text
    return this.#read(false)
  }

  /** What is left when nothing more comes. */
  end(): Part[] {
    return this.#read(true)
  }

  #read(last: boolean): Part[] {
    const parts: Part[] = []
    while (this.#held !== '' && this.#step(parts, last)) {}
    return parts
  }

  /** Whether there is more to read in what is held. */
  #step(parts: Part[], last: boolean): boolean {
    if (this.#at === 'start') return this.#start(parts, last)
    if (this.#at === 'reasoning') return this.#reason(parts, last)
    if (this.#at === 'answer') {
      this.#held = this.#held.trimStart()
      if (this.#held !== '') this.#at = 'text'
      return this.#held !== ''
    }
    return this.#at === 'text' ? this.#text(parts, last) : this.#call(parts, last)
  }

  #start(parts: Part[], last: boolean): boolean {
    const begun = this.#held.trimStart()
    if (begun.startsWith(THINK)) {
      this.#go('reasoning', begun.slice(THINK.length))
      return true
    }
    if (!last && THINK.startsWith(begun)) return false
    const end = this.#held.indexOf(THINK_END)
    if (end >= 0) {
      give(parts, 'reasoning', this.#held.slice(0, end).trim())
      this.#go('answer', this.#held.slice(end + THINK_END.length))
      return true
    }
    // without its beginning, reasoning is only known by its end
    if (last) this.#at = 'text'
    return last
  }

  #reason(parts: Part[], last: boolean): boolean {
    if (!this.#begun) this.#held = this.#held.trimStart()
    const end = this.#held.indexOf(THINK_END)
    const sure = end >= 0 ? end : last ? this.#held.length : this.#held.length - heldBack(this.#held, [THINK_END])
    const text = this.#held.slice(0, sure).trimEnd()
    this.#begun ||= text !== ''
    give(parts, 'reasoning', text)
    if (end >= 0) this.#go('answer', this.#held.slice(end + THINK_END.length))
    else this.#held = last ? '' : this.#held.slice(text.length)
    return end >= 0
  }

  #text(parts: Part[], last: boolean): boolean {
    const found = this.#reading.tools ? this.#held.indexOf(TOOL_CALL) : -1
    const sure =
      found >= 0
        ? found
        : this.#reading.tools && !last
          ? this.#held.length - heldBack(this.#held, [TOOL_CALL])
          : undefined
    const whole = this.#held.slice(0, sure)
    // blanks before a call and behind the last one are left out: they are held until it is known what follows
    const text = sure === undefined && this.#calls === 0 ? whole : whole.trimEnd()
    give(parts, 'text', text)
    this.#held = last && found < 0 ? '' : this.#held.slice(text.length)
    if (found >= 0) this.#at = 'call'
    return found >= 0
  }

  #call(parts: Part[], last: boolean): boolean {
    const body = this.#held.indexOf(TOOL_CALL) + TOOL_CALL.length
    const end = this.#held.indexOf(TOOL_CALL_END, body)
    if (end < 0 && !last) return false
    const stop = end < 0 ? this.#held.length : end
    const rest = end < 0 ? stop : end + TOOL_CALL_END.length
    const call = readCall(this.#held.slice(body, stop))
    if (call) parts.push({ type: 'call', call: { id: this.#reading.callId(this.#index, this.#calls++), ...call } })
    else give(parts, 'text', this.#held.slice(0, rest))
    this.#go('text', this.#held.slice(rest))
    return true
  }

  #go(at: 'reasoning' | 'answer' | 'text', rest: string): void {
    this.#at = at
    this.#held = rest
  }
}

function give(parts: Part[], type: 'reasoning' | 'text', text: string): void {
  if (text !== '') parts.push({ type, text })
}

function readCall(body: string): Omit<Call, 'id'> | undefined {
  const value = jsonIn(body)
  // libraries put a name of their own in the place of an empty one, and the history would not be what was said
  if (!isJsonObject(value) || typeof value.name !== 'string' || value.name === '') return undefined
  const given = value.arguments ?? value.parameters ?? {}
  const args = typeof given === 'string' ? jsonIn(given) : given
  return isJsonObject(args) ? { name: value.name, arguments: JSON.stringify(args) } : undefined
}
