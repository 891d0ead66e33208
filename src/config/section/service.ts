import { bool, int, record, section, str, unset } from '../field.js'

export const dataJuicer = record('DataJuicerServiceConfig', 'The Data-Juicer service.', {
  server_url: str('Address of a running service.', null, { secret: 'url' }),
  auto_start: bool('Start one.', false),
  port: int('Port of the one that is started.', null, { min: 0, max: 65535 }),
})

export const service = record('ServiceConfig', 'Services beside the run.', {
  data_juicer: unset(section(dataJuicer, 'Data-Juicer.')),
})
