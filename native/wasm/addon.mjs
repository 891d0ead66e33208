// Loads the engine as WebAssembly. The same file is what every thread of it starts with.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { nodeApi } from './node-api.mjs'

const STACK = 1 << 20
const THREADS = 16 // each is a worker of Node, with what that costs in time and memory
const role = 'trinity-wasm-thread'

function wasi(host) {
  const entries = () =>
    Object.entries({ TRINITY_NATIVE_THREADS: String(Math.min(availableParallelism(), THREADS)), ...process.env })
      .filter(([name]) => name.startsWith('TRINITY_NATIVE_'))
      .map((pair) => Buffer.from(`${pair.join('=')}\0`))
  const view = () => new DataView(host.memory.buffer)
  const known = {
    environ_sizes_get(count, size) {
      view().setUint32(count, entries().length, true)
      view().setUint32(size, Buffer.concat(entries()).length, true)
      return 0
    },
    environ_get(pointers, at) {
      entries().forEach((entry, i) => {
        view().setUint32(pointers + 4 * i, at, true)
        new Uint8Array(host.memory.buffer).set(entry, at)
        at += entry.length
      })
      return 0
    },
    clock_time_get(_id, _precision, out) {
      view().setBigUint64(out, process.hrtime.bigint(), true)
      return 0
    },
    proc_exit(code) {
      throw new Error(`the engine gave up (${code})`)
    },
    fd_write(_fd, vectors, count, out) {
      let total = 0
      for (let i = 0; i < count; i++) {
        const [at, size] = [view().getUint32(vectors + 8 * i, true), view().getUint32(vectors + 8 * i + 4, true)]
        process.stderr.write(Buffer.from(new Uint8Array(host.memory.buffer, at, size)))
        total += size
      }
      view().setUint32(out, total, true)
      return 0
    },
  }
  return new Proxy(known, { get: (all, name) => all[name] ?? (() => 52) })
}

function instantiate(module, host, napi, trinity) {
  const imports = {
    wasi_snapshot_preview1: wasi(host),
    napi,
    env: new Proxy({ memory: host.memory }, { get: (all, name) => all[name] ?? napi[name] }),
    trinity,
  }
  host.exports = new WebAssembly.Instance(module, imports).exports
}

/** As much as addresses of 32 bits reach (the last page left out: its end has no address), or what the system reserves. */
function memoryOf() {
  for (let pages = 65535; pages >= 4095; pages >>>= 1) {
    try {
      return new WebAssembly.Memory({ initial: 512, maximum: pages, shared: true })
    } catch (error) {
      if (pages === 4095) throw error
    }
  }
}

function load() {
  const module = new WebAssembly.Module(readFileSync(join(__dirname, 'trinity.wasm')))
  const host = { memory: memoryOf() }
  const api = nodeApi(host)
  let callback
  let context
  let alive
  const deliver = ([pointer]) => api.scope(() => api.call(callback, 1, 0, context, pointer))
  Object.assign(api.napi, {
    napi_create_threadsafe_function(_e, _f, _r, _n, _q, _c, _d, _fin, where, back, out) {
      context = where
      callback = back
      api.put(out, 1)
      return 0
    },
    napi_call_threadsafe_function(_f, pointer) {
      setImmediate(deliver, [pointer])
      return 0
    },
    napi_ref_threadsafe_function() {
      alive ??= setInterval(() => {}, 2 ** 30)
      return 0
    },
    napi_unref_threadsafe_function() {
      clearInterval(alive)
      alive = undefined
      return 0
    },
  })
  const trinity = {
    cores: () => availableParallelism(),
    spawn(thread) {
      const size = host.exports.__tls_size.value
      const stack = host.exports.aligned_alloc(64, STACK + size + 64) >>> 0
      if (stack === 0) return 1
      const data = { role, module, memory: host.memory, thread, stack: stack + STACK, tls: stack + STACK }
      let worker
      try {
        worker = new Worker(__filename, { workerData: data, execArgv: [], env: process.env })
      } catch {
        host.exports.free(stack)
        return 1 // forbidden here: the engine works without
      }
      worker.on('message', deliver)
      worker.on('exit', () => host.exports.free(stack))
      worker.unref()
      return 0
    },
  }
  instantiate(module, host, api.napi, trinity)
  host.exports.__wasm_call_ctors()
  const start = host.exports.napi_register_wasm_v1 ?? host.exports.napi_register_module_v1
  const addon = api.scope(() => api.values[start(1, api.handle({}))])
  addon.threads() // starts the pool here: threads end with the one that started them
  addon.isa = 'wasm'
  return addon
}

function runThread({ module, memory, thread, stack, tls }) {
  const host = { memory }
  const { napi } = nodeApi(host)
  napi.napi_call_threadsafe_function = (_f, pointer) => {
    parentPort.postMessage([pointer])
    return 0
  }
  const all = new Proxy(napi, { get: (known, name) => known[name] ?? (() => 9) })
  instantiate(module, host, all, { cores: () => availableParallelism(), spawn: () => 1 })
  host.exports.__stack_pointer.value = stack
  host.exports.__wasm_init_tls(tls)
  host.exports.trinity_thread(thread)
}

if (!isMainThread && workerData?.role === role) runThread(workerData)
else module.exports = load()
