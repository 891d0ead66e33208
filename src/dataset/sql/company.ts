import { Pcg64 } from '../../base/random/index.js'
import type { DataRow } from '../../task/index.js'

const FIRST = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gina', 'Hugo', 'Iris', 'Jon', 'Kim', 'Lea', 'Max', 'Nora']
const LAST = ['Abel', 'Brown', 'Cole', 'Dunn', 'Ellis', 'Ford', 'Gray', 'Hale', 'Irwin', 'Jones', 'Kane', 'Lowe']
const CITIES = ['Berlin', 'Lima', 'Oslo', 'Paris', 'Quito', 'Rome']
const DEPARTMENTS = ['Design', 'Legal', 'Sales', 'Support']
const PEOPLE = 24

/** A question about a company, and the query that answers it. */
type Question = readonly [query: string, gold: string]

const isIn = (name: string) => `department_id = (SELECT id FROM department WHERE name = '${name}')`

/** What may be asked, with a value drawn for each. */
function questionOf(random: Pcg64): Question {
  const city = pick(random, CITIES)
  const department = pick(random, DEPARTMENTS)
  const age = 25 + random.below(35)
  const questions: readonly Question[] = [
    [`How many employees live in ${city}?`, `SELECT count(*) FROM employee WHERE city = '${city}'`],
    [`How many employees are older than ${age}?`, `SELECT count(*) FROM employee WHERE age > ${age}`],
    [
      'What is the name of the employee with the highest salary?',
      'SELECT name FROM employee ORDER BY salary DESC, id LIMIT 1',
    ],
    [
      `List the names of employees in ${city}, by name.`,
      `SELECT name FROM employee WHERE city = '${city}' ORDER BY name`,
    ],
    [
      `How many employees work in the department ${department}?`,
      `SELECT count(*) FROM employee WHERE ${isIn(department)}`,
    ],
    [
      `What is the budget of the department ${department}?`,
      `SELECT budget FROM department WHERE name = '${department}'`,
    ],
    [
      'For each city, how many employees live there? Order by city.',
      'SELECT city, count(*) FROM employee GROUP BY city ORDER BY city',
    ],
    [
      `What is the largest salary in the department ${department}?`,
      `SELECT max(salary) FROM employee WHERE ${isIn(department)}`,
    ],
  ]
  return pick(random, questions)
}

/** A database of a company, drawn from a seed. */
export function companyOf(seed: number): string {
  const random = new Pcg64(seed)
  const departments = DEPARTMENTS.map((name, i) => `(${i + 1}, '${name}', ${1000 * (20 + random.below(80))})`)
  const people = Array.from({ length: PEOPLE }, (_, i) => {
    const name = `${pick(random, FIRST)} ${pick(random, LAST)}`
    const [age, salary] = [21 + random.below(44), 100 * (250 + random.below(600))]
    return `(${i + 1}, '${name}', ${age}, '${pick(random, CITIES)}', ${salary}, ${1 + random.below(DEPARTMENTS.length - 1)})`
  })
  return `CREATE TABLE department (id INTEGER PRIMARY KEY, name TEXT, budget INTEGER);
CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, city TEXT, salary INTEGER, department_id INTEGER REFERENCES department (id));
INSERT INTO department VALUES ${departments.join(', ')};
INSERT INTO employee VALUES ${people.join(', ')};
`
}

/** A question about one of the companies, drawn from a seed. */
export function companyTask(seed: number, companies: readonly string[]): DataRow {
  const random = new Pcg64(seed)
  const [query, gold] = questionOf(random)
  return { db: pick(random, companies), query, gold }
}

function pick<T>(random: Pcg64, list: readonly T[]): T {
  return list[random.below(list.length - 1)]
}
