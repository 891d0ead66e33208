// The part of Node's C interface that the engine uses, for a WebAssembly instance: values are numbers that stand for
// JavaScript's until the call that made them is over.
const ARRAYS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
]
const TYPES = ['undefined', 'null', 'boolean', 'number', 'string', 'symbol', 'object', 'function', 'external', 'bigint']
const OK = 0
const INVALID = 1
const EXCEPTION = 10

class External {
  constructor(pointer) {
    this.pointer = pointer
  }
}

/** `host` has `memory`, and once the instance is there `exports`. */
export function nodeApi(host) {
  const values = [undefined]
  const references = new Map()
  const deferreds = new Map()
  const tags = new WeakMap()
  let counter = 0
  let call // the one in hand
  let pending // an exception that the engine threw
  let data = 0
  /** The memory, which others may have let grow: this thread hears of it only when it is at leisure. */
  const memory = (end = 0) => {
    if (host.memory.buffer.byteLength < end) host.memory.grow(0)
    return host.memory.buffer
  }
  const view = (at = 0) => new DataView(memory(at + 16))
  const put = (at, value) => view(at).setUint32(at, value, true)
  const call_table = (index, ...args) => host.exports.__indirect_function_table.get(index)(...args)
  const finalizers = new FinalizationRegistry(({ finalize, pointer }) => call_table(finalize, 1, pointer, 0))

  const handle = (value) => values.push(value) - 1
  const give = (at, value) => {
    put(at, handle(value))
    return OK
  }
  const text = (address, length) => {
    const at = address >>> 0
    const bytes = Buffer.from(memory(at + 1 + Math.max(length, 0)))
    const end = length >>> 0 === 0xffffffff ? bytes.indexOf(0, at) : at + (length >>> 0)
    return bytes.toString('utf8', at, end)
  }

  /** Runs what makes or takes values; they and the copies of arrays are gone afterward. */
  function scope(body) {
    const [base, outer] = [values.length, call]
    call = { copies: [], deferred: false }
    const release = call
    try {
      const result = body()
      if (pending) {
        const error = pending.error
        pending = undefined
        throw error
      }
      return result
    } finally {
      values.length = base
      call = outer
      if (!release.deferred) freeCopies(release.copies)
    }
  }
  /** Arrays of a call lie in the engine's memory as long as it works on them. */
  function freeCopies(copies, back = false) {
    for (const { array, pointer } of copies) {
      if (back) array.set(new array.constructor(memory(pointer + array.byteLength), pointer, array.length))
      host.exports.free(pointer)
    }
    copies.length = 0
  }
  function settle(id, value, how) {
    const { copies, resolve, reject } = deferreds.get(id)
    deferreds.delete(id)
    freeCopies(copies, true)
    ;(how === 'resolve' ? resolve : reject)(value)
    return OK
  }
  const errorOf = (code, message) => Object.assign(new Error(message), code === undefined ? {} : { code })

  const napi = {
    napi_get_undefined: (_, out) => give(out, undefined),
    napi_get_boolean: (_, value, out) => give(out, value !== 0),
    napi_create_object: (_, out) => give(out, {}),
    napi_create_array_with_length: (_, length, out) => give(out, new Array(length)),
    napi_create_double: (_, value, out) => give(out, value),
    napi_create_string_utf8: (_, at, length, out) => give(out, text(at, length)),
    napi_create_error: (_, code, message, out) => give(out, errorOf(values[code], values[message])),
    napi_typeof(_, value, out) {
      const is = values[value]
      put(out, TYPES.indexOf(is === null ? 'null' : is instanceof External ? 'external' : typeof is))
      return OK
    },
    napi_get_value_double(_, value, out) {
      if (typeof values[value] !== 'number') return 6
      view().setFloat64(out, values[value], true)
      return OK
    },
    napi_get_value_bool(_, value, out) {
      if (typeof values[value] !== 'boolean') return 7
      view().setUint8(out, values[value] ? 1 : 0)
      return OK
    },
    napi_get_value_string_utf8(_, value, address, size, out) {
      if (typeof values[value] !== 'string') return 3
      const at = address >>> 0
      const bytes = Buffer.from(values[value], 'utf8')
      if (at === 0) {
        put(out, bytes.length)
        return OK
      }
      const count = Math.min(bytes.length, size - 1)
      new Uint8Array(memory(at + size)).set(bytes.subarray(0, count), at)
      view(at).setUint8(at + count, 0)
      if (out !== 0) put(out, count)
      return OK
    },
    napi_get_named_property(_, object, name, out) {
      const from = values[object]
      return from === undefined || from === null ? 2 : give(out, from[text(name, -1)])
    },
    napi_set_named_property(_, object, name, value) {
      values[object][text(name, -1)] = values[value]
      return OK
    },
    napi_get_array_length(_, array, out) {
      if (!Array.isArray(values[array])) return 8
      put(out, values[array].length)
      return OK
    },
    napi_get_element: (_, array, index, out) => give(out, values[array][index]),
    napi_set_element(_, array, index, value) {
      values[array][index] = values[value]
      return OK
    },
    napi_create_function(_, name, length, callback, context, out) {
      const body = (...args) =>
        scope(() => {
          call.args = args
          call.context = context
          const result = call_table(callback, 1, 1)
          return values[result]
        })
      Object.defineProperty(body, 'name', { value: text(name, length) })
      return give(out, body)
    },
    napi_get_cb_info(_, _info, count, args, self, context) {
      const room = view().getUint32(count, true)
      for (let i = 0; i < room; i++) put(args + 4 * i, handle(call.args[i]))
      put(count, call.args.length)
      if (self) put(self, 0)
      if (context) put(context, call.context)
      return OK
    },
    napi_throw_error(_, code, message) {
      pending = { error: errorOf(code ? text(code, -1) : undefined, text(message, -1)) }
      return OK
    },
    napi_is_exception_pending(_, out) {
      view().setUint8(out, pending ? 1 : 0)
      return OK
    },
    napi_create_promise(_, deferred, out) {
      const id = ++counter
      call.deferred = true
      const { copies } = call
      const promise = new Promise((resolve, reject) => deferreds.set(id, { copies, resolve, reject }))
      put(deferred, id)
      return give(out, promise)
    },
    napi_resolve_deferred: (_, id, value) => settle(id, values[value], 'resolve'),
    napi_reject_deferred: (_, id, value) => settle(id, values[value], 'reject'),
    napi_create_reference(_, value, _count, out) {
      references.set(++counter, values[value])
      put(out, counter)
      return OK
    },
    napi_delete_reference(_, id) {
      references.delete(id)
      return OK
    },
    napi_create_external(_, pointer, finalize, _hint, out) {
      const external = new External(pointer)
      if (finalize) finalizers.register(external, { finalize, pointer })
      return give(out, external)
    },
    napi_get_value_external(_, value, out) {
      if (!(values[value] instanceof External)) return INVALID
      put(out, values[value].pointer)
      return OK
    },
    napi_type_tag_object(_, value, tag) {
      tags.set(values[value], [view().getBigUint64(tag, true), view().getBigUint64(tag + 8, true)])
      return OK
    },
    napi_check_object_type_tag(_, value, tag, out) {
      const is = values[value]
      if (is === null || typeof is !== 'object') return 2
      const had = tags.get(is)
      const same = had?.[0] === view().getBigUint64(tag, true) && had[1] === view().getBigUint64(tag + 8, true)
      view().setUint8(out, same ? 1 : 0)
      return OK
    },
    napi_get_typedarray_info(_, value, type, length, pointer) {
      const array = values[value]
      const kind = ARRAYS.findIndex((one) => array instanceof one)
      if (kind < 0) return INVALID
      if (type) put(type, kind)
      if (length) put(length, array.length)
      if (pointer) {
        const copy = host.exports.malloc(Math.max(array.byteLength, 1)) >>> 0
        if (copy === 0) {
          pending = { error: errorOf('native/memory', 'not enough memory') }
          return EXCEPTION
        }
        new array.constructor(memory(copy + array.byteLength), copy, array.length).set(array)
        call.copies.push({ array, pointer: copy })
        put(pointer, copy)
      }
      return OK
    },
    // The array that is made of it takes what the engine has written by then.
    napi_create_arraybuffer(_, bytes, pointer, out) {
      const at = host.exports.malloc(Math.max(bytes, 1)) >>> 0
      if (at === 0) return 9
      put(pointer, at)
      return give(out, { at, bytes })
    },
    napi_create_typedarray(_, kind, length, buffer, _offset, out) {
      const { at } = values[buffer]
      const array = new ARRAYS[kind](new ARRAYS[kind](memory(at + length * ARRAYS[kind].BYTES_PER_ELEMENT), at, length))
      host.exports.free(at)
      return give(out, array)
    },
    napi_set_instance_data(_, value) {
      data = value
      return OK
    },
    napi_get_instance_data(_, out) {
      put(out, data)
      return OK
    },
  }
  return { napi, scope, handle, values, call: call_table, put }
}
