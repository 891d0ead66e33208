import { z } from 'zod'
import { fileTypes } from '../../model/gguf/file-type.js'
import type { ExportList } from '../api.js'
import { acting, type Part } from '../part.js'
import type { Runs } from '../run/runs.js'
import { type Exporter, exportFolder, HF } from './export.js'

const types = [HF, ...Object.keys(fileTypes)]
const exportBody = z.strictObject({
  step: z.int().min(0),
  type: z.enum(types),
  isSure: z.boolean().optional(),
})

/** Checkpoints as files for other programs. */
export function exportParts(runs: Runs, exporter: Exporter): Part[] {
  return [
    {
      path: '/runs/:run/exports',
      answer: async (_, id): Promise<ExportList> => ({
        folder: exportFolder(await runs.get(id)),
        types,
        exports: exporter.of(id),
      }),
    },
    acting('/runs/:run/export', exportBody, async (body, id) => exporter.start(await runs.get(id), body)),
  ]
}
