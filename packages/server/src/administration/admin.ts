import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { Account, AdminAction, Statistics } from '@lockstep/contract/administration'
import { authOperations } from '@lockstep/contract/auth'
import { formats } from '@lockstep/contract/formats'
import type { Body } from '@lockstep/contract/operation'
import { v7 as newUuid } from 'uuid'
import { passwordRules } from '../auth/password-rules.ts'
import { Passwords } from '../auth/passwords.ts'
import { configOrExit } from '../config/read-config.ts'
import { boardQueue } from '../core/board-queue.ts'
import { clearUsage, Quotas } from '../core/quotas.ts'
import { Database } from '../database/database.ts'
import { migrate } from '../database/migrations/migrate.ts'
import { inputReader } from '../http/validation.ts'
import { Problem, problemOfDatabase } from '../platform/problem.ts'
import { publishUserChange } from '../realtime/bus.ts'
import { findAccount, listActions, readAccount, readStatistics } from './admin-queries.ts'
import { changeAccount, createSuperuser, exportAccount, resetPassword } from './admin-steps.ts'
import { eraseUser } from './erase-steps.ts'
import { startNewEpoch } from './new-epoch.ts'
import { auditTable, statisticsTable } from './statistics-table.ts'

const usage = `npm run admin -- <command>

  create-superuser --email <address> --username <name>   asks for the password, or reads it from standard input
  deactivate <address>                                   the user's tokens are refused from the next request on
  activate <address>
  reset-password <address> [--generate]                  likewise, and asks for the new password; or makes one and prints it
  statistics [--json]                                    how much there is, and what was new in the last seven days
  export <address> [--out <file>]                        all that is kept of a user, as one JSON document
  erase <address> [--yes]                                removes a user's personal data, and asks before; for ever
  audit [--limit <number>] [--json]                      what was done to accounts, the newest first
  migrate [--stopped]                                    bring the schema up to date; --stopped: no instance runs
  new-epoch                                              after a restore: every client loads its boards anew
  recount                                                count again what each board holds, at its next change

An <address> is an e-mail address, or the id of a user.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    email: { type: 'string' },
    username: { type: 'string' },
    generate: { type: 'boolean' },
    json: { type: 'boolean' },
    out: { type: 'string' },
    yes: { type: 'boolean' },
    stopped: { type: 'boolean' },
    limit: { type: 'string', default: '50' },
  },
})
const [command = '', address] = positionals
const config = configOrExit({ signsTokens: false })
const actor = { operator: operatorName() }
const passwords = new Passwords(passwordRules(config.passwords))

/** What is done to the user whom the address names. */
const toUser: Record<string, (db: Database, user_id: string) => Promise<void>> = {
  activate: (db, user_id) => setActive(db, user_id, true),
  deactivate: (db, user_id) => setActive(db, user_id, false),
  'reset-password': resetTo,
  export: writeExport,
  erase,
}
const others: Record<string, () => Promise<void>> = {
  'create-superuser': makeSuperuser,
  statistics: () => withDatabase(printStatistics),
  audit: () => withDatabase(printAudit),
  migrate: migrateTelling,
  recount: () => withDatabase(async (db) => console.log(`${await clearUsage(db)} boards will be counted again`)),
  'new-epoch': () => withDatabase(async (db) => console.log(`${await startNewEpoch(db)} boards begin a new epoch`)),
}

const [act, other] = [toUser[command], others[command]]
if (act && address !== undefined)
  await withDatabase(async (db) => {
    const user_id = formats.uuid.test(address) ? address.toLowerCase() : await findAccount(db, address)
    if (user_id === undefined) return fail(`There is no user ${address}.`)
    await act(db, user_id)
  })
else if (other) await other()
else fail(usage)

async function migrateTelling() {
  const say = (details: object, message: string) => console.log(message, JSON.stringify(details))
  const options = { log: { info: say, warn: say }, is_stopped: values.stopped === true }
  try {
    if ((await migrate(config.database.url, options)).length === 0) console.log('Nothing to migrate.')
  } catch (error) {
    fail((error as Error).message)
  }
}

async function makeSuperuser() {
  const { email, username } = values
  if (!email || !username) return fail(usage)
  const readNewAccount = inputReader<Body<typeof authOperations.register>>(authOperations.register.body)
  await withDatabase(async (db) => {
    const account = readNewAccount({ email, username, password: await askSecretly('Password: ') })
    const hashed_password = await hashStrong(account.password, account)
    await createSuperuser(db, actor, { email, username, id: newUuid(), hashed_password })
    console.log(`${email}: created`)
  })
}

async function setActive(db: Database, user_id: string, is_active: boolean) {
  await changeAccount(db, actor, user_id, { is_active })
  console.log(`${address}: ${command}d`)
  await ring(user_id)
}

async function resetTo(db: Database, user_id: string) {
  const password = values.generate ? generatedPassword() : await askSecretly('New password: ')
  const account = await readAccount(db, user_id)
  await resetPassword(db, actor, user_id, await hashStrong(password, account && (JSON.parse(account) as Account)))
  console.log(values.generate ? password : `${address}: password changed`)
  await ring(user_id)
}

async function writeExport(db: Database, user_id: string) {
  const json = JSON.stringify(JSON.parse(await exportAccount(db, actor, user_id)), null, 2)
  if (values.out === undefined) return console.log(json)
  // For the operator's eyes alone, and never over something that is there.
  await writeFile(values.out, `${json}\n`, { mode: 0o600, flag: 'wx' })
  console.error(`${address}: written to ${values.out}`)
}

async function erase(db: Database, user_id: string) {
  if (!values.yes) {
    process.stderr.write('All personal data of the user will be gone for ever. Type the address again to go on: ')
    if ((await readLine()) !== address) return fail('Nothing was erased.')
  }
  const queue = boardQueue(config.boards.waitMs)
  const core = { database: db, boardQueue: queue, quotas: new Quotas(config.quotas), announce: () => {} }
  try {
    const erased = await eraseUser({ core, retentionDays: config.boards.eventRetentionDays }, actor, user_id)
    console.log(`${user_id}: erased ${JSON.stringify(erased)}`)
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500)
      console.error(`It broke off. The rest is done by: npm run admin -- erase ${user_id} --yes`)
    throw error
  }
  await ring(user_id)
}

async function printStatistics(db: Database) {
  const json = await readStatistics(db)
  console.log(values.json ? json : statisticsTable(JSON.parse(json) as Statistics))
}

async function printAudit(db: Database) {
  const { json } = await listActions(db, Math.max(1, Number.parseInt(values.limit, 10) || 50))
  console.log(values.json ? json : auditTable(JSON.parse(json) as AdminAction[]))
}

async function hashStrong(password: string, user?: { email: string; username: string }): Promise<string> {
  passwords.requireStrong(password, user)
  return passwords.hash(password)
}

/** Random, and with a character of every kind that a rule can ask for. */
function generatedPassword(): string {
  const random = randomBytes(Math.max(18, config.passwords.minLength)).toString('base64url')
  return `${random.slice(0, config.passwords.maxLength - 4)}-aZ7`
}

/** The user's sockets are looked at now, on every instance. */
async function ring(user_id: string) {
  if (config.redisUrl === '') return
  await publishUserChange(config.redisUrl, user_id).catch(() =>
    console.error('Redis cannot be reached: open sockets are closed with their next heartbeat.'),
  )
}

/** From the terminal, where what is typed is not shown, or the first line of whatever standard input holds. */
async function askSecretly(question: string): Promise<string> {
  if (!process.stdin.isTTY) return readLine()
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  process.stderr.write(question)
  return readLine(nowhere)
}

async function readLine(shown: NodeJS.WritableStream = process.stderr): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] as string
  const terminal = createInterface({ input: process.stdin, output: shown, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
  }
}

/** A container may run under a number that has no name. */
function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.()}`
  }
}

async function withDatabase(work: (db: Database) => Promise<void>) {
  const db = new Database({ url: config.database.url, size: 2, onError: (error) => fail(error.message) })
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
