import { existsSync } from 'node:fs'
import type { Experience } from '../../experience/experience.js'
import type { RowExperiences } from './file-buffer.js'
import { JsonlFile, type Repair } from './jsonl-file.js'

/** A JSONL file of experiences, in the order of its lines. It is only written to, and made, when something is put. */
export class ExperienceFile implements RowExperiences {
  readonly path: string
  readonly repair?: Repair
  readonly #offsets: number[]
  #file?: JsonlFile
  #writing = false

  private constructor(path: string, file: JsonlFile | undefined, offsets: number[]) {
    this.path = path
    this.repair = file?.repair
    this.#file = file
    this.#offsets = offsets
  }

  static async open(path: string): Promise<ExperienceFile> {
    const file = existsSync(path) ? await JsonlFile.openToRead(path) : undefined
    return new ExperienceFile(path, file, (await file?.offsets()) ?? [])
  }

  get length(): number {
    return this.#offsets.length
  }

  read(indices: readonly number[]): Promise<Experience[]> {
    return this.#file!.read(indices.map((index) => this.#offsets[index]))
  }

  async append(experiences: readonly Experience[]): Promise<void> {
    if (!this.#writing) {
      await this.#file?.close()
      this.#file = await JsonlFile.open(this.path)
      this.#writing = true
    }
    const offsets = await this.#file!.append(experiences)
    for (const offset of offsets) this.#offsets.push(offset)
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }
}
