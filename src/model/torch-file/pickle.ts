import { TrinityError } from '../../base/error.js'
import { isKnownGlobal } from './globals.js'

export type PyValue = null | boolean | number | bigint | string | Uint8Array | PyValue[] | PyDict | PyGlobal | PyObject
export type PyDict = Map<PyValue, PyValue>

/** The name of a class or function. Nothing is ever imported or called. */
export class PyGlobal {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** What a call would have made: its name, its arguments, and the state that was put into it. */
export class PyObject {
  readonly type: string
  readonly args: readonly PyValue[]
  state: PyValue = null

  constructor(type: string, args: readonly PyValue[]) {
    this.type = type
    this.args = args
  }

  /** An attribute of its state. */
  get(name: string): PyValue | undefined {
    const { state } = this
    if (state instanceof Map) return state.get(name)
    // Classes with slots have (dict or none, slots).
    const parts = Array.isArray(state) ? state : []
    for (const part of parts) if (part instanceof Map && part.has(name)) return part.get(name)
    return undefined
  }
}

/** A storage, or whatever else the pickler left to its surroundings. */
export const PERSISTENT = 'persistent'

const MARK = Symbol('mark')
type Slot = PyValue | typeof MARK

/** No real checkpoint has longer integers; arithmetic on one from a hostile file would take forever. */
const LONGEST_INTEGER = 64

const utf8 = new TextDecoder('utf-8')
const latin1 = new TextDecoder('latin1')

/**
 * Reads a pickle as data. Calls become `PyObject`s that say what would have been called; nothing is executed, and names
 * that no checkpoint needs are refused. Whatever the file claims, no more is taken than it has bytes.
 */
export function readPickle(bytes: Uint8Array, path: string): PyValue {
  try {
    return new Machine(bytes, path).run()
  } catch (error) {
    if (error instanceof TrinityError) throw error
    throw broken(path, error instanceof RangeError ? 'it ends too early' : String(error))
  }
}

class Machine {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #path: string
  readonly #stack: Slot[] = []
  readonly #memo = new Map<number, PyValue>()
  #at = 0

  constructor(bytes: Uint8Array, path: string) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#path = path
  }

  run(): PyValue {
    for (;;) {
      const code = this.#view.getUint8(this.#at++)
      if (code === 0x2e) return this.#pop() // STOP
      this.#step(code)
    }
  }

  #step(code: number): void {
    switch (code) {
      case 0x80: // PROTO
        this.#take(1)
        return
      case 0x95: // FRAME
        this.#take(8)
        return
      case 0x28: // MARK
        this.#stack.push(MARK)
        return
      case 0x30: // POP
        this.#stack.pop()
        return
      case 0x31: // POP_MARK
        this.#toMark()
        return
      case 0x32: // DUP
        this.#push(this.#top())
        return
      case 0x4e: // NONE
        this.#push(null)
        return
      case 0x88: // NEWTRUE
        this.#push(true)
        return
      case 0x89: // NEWFALSE
        this.#push(false)
        return
      case 0x4a: // BININT
        this.#push(this.#view.getInt32(this.#take(4), true))
        return
      case 0x4b: // BININT1
        this.#push(this.#view.getUint8(this.#take(1)))
        return
      case 0x4d: // BININT2
        this.#push(this.#view.getUint16(this.#take(2), true))
        return
      case 0x8a: // LONG1
        this.#push(this.#integer(this.#view.getUint8(this.#take(1))))
        return
      case 0x8b: // LONG4
        this.#push(this.#integer(this.#view.getInt32(this.#take(4), true)))
        return
      case 0x49: // INT
        this.#push(this.#decimal())
        return
      case 0x47: // BINFLOAT
        this.#push(this.#view.getFloat64(this.#take(8), false))
        return
      case 0x58: // BINUNICODE
      case 0x54: // BINSTRING
        this.#push(this.#text(this.#length(4), code === 0x58))
        return
      case 0x8c: // SHORT_BINUNICODE
      case 0x55: // SHORT_BINSTRING
        this.#push(this.#text(this.#length(1), code === 0x8c))
        return
      case 0x8d: // BINUNICODE8
        this.#push(this.#text(this.#length(8), true))
        return
      case 0x42: // BINBYTES
        this.#push(this.#slice(this.#length(4)))
        return
      case 0x43: // SHORT_BINBYTES
        this.#push(this.#slice(this.#length(1)))
        return
      case 0x8e: // BINBYTES8
      case 0x96: // BYTEARRAY8
        this.#push(this.#slice(this.#length(8)))
        return
      case 0x5d: // EMPTY_LIST
      case 0x29: // EMPTY_TUPLE
      case 0x8f: // EMPTY_SET
        this.#push([])
        return
      case 0x7d: // EMPTY_DICT
        this.#push(new Map())
        return
      case 0x61: // APPEND
        this.#append([this.#pop()])
        return
      case 0x65: // APPENDS
      case 0x90: // ADDITEMS
        this.#append(this.#toMark())
        return
      case 0x6c: // LIST
      case 0x74: // TUPLE
      case 0x91: // FROZENSET
        this.#push(this.#toMark())
        return
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: // TUPLE3
        this.#push(this.#last(code - 0x84))
        return
      case 0x73: // SETITEM
        this.#put(this.#last(2))
        return
      case 0x75: // SETITEMS
        this.#put(this.#toMark())
        return
      case 0x64: // DICT
        this.#dict(this.#toMark())
        return
      case 0x63: // GLOBAL
        this.#global(this.#line(), this.#line())
        return
      case 0x93: {
        // STACK_GLOBAL
        const [module, name] = this.#last(2)
        this.#global(String(module), String(name))
        return
      }
      case 0x52: // REDUCE
      case 0x81: {
        // NEWOBJ
        const [callee, args] = this.#last(2)
        this.#call(callee, args)
        return
      }
      case 0x92: {
        // NEWOBJ_EX
        const [callee, args, named] = this.#last(3)
        this.#call(callee, [...(Array.isArray(args) ? args : []), named])
        return
      }
      case 0x62: {
        // BUILD
        const [state] = this.#last(1)
        const target = this.#top()
        if (target instanceof PyObject) target.state = state
        return
      }
      case 0x51: // BINPERSID
        this.#push(new PyObject(PERSISTENT, [this.#pop()]))
        return
      case 0x68: // BINGET
        this.#push(this.#remembered(this.#view.getUint8(this.#take(1))))
        return
      case 0x6a: // LONG_BINGET
        this.#push(this.#remembered(this.#view.getUint32(this.#take(4), true)))
        return
      case 0x71: // BINPUT
        this.#remember(this.#view.getUint8(this.#take(1)))
        return
      case 0x72: // LONG_BINPUT
        this.#remember(this.#view.getUint32(this.#take(4), true))
        return
      case 0x94: // MEMOIZE
        this.#remember(this.#memo.size)
        return
      default:
        throw broken(this.#path, `it holds the instruction 0x${code.toString(16)}, which no checkpoint needs`)
    }
  }

