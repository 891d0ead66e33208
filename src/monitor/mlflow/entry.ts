import { z } from 'zod'
import { monitorEntry } from '../entry.js'

const open = z.string().nullable().default(null)

export const mlflow = monitorEntry({
  doc: 'MLflow: a run <name>_<role> for each role, in the experiment of the project',
  args: z.strictObject({
    uri: z.string().default('http://localhost:5000').describe('Address of the tracking server.'),
    username: open.describe('null: MLFLOW_TRACKING_USERNAME.'),
    password: open.describe('null: MLFLOW_TRACKING_PASSWORD.'),
  }),
  async open(args, { config, role, ...context }) {
    const [{ MlflowRun }, { openRemote }, { flattened, sharedConfig }] = await Promise.all([
      import('./mlflow.js'),
      import('../remote/open.js'),
      import('../remote/shared-config.js'),
    ])
    const shown = sharedConfig(config)
    const remote = new MlflowRun({
      uri: args.uri.replace(/\/+$/, ''),
      username: args.username ?? process.env.MLFLOW_TRACKING_USERNAME,
      password: args.password ?? process.env.MLFLOW_TRACKING_PASSWORD,
      experiment: shown.project,
      name: `${shown.name}_${role}`,
      group: shown.group || shown.name,
      role,
      params: flattened(shown),
    })
    return openRemote('mlflow', remote, { config, role, ...context })
  },
})
