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
import { problemOfDatabase } from '../database/errors.ts'
import { migrate } from '../database/migrations/migrate.ts'
import { inputReader } from '../http/validation.ts'
import { Problem } from '../platform/problem.ts'
import { publishUserChange } from '../realtime/bus.ts'
import { findAccount, listActions, readAccount, readStatistics } from './admin-queries.ts'
import { changeAccount, createSuperuser, exportAccount, resetPassword } from './admin-steps.ts'
import { eraseUser } from './erase-steps.ts'
import { startNewEpoch } from './new-epoch.ts'
import { auditTable, statisticsTable } from './statistics-table.ts'

const usage = `npm run admin -- <command>

  create-superuser --email <address> --username <name>   create a superuser; asks for the password, or reads it from standard input
  deactivate <address>                                   disable an account; its tokens are rejected from the next request on
  activate <address>                                     re-enable an account
  reset-password <address> [--generate]                  set a new password and revoke all tokens; --generate prints a random one
  statistics [--json]                                    totals, and what was created in the last seven days
  export <address> [--out <file>]                        all data about a user, as one JSON document
  erase <address> [--yes]                                erase a user's personal data permanently; asks for confirmation
  audit [--limit <number>] [--json]                      actions on accounts, newest first
  migrate [--stopped]                                    bring the schema up to date; --stopped: no instance is running
  new-epoch                                              after a restore: every client reloads its boards
  recount                                                count the contents of each board again, at its next change

An <address> is an e-mail address or the id of a user.`

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

/** Commands on one user. */
const userCommands: Record<string, (db: Database, user_id: string) => Promise<void>> = {
  activate: (db, user_id) => setActive(db, user_id, true),
  deactivate: (db, user_id) => setActive(db, user_id, false),
  'reset-password': setPassword,
  export: writeExport,
  erase,
}
const otherCommands: Record<string, () => Promise<void>> = {
  'create-superuser': addSuperuser,
  statistics: () => withDatabase(printStatistics),
  audit: () => withDatabase(printAudit),
  migrate: migrateAndLog,
  recount: () => withDatabase(async (db) => console.log(`${await clearUsage(db)} boards will be counted again`)),
  'new-epoch': () => withDatabase(async (db) => console.log(`${await startNewEpoch(db)} boards begin a new epoch`)),
}

const [userCommand, otherCommand] = [userCommands[command], otherCommands[command]]
if (userCommand && address !== undefined)
  await withDatabase(async (db) => {
    const user_id = formats.uuid.test(address) ? address.toLowerCase() : await findAccount(db, address)
    if (user_id === undefined) return fail(`There is no user ${address}.`)
    await userCommand(db, user_id)
  })
else if (otherCommand) await otherCommand()
else fail(usage)

async function migrateAndLog() {
  const print = (details: object, message: string) => console.log(message, JSON.stringify(details))
  const options = { log: { info: print, warn: print }, isStopped: values.stopped === true }
  try {
    if ((await migrate(config.database.url, options)).length === 0) console.log('Nothing to migrate.')
  } catch (error) {
    fail((error as Error).message)
  }
}

async function addSuperuser() {
  const { email, username } = values
  if (!email || !username) return fail(usage)
  const readNewAccount = inputReader<Body<typeof authOperations.register>>(authOperations.register.body)
  await withDatabase(async (db) => {
    const account = readNewAccount({ email, username, password: await readSecret('Password: ') })
    const hashed_password = await hashStrong(account.password, account)
    await createSuperuser(db, actor, { email, username, id: newUuid(), hashed_password })
    console.log(`${email}: created`)
  })
}

async function setActive(db: Database, user_id: string, is_active: boolean) {
  await changeAccount(db, actor, user_id, { is_active })
  console.log(`${address}: ${command}d`)
  await notifyInstances(user_id)
}

async function setPassword(db: Database, user_id: string) {
  const password = values.generate ? generatedPassword() : await readSecret('New password: ')
  const account = await readAccount(db, user_id)
  await resetPassword(db, actor, user_id, await hashStrong(password, account && (JSON.parse(account) as Account)))
  console.log(values.generate ? password : `${address}: password changed`)
  await notifyInstances(user_id)
}

async function writeExport(db: Database, user_id: string) {
  const json = JSON.stringify(JSON.parse(await exportAccount(db, actor, user_id)), null, 2)
  if (values.out === undefined) return console.log(json)
  // Readable by the operator only; never overwrites a file.
  await writeFile(values.out, `${json}\n`, { mode: 0o600, flag: 'wx' })
  console.error(`${address}: written to ${values.out}`)
}

async function erase(db: Database, user_id: string) {
  if (!values.yes) {
    process.stderr.write(
      'All personal data of the user will be erased permanently. Type the address again to confirm: ',
    )
    if ((await readLine()) !== address) return fail('Nothing was erased.')
  }
  const queue = boardQueue(config.boards.waitMs)
  const core = { database: db, boardQueue: queue, quotas: new Quotas(config.quotas), announce: () => {} }
  try {
    const erased = await eraseUser({ core, retentionDays: config.boards.eventRetentionDays }, actor, user_id)
    console.log(`${user_id}: erased ${JSON.stringify(erased)}`)
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500)
      console.error(`The erasure is incomplete. To complete it, run: npm run admin -- erase ${user_id} --yes`)
    throw error
  }
  await notifyInstances(user_id)
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

/** A random password with a character of every kind that a rule can require. */
function generatedPassword(): string {
  const random = randomBytes(Math.max(18, config.passwords.minLength)).toString('base64url')
  return `${random.slice(0, config.passwords.maxLength - 4)}-aZ7`
}

/** Makes every instance check the user's sockets now. */
async function notifyInstances(user_id: string) {
  if (config.redisUrl === '') return
  await publishUserChange(config.redisUrl, user_id).catch(() =>
    console.error('Redis is not reachable: open sockets close at their next heartbeat.'),
  )
}

/** Reads from the terminal without echo, or the first line of standard input. */
async function readSecret(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return readLine()
  const noEcho = new Writable({ write: (_chunk, _encoding, done) => done() })
  process.stderr.write(prompt)
  return readLine(noEcho)
}

async function readLine(output: NodeJS.WritableStream = process.stderr): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] as string
  const terminal = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
  }
}

/** The operating system account. In a container its id may have no name. */
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

function fail(message: string) {
  console.error(message)
  process.exitCode = 1
}
