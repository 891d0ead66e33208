import { appendFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Sets `window.stolen` wherever it becomes markup. */
export const EVIL = '"><img src=x onerror="window.stolen=1"><script>window.stolen=1</script>'

/** A run like another, in which everything that models, users and programs write tries to become markup. */
export async function hostileRun(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true })
  const change = async (name: string, edit: (text: string) => string) => {
    const path = join(to, name)
    await writeFile(path, edit(await readFile(path, 'utf8')))
  }
  const evil = JSON.stringify(EVIL).slice(1, -1)
  await change('.trinity/run-both.json', (text) => {
    const record = JSON.parse(text)
    const { project, model, buffer } = record.config
    record.config = { ...record.config, name: EVIL, project, model: { ...model, model_path: EVIL } }
    for (const set of buffer.explorer_input.eval_tasksets) set.path = EVIL
    record.end = { how: 'failed', at: new Date().toISOString(), error: { code: EVIL, message: EVIL } }
    return JSON.stringify(record)
  })
  await change('buffer/experience_buffer.jsonl', (text) =>
    text
      .replaceAll(/"(prompt_text|response_text|content)":"/g, `"$1":"${evil}`)
      .replaceAll('"metrics":{', `"metrics":{"${evil}":1,`)
      .replaceAll('"info":{', `"info":{"${evil}":"${evil}",`),
  )
  await change('monitor/trainer.jsonl', (text) => text.replaceAll('"metrics":{', `"metrics":{"${evil}":1,`))
  await appendFile(join(to, 'log', 'trainer.log'), `ERROR 11-16 00:00:00 [trainer] ${EVIL}\n`)
  await appendFile(join(to, 'log', `${EVIL.replaceAll('/', '')}.log`), `${EVIL}\n`)
}
