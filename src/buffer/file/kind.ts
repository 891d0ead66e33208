import { type BufferKind, requiredPath } from '../kind.js'
import { ExperienceFile } from './experience-file.js'
import { FileBuffer, SequentialOrder } from './file-buffer.js'

export const file: BufferKind = {
  doc: 'a JSONL file of experiences, or a data set to train on',
  async open(config, context) {
    let source = context.source
    let append: ExperienceFile['append'] | undefined
    if (!source) {
      const jsonl = await ExperienceFile.open(requiredPath(config))
      if (jsonl.repair) context.onRepair?.(jsonl.repair)
      source = jsonl
      append = (experiences) => jsonl.append(experiences)
    }
    const steps = config.total_steps
    const data = source
    const given = typeof context.order === 'function' ? await context.order(data.length) : context.order
    const order = given ?? new SequentialOrder(() => data.length)
    const total = () => (steps ? steps * (config.batch_size || 1) : data.length * (config.total_epochs ?? 1))
    return new FileBuffer({ name: config.name, source, order, total, append })
  },
}
