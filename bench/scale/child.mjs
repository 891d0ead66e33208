// What the processes of this benchmark have in common: they get the bundled sources and their size as arguments, say when
// they are at work, and measure themselves between the words `begin` and `end`.
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { watchLoop } from '../lib.mjs'

const SAMPLE_MS = 100

export async function begin() {
  const [, , sources, given] = process.argv
  const size = JSON.parse(given)
  const wire = countWire()
  const api = await import(pathToFileURL(sources).href)
  const generator = new api.Pcg64(size.seed)
  process.on('disconnect', () => process.exit(1))
  return { api, size, random: () => generator.random(), report: (counts) => report(counts, wire), fail }
}

/** `counts` gives numbers that only grow, and `running`, of which the mean is told. */
function report(counts, wire) {
  let [loop, before, seen, sampling] = []
  const all = () => {
    const { running, ...rest } = counts()
    return { ...rest, ...wire() }
  }
  process.on('message', (what) => {
    if (what === 'begin') {
      before = all()
      seen = []
      sampling = setInterval(() => seen.push(counts().running ?? 0), SAMPLE_MS)
      loop = watchLoop()
    } else if (what === 'end') {
      const watched = loop()
      clearInterval(sampling)
      const after = all()
      const made = Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]))
      const running = seen.reduce((sum, one) => sum + one, 0) / Math.max(1, seen.length)
      process.send({ result: { ...made, ...watched, running } }, () => process.exit(0))
    }
  })
}

function fail(error) {
  console.error(error)
  process.exit(1)
}

/** Bytes that this process has sent over sockets and received. */
function countWire() {
  const sockets = new Set()
  const connect = Socket.prototype.connect
  Socket.prototype.connect = function (...args) {
    sockets.add(this)
    return connect.apply(this, args)
  }
  const sum = (key) => [...sockets].reduce((total, socket) => total + (socket[key] ?? 0), 0)
  return () => ({ sent: sum('bytesWritten'), received: sum('bytesRead') })
}
