import { bool, int, record, section, str, unset } from '../field.js'

export const dataJuicer = record('DataJuicerServiceConfig', 'The Data-Juicer service.', {
  server_url: str('Address of a running service.', null, { secret: 'url' }),
  auto_start: bool('Start one.', false),
  port: int('Port of a service that the run starts.', null, { min: 0, max: 65535 }),
})

export const service = record('ServiceConfig', 'Services that the run uses.', {
  data_juicer: unset(section(dataJuicer, 'Data-Juicer.')),
})
