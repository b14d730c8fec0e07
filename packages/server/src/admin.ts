import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { authOperations } from '@lockstep/contract/auth'
import type { Body } from '@lockstep/contract/operation'
import { v7 as newUuid } from 'uuid'
import { Passwords } from './auth/passwords.ts'
import { configOrExit } from './config.ts'
import { startNewEpoch } from './core/chores.ts'
import { Database } from './core/database.ts'
import { inputReader } from './core/input.ts'
import { migrate } from './core/migrate.ts'
import { problemOfDatabase } from './core/problem.ts'
import { ringForUser } from './realtime/bus.ts'
import { insertUser, setActive } from './users/user-queries.ts'

const usage = `npm run admin -- <command>

  create-superuser --email <address> --username <name>   asks for the password, or reads it from standard input
  deactivate <address>                                   the user's tokens are refused from the next request on
  activate <address>
  migrate                                                bring the schema up to date
  new-epoch                                              after a restore: every client loads its boards anew`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { email: { type: 'string' }, username: { type: 'string' } },
})
const [command, address] = positionals
const config = configOrExit()
const readAccount = inputReader<Body<typeof authOperations.register>>(authOperations.register.body)

if (command === 'migrate') {
  const names = await migrate(config.DATABASE_URL)
  console.log(names.length === 0 ? 'Nothing to migrate.' : names.join('\n'))
} else if (command === 'new-epoch') {
  await withDatabase(async (db) => console.log(`${await startNewEpoch(db)} boards begin a new epoch`))
} else if (command === 'create-superuser' && values.email && values.username) {
  await createSuperuser(values.email, values.username)
} else if ((command === 'deactivate' || command === 'activate') && address) {
  await withDatabase(async (db) => {
    const user_id = await setActive(db, address, command === 'activate')
    if (user_id === undefined) return fail(`There is no user ${address}.`)
    console.log(`${address}: ${command}d`)
    if (config.REDIS_URL === '') return
    await ringForUser(config.REDIS_URL, user_id).catch(() =>
      console.log('Redis cannot be reached: open sockets are closed with their next heartbeat.'),
    )
  })
} else {
  fail(usage)
}

async function createSuperuser(email: string, username: string) {
  const passwords = new Passwords({
    min_length: config.PASSWORD_MIN_LENGTH,
    max_length: config.PASSWORD_MAX_LENGTH,
    requires: config.PASSWORD_REQUIRES,
  })
  await withDatabase(async (db) => {
    const { password, ...user } = readAccount({ email, username, password: await askPassword() })
    passwords.demandStrong(password)
    const hashed_password = await passwords.hash(password)
    await insertUser(db, {
      ...user,
      id: newUuid(),
      hashed_password,
      firstname: null,
      lastname: null,
      is_superuser: true,
    })
    console.log(`${email}: created`)
  })
}

/** From the terminal, or the first line of whatever standard input holds. */
async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] as string
  // What is typed is not shown.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  process.stderr.write('Password: ')
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
  }
}

async function withDatabase(work: (db: Database) => Promise<void>) {
  const db = new Database({ url: config.DATABASE_URL, size: 2, on_error: (error) => fail(error.message) })
  try {
    await work(db)
  } catch (error) {
    fail((problemOfDatabase(error) ?? (error as Error)).message)
  } finally {
    await db.close()
  }
}

function fail(sentence: string) {
  console.error(sentence)
  process.exitCode = 1
}
