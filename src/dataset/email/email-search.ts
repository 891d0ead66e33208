import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { buildMailbox, type Email, emailsIn } from '../../environment/email/index.js'
import { dataset } from '../dataset.js'
import { rowsOf } from '../given.js'
import type { Place } from '../place.js'
import { writeSplits } from '../world/splits.js'
import { worldYaml } from '../world/yaml.js'
import { companyMail, PROJECTS } from './company-mail.js'

const args = z.strictObject({
  mails: z.string().default('').describe('file with a mail in each row; otherwise mails and questions are generated'),
  from: z.string().default('').describe('questions about these mails: a file or folder, or an id on a hub'),
  train: z.int().positive().default(200).describe('how many questions are generated'),
  test: z.int().positive().default(50),
  seed: z.int().nonnegative().default(0),
})

type Args = z.output<typeof args>

/** The database of the folder. */
const MAILS = 'mails.db'
/** Those of ART-E. */
const QUESTIONS = 'corbt/enron_emails_sample_questions'

export const emailSearchQuestions = dataset({
  doc: 'questions about a mailbox, with the mails indexed: yours (such as the Enron mails of ART-E), or a generated one',
  source: `generated; or mails and questions of yours (ART-E: corbt/enron-emails, ${QUESTIONS})`,
  license: 'generated ones: none needed; others: that of the mails',
  args,
  prepare: (given, place) => (given.mails === '' ? generated(given, place) : taken(given, place)),
  yaml: (_, folder) => {
    const played = { workflow: 'email_search_workflow', args: { database: join(folder, MAILS) } }
    return worldYaml('email_search', folder, played, ['train', 'test'])
  },
})

async function generated({ train, test, seed, from }: Args, place: Place): Promise<void> {
  if (from !== '') {
    throw new TrinityError('dataset/args', 'questions need the mails that they are about', {
      path: 'from',
      hint: 'name the file of mails with --mails',
    })
  }
  if (train + test > PROJECTS) {
    throw new TrinityError('dataset/exhausted', `there are only ${PROJECTS} different questions`, {
      path: 'train',
      hint: 'ask for fewer',
    })
  }
  const { emails, questions } = companyMail(train + test, seed)
  await place.put(MAILS, databaseOf(emails, place))
  await writeSplits(place, { train, test }, () => questions)
}

async function taken({ mails, from }: Args, place: Place): Promise<void> {
  await place.put(MAILS, databaseOf(emailsIn(mails), place))
  for (const split of ['train', 'test']) {
    await place.write(`${split}.jsonl`, rowsOf('email_search', { path: from || QUESTIONS, splits: [split] }))
  }
}

/** The bytes of a database of mails. */
async function* databaseOf(emails: Iterable<Email> | AsyncIterable<Email>, place: Place): AsyncIterable<Buffer> {
  const folder = await mkdtemp(join(place.folder, '.mails-'))
  try {
    const file = join(folder, MAILS)
    const { db, built } = await buildMailbox(file, emails, place.signal)
    db.close()
    const why = 'longer than 5,000 characters, to more than 30 people, or the same as another'
    place.logger?.info(`${built.kept} mails${built.skipped > 0 ? `, ${built.skipped} left out (${why})` : ''}`)
    yield* createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
