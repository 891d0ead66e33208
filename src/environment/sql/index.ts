/** Questions about databases, answered with SQL as in InterCode. */

export { DUMPS, databaseIn, readDump, usualPlace } from './databases.js'
export { intercodeSql } from './intercode-sql.js'
export { databaseName, goldProblem, readTasks } from './task.js'
