import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { baseOfSetup } from './database/base.js'
import { SqlDatabase } from './database/database.js'
import { SqlPool } from './database/pool.js'
import { databasesOf } from './dump.js'

const pool = new SqlPool(1)
afterAll(() => pool.close())

const DUMP = `-- MySQL dump 10.13
/*!40101 SET NAMES utf8 */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ \`band\` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE \`band\`;
DROP TABLE IF EXISTS \`singer\`;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE \`singer\` (
  \`Singer_ID\` int NOT NULL AUTO_INCREMENT,
  \`Name\` varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci DEFAULT NULL COMMENT 'who, (when)',
  \`key\` enum('a','b,c') DEFAULT 'a',
  \`18_49 Share\` decimal(10,2) unsigned DEFAULT NULL,
  \`Worth\` double DEFAULT '0',
  \`Born\` datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (\`Singer_ID\`),
  KEY \`by_name\` (\`Name\`(10)),
  CONSTRAINT \`fk\` FOREIGN KEY (\`key\`) REFERENCES \`other\` (\`id\`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4;
LOCK TABLES \`singer\` WRITE;
INSERT INTO \`singer\` VALUES (1,'Ann; \\'x\\' \\\\ \\n','a',1.50,-2,'2004-01-01 00:00:00'),(2,_binary 'it''s "b"',NULL,NULL,3e2,NULL);
UNLOCK TABLES;
CREATE DATABASE \`empty\`;
USE \`empty\`;
USE \`band\`;
CREATE TABLE \`show\` (\`a\` int, \`b\` int, PRIMARY KEY (\`a\`,\`b\`));
`

it('reads the databases of a dump of MySQL', async () => {
  const databases = databasesOf(DUMP)
  expect([...databases.keys()]).toEqual(['band'])
  const db = new SqlDatabase(baseOfSetup('band', databases.get('band') ?? ''), pool)
  expect(await db.run('SELECT * FROM singer')).toEqual({
    rows: [
      [1n, "Ann; 'x' \\ \n", 'a', 1.5, -2, '2004-01-01 00:00:00'],
      [2n, 'it\'s "b"', null, null, 300, null],
    ],
  })
  expect(await db.run('DESC singer')).toEqual({
    rows: [
      ['Singer_ID', 'INT', 'NO', 'PRI', null, ''],
      ['Name', 'varchar(40)', 'YES', '', null, ''],
      ['key', 'TEXT', 'YES', '', null, ''],
      ['18_49 Share', 'decimal(10,2)', 'YES', '', null, ''],
      ['Worth', 'double', 'YES', '', null, ''],
      ['Born', 'datetime', 'YES', '', null, ''],
    ],
  })
  expect(await db.run("SELECT Singer_ID FROM singer WHERE name LIKE 'ANN%' OR name = 'IT''S \"B\"'")).toEqual({
    rows: [[1n], [2n]],
  })
  expect(await db.run('DESC `show`')).toMatchObject({
    rows: [
      ['a', 'INT', 'YES', 'PRI', null, ''],
      ['b', 'INT', 'YES', 'PRI', null, ''],
    ],
  })
})

it('reads every text as it was', async () => {
  const letters = fc.string({ unit: fc.constantFrom(...`'"\\;\n\t,()ab\`é😀%-`), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(letters, async (text) => {
      const quoted = text
        .replaceAll('\\', '\\\\')
        .replaceAll("'", "\\'")
        .replaceAll('\n', '\\n')
        .replaceAll('\t', '\\t')
      const dump = `USE x; CREATE TABLE \`t\` (\`a\` text); INSERT INTO \`t\` VALUES ('${quoted}');`
      const db = new SqlDatabase(baseOfSetup('x', databasesOf(dump).get('x') ?? ''), pool)
      expect(await db.run('SELECT a FROM t')).toEqual({ rows: [[text]] })
    }),
    { numRuns: 20 },
  )
})
