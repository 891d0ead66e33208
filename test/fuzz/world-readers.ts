import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Libsql from 'libsql'
import { reading } from '../../src/base/file/system-error.js'
import { HOUSES, rowOf } from '../../src/environment/alfworld/house.fixture.js'
import { AlfWorld } from '../../src/environment/alfworld/index.js'
import { buildMailbox } from '../../src/environment/email/build.js'
import { emailsIn, readMailbox } from '../../src/environment/email/mailbox.js'
import { askedTask } from '../../src/environment/scienceworld/task.js'
import { readLevel, readLevels } from '../../src/environment/sokoban/level.js'
import { databaseIn, readDump, readTasks } from '../../src/environment/sql/index.js'
import { catalogueInMemory } from '../../src/environment/webshop/catalogue/build.js'
import { findFiles } from '../../src/environment/webshop/catalogue/files.js'
import { writeCatalogue } from '../../src/environment/webshop/catalogue.fixture.js'
import type { FileReader } from './run-files.js'

const LEVELS = `; 1
#######
#. @ .#
# $ $ #
#     #
#######

; 2
#####
#@$.#
#####
`
const DUMP = `-- MySQL dump
USE \`shop\`;
CREATE TABLE \`items\` (\`id\` int(11) NOT NULL, \`name\` varchar(20) DEFAULT 'x', PRIMARY KEY (\`id\`)) ENGINE=InnoDB;
INSERT INTO \`items\` VALUES (1,'it\\'s'),(2,_utf8mb4'two');
`
const TASKS = [
  { query: 'How many items?', gold: 'SELECT count(*) FROM items', db: 'shop' },
  { query: 'Names?', gold: 'SELECT name FROM items', extra: { db: 'shop' } },
]
const MAIL = {
  ...{ message_id: 'm1', date: '2001-01-02 03:04:05', subject: 'Lunch', from_address: 'a@b.c', body: 'At noon?' },
  ...{ to_addresses: ['d@e.f'], cc_addresses: [], bcc_addresses: [], file_name: 'x' },
}
const SCIENCE = { task_name: 'boil', var_num: 3, jar_path: 'x.jar' }

const text = (path: string): Promise<string> => reading(readFile(path, 'utf8'), path)

/** Readers of the data of environments. */
export const WORLD_READERS: readonly FileReader[] = [
  {
    name: 'ALFWorld game',
    sample: (dir) =>
      writeFile(join(dir, 'game.tw-pddl'), JSON.stringify({ ...rowOf(HOUSES[1]), walkthrough: ['look'] })),
    forms: [[/./, 'json']],
    read: async (dir) => {
      const world = new AlfWorld()
      await world.reset({ row: { game_file: join(dir, 'game.tw-pddl') }, seed: 0 })
      for (const command of world.admissible().slice(0, 5)) world.step(command)
    },
  },
  {
    name: 'PDDL of an ALFWorld game',
    sample: (dir) => writeFile(join(dir, 'problem.pddl'), String(rowOf(HOUSES[0]).pddl_problem)),
    forms: [[/./, 'text']],
    read: async (dir) => {
      const row = { ...rowOf(HOUSES[0]), pddl_problem: await text(join(dir, 'problem.pddl')) }
      const world = new AlfWorld()
      await world.reset({ row, seed: 0 })
      for (const command of world.admissible().slice(0, 5)) world.step(command)
    },
  },
  {
    name: 'Sokoban levels',
    sample: (dir) => writeFile(join(dir, 'levels.txt'), LEVELS),
    forms: [[/./, 'text']],
    read: async (dir) => {
      for (const level of readLevels(await text(join(dir, 'levels.txt')))) readLevel(level)
    },
  },
  {
    name: 'SQL tasks',
    sample: (dir) => writeFile(join(dir, 'tasks.json'), JSON.stringify(TASKS)),
    forms: [[/./, 'json']],
    read: (dir) => readTasks(join(dir, 'tasks.json')),
  },
  {
    name: 'SQL dump',
    sample: (dir) => writeFile(join(dir, 'dump.sql'), DUMP),
    forms: [[/./, 'text']],
    read: (dir) => readDump(join(dir, 'dump.sql')),
  },
  {
    name: 'SQL database',
    sample: async (dir) => {
      const db = new Libsql(join(dir, 'shop.sqlite'))
      db.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO items VALUES (1, NULL)')
      db.close()
    },
    forms: [[/\.sqlite$/, 'binary']],
    read: (dir) => databaseIn(dir, 'shop'),
    weight: 0.3,
  },
  {
    name: 'mails',
    sample: (dir) => writeFile(join(dir, 'mails.jsonl'), `${JSON.stringify(MAIL)}\n${JSON.stringify(MAIL)}\n`),
    forms: [[/./, 'json lines']],
    read: async (dir) => {
      for await (const _ of emailsIn(join(dir, 'mails.jsonl')));
    },
  },
  {
    name: 'database of mails',
    sample: async (dir) => {
      const { db } = await buildMailbox(join(dir, 'mails.db'), [MAIL, { ...MAIL, message_id: 'm2', body: 'naïve' }])
      db.close()
    },
    forms: [[/mails\.db$/, 'database']],
    read: async (dir) => {
      const mailbox = await readMailbox(join(dir, 'mails.db'))
      mailbox.search({ inbox: 'd@e.f', keywords: ['lunch'], before: '2030-01-01' })
      for (const id of ['m1', 'm2']) mailbox.read(id)
    },
  },
  {
    name: 'WebShop catalogue',
    sample: async (dir) => writeCatalogue(dir),
    forms: [[/./, 'json']],
    read: async (dir) => (await catalogueInMemory(await findFiles(dir, null), { products: null })).close(),
    weight: 0.5,
  },
  {
    name: 'ScienceWorld task',
    sample: (dir) => writeFile(join(dir, 'task.json'), JSON.stringify(SCIENCE)),
    forms: [[/./, 'json']],
    read: async (dir) => askedTask({ row: {}, text: await text(join(dir, 'task.json')), seed: 0 }),
  },
]
