import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { describeEnvironment } from '../../testing/index.js'
import { openEnvironment } from '../index.js'

const { afterAll, beforeAll, describe, expect, it } = vitest

const MAILS = [
  {
    message_id: '<a>',
    date: '2001-05-14 09:30:00',
    subject: 'Budget',
    from: 'ann@x',
    to: ['bob@x'],
    body: 'The budget is 40 dollars.',
  },
  {
    message_id: '<b>',
    date: '2001-05-15 09:30:00',
    subject: 'Re: Budget',
    from: 'bob@x',
    to: ['ann@x'],
    cc: ['eve@x'],
    body: 'Grüße, the "budget" is fine',
  },
  { message_id: '<c>', date: '2001-07-01 00:00:00', subject: 'Budget', from: 'bob@x', to: ['ann@x'], body: 'Later' },
  {
    message_id: '<d>',
    date: '2001-05-16 00:00:00',
    subject: 'Budget',
    from: 'eve@x',
    to: ['dan@x'],
    body: 'Not yours',
  },
]
const row = {
  ...{ id: 1, question: 'How large is the budget?', answer: '40 dollars', message_ids: ['<a>'], how_realistic: 1 },
  ...{ inbox_address: 'ann@x', query_date: '2001-06-01' },
}
const other = { ...row, question: 'Who is fine?', answer: 'the budget', message_ids: ['<b>'] }
const call = (name: string, args: object) => JSON.stringify({ name, arguments: args })
const search = (keywords: string[], more = {}) =>
  call('search_emails', { inbox_address: 'ann@x', query_date: '2001-06-01', keywords, ...more })
const answer = (text: string, sources: string[] = ['<a>']) => call('generate_response', { answer: text, sources })

let dir: string
let database: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-mail-'))
  database = join(dir, 'mails.jsonl')
  await writeFile(database, MAILS.map((mail) => JSON.stringify(mail)).join('\n'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describeEnvironment(vitest, 'email_search', {
  open: () => openEnvironment('email_search', { database }),
  episodes: [row, other].map((one) => ({ row: one, seed: 0 })),
  actions: [search(['budget']), search(['nothing']), call('read_email', { message_id: '<a>' }), answer('40 dollars')],
  ending: { episode: { row, seed: 0 }, actions: [search(['budget']), answer('40 dollars')] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('email_search', () => {
  const play = async (actions: string[], given: object = row, args = {}) => {
    const world = await openEnvironment('email_search', { database, ...args })
    await world.reset({ row: given as never, seed: 0 })
    const seen = []
    for (const action of actions) seen.push(await world.step(action))
    await world.close()
    return seen
  }
  const said = async (action: string, args = {}) => (await play([action], row, args))[0].observation

  it("finds mails of the user up to the day of the question, the latest first, in the original's form", async () => {
    expect(await said(search(['budget']))).toBe(
      '[{"message_id": "<b>", "snippet": "Re: <b>Budget</b>"}, {"message_id": "<a>", "snippet": "<b>Budget</b>"}]',
    )
    expect(await said(search(['budget', 'dollars']))).toContain('"<a>"')
    expect(await said(search(['budget', 'dollars']))).not.toContain('"<b>"')
    expect(await said(search(['budget'], { query_date: '2001-07-01' }))).toContain('"<c>"')
    expect(await said(search(['budget'], { inbox_address: 'dan@x' }))).toContain('"<d>"')
    expect(await said(search(['nothing']))).toBe('[]')
    expect(await said(search(['budget'], { query_date: '2001-99-99' }))).toMatch(/^Error: Failed to search emails/)
  })

  it('reads a mail', async () => {
    expect(await said(call('read_email', { message_id: '<b>' }))).toBe(
      '{"message_id": "<b>", "date": "2001-05-15 09:30:00", "subject": "Re: Budget", "from_address": "bob@x", "to_addresses": ["ann@x"], "cc_addresses": ["eve@x"], "bcc_addresses": [], "body": "Gr\\u00fc\\u00dfe, the \\"budget\\" is fine", "file_name": null}',
    )
    expect(await said(call('read_email', { message_id: 'x' }))).toBe('Error: Email (message_id = x) not found.')
    expect(await said(call('read_email', { message_id: '<b>' }), { tool_obs_char_limit: 100 })).toHaveLength(100)
  })

  it('takes short forms from people, and arguments as text', async () => {
    expect(await said('search_emails budget dollars')).toContain('"<a>"')
    expect(await said('read_email <a>')).toContain('40 dollars')
    expect(await said(JSON.stringify({ name: 'read_email', arguments: '{"message_id": "<a>"}' }))).toContain(
      '40 dollars',
    )
  })

  it.each([
    [[answer('It is 40 dollars.')], 2.49, true],
    [[search(['budget']), call('read_email', { message_id: '<a>' }), answer('40 dollars')], 2.47, true],
    [[search(['budget']), call('read_email', { message_id: '<a>' }), answer('50 dollars')], -0.7, false],
    [[search(['budget']), answer("I don't know", [])], 0.1, false],
    [[answer('', [])], 0, false],
  ])('%j earns %d', async (actions, reward, won) => {
    expect((await play(actions)).at(-1)).toMatchObject({ done: true, won, reward: expect.closeTo(reward, 9) })
  })

  it('an episode without an answer is worth −1', async () => {
    expect((await play([search(['budget'])]))[0]).toMatchObject({ score: -1, done: false })
    expect((await play([answer("I don't know", [])], row, { unknown_is_wrong: true }))[0].reward).toBe(-1)
  })

  it('answers any action and any keyword', async () => {
    const world = await openEnvironment('email_search', { database })
    const keyword = fc.string({ unit: fc.constantFrom(...`"'*():^-+ANDORNEAR\0 éa{}`), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.array(keyword, { minLength: 1, maxLength: 4 }), fc.string(), async (keywords, text) => {
        await world.reset({ row, seed: 0 })
        expect((await world.step(search(keywords))).observation).toMatch(/^\[|^Error: /)
        expect(typeof (await world.step(text)).observation).toBe('string')
      }),
      { numRuns: 100 },
    )
    await world.close()
  })

  it.each([
    ['environment/row', { ...row, question: '' }],
    ['environment/row', { ...row, answer: null }],
    ['environment/row', { ...row, inbox_address: null }],
    ['environment/row', { ...row, query_date: 'spring' }],
    ['environment/row', { ...row, message_ids: 'x' }],
  ])('says %s to the row %j', async (code, given) => {
    await expect(play([], given)).rejects.toMatchObject({ code })
  })

  it('says where mails are missing or broken', async () => {
    const bad = join(dir, 'bad.jsonl')
    await writeFile(bad, '{"message_id": "<a>"}')
    const text = join(dir, 'bad.db')
    await writeFile(text, 'not a database, just some text that is long enough to be read as one')
    vitest.vi.stubEnv('DEFAULT_EMAIL_DB_PATH', '')
    for (const one of [undefined, join(dir, 'none.db'), bad, text]) {
      await expect(openEnvironment('email_search', { database: one })).rejects.toMatchObject({
        code: 'environment/data',
      })
    }
    vitest.vi.unstubAllEnvs()
  })
})
