import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canMakeNetworks } from '../../../test/support/networks.js'
import { testPython } from '../../../test/support/python.js'
import { RayCluster, rayPython } from '../../../test/support/ray.js'
import { RayGround } from '../../machine/ray/ground.js'
import { type OpenEnvironment, openEnvironment } from '../index.js'

const python = testPython('gymnasium')
const ARGS = { id: 'FrozenLake-v1', actions: ['left', 'down', 'right', 'up'], python: python.path, workers: 2 }
const WAY = ['right', 'right', 'down', 'left', 'down']

describe.skipIf(python.absent || rayPython.absent)(
  `environments of Python on a Ray of two nodes${python.note}${rayPython.note}`,
  () => {
    let cluster: RayCluster
    let ground: RayGround
    const nodes: (string | undefined)[] = []
    beforeAll(async () => {
      cluster = await RayCluster.start([1, 1], { apart: canMakeNetworks })
      ground = await RayGround.open({ address: cluster.address, namespace: 'test', python: rayPython.path })
    }, 900_000)
    afterAll(async () => {
      await ground?.close()
      cluster?.close()
    }, 60_000)

    /** One place for all, as a run has it. */
    const place = () => Promise.resolve({ ground: told })
    const told = {
      spans: true,
      room: async (...asked: Parameters<RayGround['room']>) => {
        const room = await ground.room(...asked)
        nodes.push(room.node)
        return room
      },
      meeting: () => ground.meeting(),
      close: async () => {},
    }
    async function played(world: OpenEnvironment, seed: number): Promise<string[]> {
      const seen = [(await world.reset({ row: {}, seed })).observation]
      for (const action of WAY) seen.push((await world.step(action)).observation)
      return seen
    }

    it('are spread over the nodes and play there as here; a lost node costs its episodes only', async () => {
      // a pool opens its second worker for a second world
      const first = await openEnvironment('gymnasium', ARGS, { place })
      const second = await openEnvironment('gymnasium', ARGS, { place })
      expect(nodes.toSorted()).toEqual([cluster.host(0), cluster.host(1)].toSorted())
      const here = await openEnvironment('gymnasium', { ...ARGS, workers: 1 })
      const wanted = await played(here, 3)
      await here.close()
      expect(await Promise.all([played(first, 3), played(second, 3)])).toEqual([wanted, wanted])
      const [lost, kept] = nodes[0] === cluster.host(1) ? [first, second] : [second, first]
      await Promise.all([lost, kept].map((world) => world.reset({ row: {}, seed: 3 })))
      cluster.kill(1)
      await expect(lost.step('right')).rejects.toMatchObject({
        code: 'environment/worker-died',
        message: expect.stringMatching(/^a Python worker was lost/),
      })
      await kept.step('right')
      expect(await played(lost, 3)).toEqual(wanted)
      expect(nodes[2]).toBe(cluster.host(0))
      await Promise.all([lost.close(), kept.close()])
    }, 240_000)
  },
)
