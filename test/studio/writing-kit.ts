import { fileURLToPath } from 'node:url'
import { Child } from '../../src/studio/child/child.js'
import { Players } from '../../src/studio/playground/players.js'
import type { StudioOptions } from '../../src/studio/studio.js'
import { cli } from '../run/cli-kit.js'

const built = (name: string) => fileURLToPath(new URL(`../../dist/studio/${name}`, import.meta.url))

/** What a Studio needs that writes runs and talks to models: the processes of the built package. */
export function writing(pluginDirs: readonly string[] = []): Omit<StudioOptions, 'version' | 'folders'> {
  const child = (file: string) => new Child({ file: built(file), args: pluginDirs, name: file, idleMs: 600_000 })
  return {
    program: [process.execPath, cli],
    pluginDirs,
    desk: child('write/desk-process.js'),
    players: new Players(() => child('playground/player-process.js')),
  }
}
