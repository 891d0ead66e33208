import { BEATS } from '../owned-process.js'
import { PythonProcess } from '../python/process.js'
import { freePort } from './free-port.js'
import type { Ground, Program, PythonProgram, Room } from './ground.js'

/** Programs as processes beside this one, by the Python that is given. */
export function thisMachine(python: string): Ground {
  const room: Room = {
    node: undefined,
    devices: () => [],
    freePort,
    start: (_, program) => startHere(program.python ?? python, program),
    passage: async (_, port) => ({ port, close: () => {} }),
    close: () => {},
  }
  return {
    spans: false,
    room: async () => room,
    meeting: async () => ({ port: await freePort() }),
    close: async () => {},
  }
}

function startHere(python: string, { beats, reaches, meets, env, ...program }: PythonProgram): Program {
  return new PythonProcess({
    ...program,
    python,
    env: {
      ...env,
      ...(beats !== undefined && { [beats]: String(BEATS) }),
      ...(meets && { [meets.variable]: String(meets.port) }),
      ...(reaches && { [reaches.variable]: `127.0.0.1:${reaches.port}` }),
    },
    beats: beats !== undefined,
  })
}
