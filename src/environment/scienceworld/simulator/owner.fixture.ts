import { SimulatorPool } from './pool.js'

/** A process with a simulator, which says the simulator's number and then does nothing more. */
const pool = new SimulatorPool({ jar: process.argv[2], heapMb: 256, timeoutMs: 60_000, processes: 1 })
const game = await pool.take()
console.log(game.simulator.pid)
setInterval(() => {}, 1000)
