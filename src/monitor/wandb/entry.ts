import { z } from 'zod'
import { monitorEntry } from '../entry.js'

const open = z.string().nullable().default(null)

export const wandb = monitorEntry({
  doc: 'Weights & Biases: a run <name>_<role> for each role; the key from WANDB_API_KEY',
  args: z.strictObject({
    base_url: open.describe('Address of the service; null: WANDB_BASE_URL, else https://api.wandb.ai.'),
    api_key: open.describe('null: WANDB_API_KEY.'),
  }),
  async open(args, { config, role, logger, ...context }) {
    const { WANDB_API_KEY, WANDB_BASE_URL, WANDB_ENTITY, WANDB_MODE } = process.env
    const mode = WANDB_MODE?.toLowerCase()
    if (mode === 'offline' || mode === 'disabled') {
      logger.info(`wandb: nothing is sent (WANDB_MODE=${mode})`)
      return undefined
    }
    const apiKey = args.api_key ?? WANDB_API_KEY
    if (!apiKey) {
      logger.warn('wandb: no key. Set WANDB_API_KEY or monitor.monitor_args.api_key; until then nothing is sent')
      return undefined
    }
    const [{ WandbRun }, { openRemote }, { sharedConfig }] = await Promise.all([
      import('./wandb.js'),
      import('../remote/open.js'),
      import('../remote/shared-config.js'),
    ])
    const shown = sharedConfig(config)
    const remote = new WandbRun({
      baseUrl: (args.base_url ?? WANDB_BASE_URL ?? 'https://api.wandb.ai').replace(/\/+$/, ''),
      apiKey,
      entity: WANDB_ENTITY,
      project: shown.project,
      name: `${shown.name}_${role}`,
      group: shown.group || shown.name,
      role,
      config: shown,
    })
    return openRemote('wandb', remote, { config, role, logger, ...context })
  },
})