  #global(module: string, name: string): void {
    const full = `${module}.${name}`
    if (!isKnownGlobal(full)) {
      throw new TrinityError(
        'pickle/global',
        `${this.#path} asks for ${full.slice(0, 120)}, which no checkpoint needs`,
        {
          path: this.#path,
          hint: 'the file may be malicious; nothing of it was executed',
        },
      )
    }
    this.#push(new PyGlobal(full))
  }

  #call(callee: PyValue, args: PyValue): void {
    if (!(callee instanceof PyGlobal) || !Array.isArray(args)) throw broken(this.#path, 'it calls what is not a name')
    if (callee.name === 'collections.OrderedDict') this.#dict(args.flatMap(pairs))
    else this.#push(new PyObject(callee.name, args))
  }

  #dict(items: PyValue[]): void {
    this.#push(new Map())
    this.#put(items)
  }

  #append(values: readonly PyValue[]): void {
    const list = this.#top()
    if (!Array.isArray(list)) throw broken(this.#path, 'it appends to what is not a list')
    for (const value of values) list.push(value)
  }

  #put(items: readonly PyValue[]): void {
    const dict = this.#top()
    if (!(dict instanceof Map)) throw broken(this.#path, 'it puts an entry into what is not a dictionary')
    for (let i = 0; i + 1 < items.length; i += 2) dict.set(items[i], items[i + 1])
  }

  #push(value: PyValue): void {
    this.#stack.push(value)
  }

  #pop(): PyValue {
    const value = this.#stack.pop()
    if (value === undefined || value === MARK) throw broken(this.#path, 'its stack is empty')
    return value
  }

  #top(): PyValue {
    const value = this.#stack.at(-1)
    if (value === undefined || value === MARK) throw broken(this.#path, 'its stack is empty')
    return value
  }

  #last(count: number): PyValue[] {
    return Array.from({ length: count }, () => this.#pop()).reverse()
  }

  #toMark(): PyValue[] {
    const at = this.#stack.lastIndexOf(MARK)
    if (at < 0) throw broken(this.#path, 'it has no mark')
    const values = this.#stack.splice(at) as PyValue[]
    values.shift()
    return values
  }

  #remember(key: number): void {
    this.#memo.set(key, this.#top())
  }

  #remembered(key: number): PyValue {
    const value = this.#memo.get(key)
    if (value === undefined) throw broken(this.#path, 'it recalls what it has not stored')
    return value
  }

  #length(width: 1 | 4 | 8): number {
    const at = this.#take(width)
    if (width === 1) return this.#view.getUint8(at)
    return width === 4 ? this.#view.getUint32(at, true) : Number(this.#view.getBigUint64(at, true))
  }

  #text(length: number, isUnicode: boolean): string {
    return (isUnicode ? utf8 : latin1).decode(this.#slice(length))
  }

  #slice(length: number): Uint8Array {
    const at = this.#take(length)
    return this.#bytes.subarray(at, at + length)
  }

  #line(): string {
    const end = this.#bytes.indexOf(10, this.#at)
    if (end < 0) throw broken(this.#path, 'it ends too early')
    const text = utf8.decode(this.#bytes.subarray(this.#at, end))
    this.#at = end + 1
    return text
  }

  /** Older protocols write truth as numbers. */
  #decimal(): PyValue {
    const text = this.#line()
    return text === '00' ? false : text === '01' ? true : Number(text)
  }

  #integer(length: number): number | bigint {
    if (length < 0 || length > LONGEST_INTEGER) throw broken(this.#path, `it has an integer of ${length} bytes`)
    const bytes = this.#slice(length)
    let value = 0n
    for (let i = length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i])
    const signed = length === 0 ? 0n : BigInt.asIntN(length * 8, value)
    const number = Number(signed)
    return Number.isSafeInteger(number) ? number : signed
  }

  #take(length: number): number {
    const at = this.#at
    if (length > this.#bytes.byteLength - at) throw broken(this.#path, 'it ends too early')
    this.#at += length
    return at
  }
}

/** Arguments of OrderedDict: a list of pairs. */
function pairs(value: PyValue): PyValue[] {
  return Array.isArray(value) ? value.flatMap((pair) => (Array.isArray(pair) ? pair : [])) : []
}

function broken(path: string, why: string): TrinityError {
  return new TrinityError('pickle/invalid', `${path} cannot be read: ${why}`, {
    path,
    hint: 'copy the file again; files of before PyTorch 1.6 must be saved again with a newer one',
  })
}
