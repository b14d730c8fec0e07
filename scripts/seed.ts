import { configOrExit } from '../packages/server/src/config/read-config.ts'
import { describeDatabaseError, isDatabaseError } from '../packages/server/src/database/connection-failure.ts'
import { exitWithUsage, readArguments } from '../packages/server/src/platform/command-line.ts'
import { seedBoards } from './seed-boards.ts'

const { values } = readArguments({
  help: `npm run seed [-- options]

Adds made-up users and boards to a database, and prints a login. Not for production.

  --boards <number>      number of boards (default: 20)
  --cards <number>       number of cards on each board (default: 100)
  --database-url <url>   the database (default: DATABASE_URL)
  --version              print the version
  --help                 show this help`,
  options: {
    boards: { type: 'string', default: '20' },
    cards: { type: 'string', default: '100' },
    'database-url': { type: 'string' },
  },
})
const [boards, cards] = [Number(values.boards), Number(values.cards)]
if (![boards, cards].every((count) => Number.isInteger(count) && count > 0))
  exitWithUsage('--boards and --cards must be positive numbers. See --help.')
const config = configOrExit()
if (config.isProduction) fail('ENVIRONMENT is production: refusing to add made-up users.')

const started = performance.now()
const seconds = () => (performance.now() - started) / 1000
let shown = 0
const progress = (done: number) => {
  const share = done / boards
  const left = Math.round((seconds() / share) * (1 - share))
  const line = `${'█'.repeat(share * 30).padEnd(30, '░')} ${done.toLocaleString('en')} of ${boards.toLocaleString('en')} boards, ${left} s left`
  if (process.stdout.isTTY) process.stdout.write(`\r${line}\x1b[K${done === boards ? '\n' : ''}`)
  // Without a terminal, print a line for every 10 %.
  else if (share >= shown + 0.1 || done === boards) console.log(line)
  if (share >= shown + 0.1) shown = share
}
const databaseUrl = values['database-url'] ?? config.database.url
const { user } = await seedBoards({ databaseUrl, boards, cards, progress }).catch((error: unknown) =>
  fail(isDatabaseError(error) ? describeDatabaseError(error, databaseUrl) : (error as Error).message),
)
console.log(`${(boards * cards).toLocaleString('en')} cards in ${Math.round(seconds())} s.`)
console.log(`Log in as ${user.email} with the password ${user.password}`)

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
