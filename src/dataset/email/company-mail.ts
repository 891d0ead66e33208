import { Pcg64 } from '../../base/random/index.js'
import type { Email } from '../../environment/email/index.js'
import type { DataRow } from '../../task/index.js'

const PEOPLE = ['ann.lee', 'bob.kay', 'cleo.diaz', 'dan.moss', 'eva.lund', 'finn.ross', 'gina.wu', 'hugo.roth']
const COLORS =
  'Amber Azure Coral Crimson Golden Indigo Ivory Jade Lilac Olive Pearl Ruby Scarlet Silver Teal Violet'.split(' ')
const ANIMALS = (
  'Badger Beaver Crane Dolphin Eagle Falcon Gecko Heron Ibex Jaguar Koala Lynx Marten Newt Otter Panda Quail Raven ' +
  'Seal Tapir Urchin Vole Walrus Yak Zebra Bison Cobra Dingo Egret Ferret'
).split(' ')
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday']
const CITIES = ['Boston', 'Denver', 'Houston', 'Miami', 'Portland', 'Seattle']
const QUERY_DATE = '2002-01-01'

/** How many different projects there are. */
export const PROJECTS = COLORS.length * ANIMALS.length

/** Something that a mail says of a project, and how it is asked for. */
interface Fact {
  readonly subject: string
  readonly body: string
  readonly question: string
  readonly answer: string
}

function factOf(project: string, random: Pcg64): Fact {
  const [day, city] = [pick(random, DAYS), pick(random, CITIES)]
  const [hour, room, price] = [8 + random.below(9), 100 + random.below(399), 500 * (2 + random.below(97))]
  const facts: readonly Fact[] = [
    {
      subject: `${project}: kickoff`,
      body: `we begin with ${project} next ${day} at ${hour}:00 in room ${room}. Please bring your notes.`,
      question: `On which day of the week is the kickoff of ${project}?`,
      answer: day,
    },
    {
      subject: `Room for ${project}`,
      body: `the review of ${project} has moved: it is now in room ${room}, still at ${hour}:00.`,
      question: `In which room is the review of ${project}?`,
      answer: String(room),
    },
    {
      subject: `Offer for ${project}`,
      body: `the supplier wants ${price} dollars for ${project}. I think that we should accept.`,
      question: `How many dollars does the supplier want for ${project}?`,
      answer: String(price),
    },
    {
      subject: `Travel plans`,
      body: `for ${project} I fly to ${city} on ${day}. You can reach me by phone in the evening.`,
      question: `To which city does the flight for ${project} go?`,
      answer: city,
    },
  ]
  return pick(random, facts)
}

/** A made mailbox: for each question the mail that answers it, and another one about the same project that does not. */
export function companyMail(count: number, seed: number): { emails: Email[]; questions: DataRow[] } {
  const random = new Pcg64(seed)
  const emails: Email[] = []
  const questions = projectsOf(count, random).map((project, id): DataRow => {
    const [sender, inbox] = pair(random)
    const { subject, body, question, answer } = factOf(project, random)
    const told = emailOf(`<${id}.told@example.com>`, dateOf(random), sender, inbox, subject, body)
    const about = `did you hear about ${project}? I will write again when I know more.`
    const empty = emailOf(`<${id}.asked@example.com>`, dateOf(random), sender, inbox, `Re: ${project}`, about)
    emails.push(told, empty)
    const facts = { id, question, answer, message_ids: [told.message_id], how_realistic: 1 }
    return { ...facts, inbox_address: inbox, query_date: QUERY_DATE }
  })
  return { emails, questions }
}

function projectsOf(count: number, random: Pcg64): string[] {
  const all = COLORS.flatMap((color) => ANIMALS.map((animal) => `${color} ${animal}`))
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.below(i)
    ;[all[i], all[j]] = [all[j], all[i]]
  }
  return all.slice(0, count)
}

function emailOf(message_id: string, date: string, from: string, to: string, subject: string, body: string): Email {
  const name = to.split('.')[0]
  const hello = `Hi ${name[0].toUpperCase()}${name.slice(1)},\n\n`
  const others = { cc_addresses: [], bcc_addresses: [], file_name: null }
  return { message_id, date, subject, from_address: from, to_addresses: [to], body: `${hello}${body}\n`, ...others }
}

/** Two people. */
function pair(random: Pcg64): [string, string] {
  const from = random.below(PEOPLE.length - 1)
  const to = (from + 1 + random.below(PEOPLE.length - 2)) % PEOPLE.length
  return [`${PEOPLE[from]}@example.com`, `${PEOPLE[to]}@example.com`]
}

/** In the year 2001. */
function dateOf(random: Pcg64): string {
  const time = Date.UTC(2001, 0, 1) + 60_000 * random.below(360 * 24 * 60)
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ')
}

function pick<T>(random: Pcg64, list: readonly T[]): T {
  return list[random.below(list.length - 1)]
}
