import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  type Account,
  type AdminAction,
  administrationOperations,
  type Statistics,
} from '@lockstep/contract/administration'
import { formats } from '@lockstep/contract/formats'
import { adminInvitationOperations, type Invitation } from '@lockstep/contract/invitations'
import type { Body } from '@lockstep/contract/operation'
import type { AccessToken } from '@lockstep/contract/tokens'
import { v7 as newUuid } from 'uuid'
import { passwordRules } from '../auth/password-rules.ts'
import { Passwords } from '../auth/passwords.ts'
import { configOrExit } from '../config/read-config.ts'
import { ChangeQueue } from '../core/change-queue.ts'
import { clearUsage, Quotas } from '../core/quotas.ts'
import { describeDatabaseError, isDatabaseError, waitForDatabase } from '../database/connection-failure.ts'
import { Database } from '../database/database.ts'
import { problemOfDatabase } from '../database/errors.ts'
import { keysetOf } from '../database/keyset.ts'
import { migrate } from '../database/migrations/migrate.ts'
import { requireFitPooler } from '../database/pooler-check.ts'
import { inputReader } from '../http/validation.ts'
import { findInvitations } from '../invitations/invitation-queries.ts'
import { inviteToService, revokeAsOperator } from '../invitations/invitation-steps.ts'
import { exitWithUsage, readArguments } from '../platform/command-line.ts'
import { operatorName } from '../platform/operator-name.ts'
import { Problem } from '../platform/problem.ts'
import { publishUserChange } from '../realtime/bus.ts'
import { linkTo } from '../security/links.ts'
import { SecretBox } from '../security/secret-box.ts'
import { listTokens } from '../tokens/token-queries.ts'
import {
  type AdminCommandName,
  helpOf,
  isAdminCommand,
  optionsOf,
  overview,
  takesPositional,
  usageOf,
} from './admin-commands.ts'
import { findAccount, listActions, readAccount } from './admin-queries.ts'
import {
  changeAccount,
  createResetLink,
  createUser,
  exportAccount,
  resetPassword,
  revokeAccountTokens,
} from './admin-steps.ts'
import { eraseUser } from './erase-steps.ts'
import { startNewEpoch } from './new-epoch.ts'
import { reencrypt } from './reencrypt.ts'
import { readStatistics } from './statistics-queries.ts'
import { auditTable, invitationTable, statisticsTable, tokensTable } from './statistics-table.ts'

const [name = '', ...args] = process.argv.slice(2)
const command = commandOf(name)
const { values, positionals } = readArguments({
  help: helpOf(command),
  options: optionsOf(command),
  allowPositionals: true,
  args,
})
const [address = ''] = positionals
/** A list as one page. */
const ALL = { ...keysetOf(null), limit: null }
if (positionals.length !== (takesPositional(command) ? 1 : 0)) exitWithUsage(`Usage: ${usageOf(command)}`)
const config = configOrExit({ signsTokens: false })
const actor = { operator: operatorName() }
const passwords = new Passwords(passwordRules(config.passwords))
const { createAccount } = administrationOperations
const readNewAccount = inputReader<Body<typeof createAccount>>(createAccount.body)
const { createServiceInvitation } = adminInvitationOperations
const readNewInvitation = inputReader<Body<typeof createServiceInvitation>>(createServiceInvitation.body)

const run: Record<AdminCommandName, () => Promise<void>> = {
  'create-superuser': () => addUser(true),
  'create-user': () => addUser(false),
  invite: () => withDatabase(printInvitation),
  invitations: () => withDatabase(printInvitations),
  'revoke-invitation': () => withDatabase(revokeInvitation),
  activate: () => withUser((db, user_id) => setActive(db, user_id, true)),
  deactivate: () => withUser((db, user_id) => setActive(db, user_id, false)),
  'reset-password': () => withUser(setPassword),
  'reset-link': () => withUser(printResetLink),
  tokens: () => withUser(printTokens),
  'revoke-tokens': () => withUser(revokeTokens),
  export: () => withUser(writeExport),
  erase: () => withUser(erase),
  statistics: () => withDatabase(printStatistics),
  audit: () => withDatabase(printAudit),
  migrate: migrateAndLog,
  reencrypt: () => withDatabase(reencryptSecrets),
  recount: () => withDatabase(async (db) => console.log(`${await clearUsage(db)} boards will be counted again`)),
  'new-epoch': () =>
    withDatabase(async (db) => console.log(`${await startNewEpoch(db, actor)} boards begin a new epoch`)),
}
await run[command]()

function commandOf(word: string): AdminCommandName {
  if (isAdminCommand(word)) return word
  if (word.startsWith('-')) readArguments({ help: overview })
  return exitWithUsage(word === '' ? overview : `Unknown command ${word}. See npm run admin -- --help.`)
}

async function withUser(work: (db: Database, user_id: string) => Promise<void>) {
  await withDatabase(async (db) => {
    const user_id = formats.uuid.test(address) ? address.toLowerCase() : await findAccount(db, address)
    if (user_id === undefined) return fail(`There is no user ${address}.`)
    await work(db, user_id)
  })
}

async function migrateAndLog() {
  const print = (details: object, message: string) => console.log(message, JSON.stringify(details))
  const log = { info: print, warn: print }
  try {
    await waitForDatabase(config.database.url, { log })
    const applied = await migrate(config.database.url, { log, isStopped: values.stopped === true })
    if (applied.length === 0) console.log('Nothing to migrate.')
  } catch (error) {
    fail(sentenceOf(error))
  }
}

async function addUser(is_superuser: boolean) {
  const { email, username, generate } = values
  if (!email || !username) return exitWithUsage(`Usage: ${usageOf(command)}`)
  await withDatabase(async (db) => {
    const password = generate ? generatedPassword() : await readSecret('Password: ')
    const account = readNewAccount({ email, username, password })
    const hashed_password = await hashStrong(password, account)
    const names = { email, username, firstname: null, lastname: null }
    await createUser(db, actor, { ...names, id: newUuid(), hashed_password, is_superuser })
    console.log(generate ? password : `${email}: created`)
  })
}

async function printInvitation(db: Database) {
  const { email = null } = readNewInvitation(values.email === undefined ? {} : { email: values.email })
  const { token, invitation } = await inviteToService(db, actor, email)
  printLink(linkTo(config.publicUrl, 'invite', token), invitation.expires_at)
}

async function printInvitations(db: Database) {
  const found = (await findInvitations(db, ALL)).map(({ json }) => JSON.parse(json) as Invitation)
  console.log(values.json ? JSON.stringify(found) : invitationTable(found))
}

async function revokeInvitation(db: Database) {
  if (!formats.uuid.test(address)) return exitWithUsage(`Usage: ${usageOf(command)}`)
  await revokeAsOperator(db, actor, address.toLowerCase())
  console.log(`${address}: revoked`)
}

async function printResetLink(db: Database, user_id: string) {
  const { token, expires_at } = await createResetLink(db, actor, user_id)
  printLink(linkTo(config.publicUrl, 'reset', token), expires_at)
}

/** The link alone goes to standard output, so that a script can use it. */
function printLink(link: string, expires_at: string) {
  console.log(link)
  const origin = config.publicUrl === '' ? ' Put the address of the service in front of it, or set PUBLIC_URL.' : ''
  console.error(`The link can be used once, until ${expires_at}.${origin}`)
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

async function printTokens(db: Database, user_id: string) {
  const tokens = (await listTokens(db, user_id, ALL)).map(({ json }) => JSON.parse(json) as AccessToken)
  console.log(values.json ? JSON.stringify(tokens) : tokensTable(tokens))
}

async function revokeTokens(db: Database, user_id: string) {
  const count = await revokeAccountTokens(db, actor, user_id)
  console.log(`${address}: ${count} access tokens revoked`)
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
  const queue = new ChangeQueue(config.boards.waitMs)
  const core = { database: db, boardQueue: queue, quotas: new Quotas(config.quotas), announce: () => {} }
  try {
    const erased = await eraseUser(core, actor, user_id)
    console.log(`${user_id}: erased ${JSON.stringify(erased)}`)
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500)
      console.error(`The erasure is incomplete. To complete it, run: npm run admin -- erase ${user_id} --yes`)
    throw error
  }
  await notifyInstances(user_id)
}

async function reencryptSecrets(db: Database) {
  const { encryptionKey, previousEncryptionKey } = config.webhooks
  if (encryptionKey === '') return fail('ENCRYPTION_KEY is not set.')
  const { changed, lost } = await reencrypt(db, new SecretBox(encryptionKey, previousEncryptionKey), actor)
  console.log(`The secrets of ${changed} webhooks were encrypted again`)
  if (lost.length > 0) fail(`Neither key decrypts the secrets of these webhooks: ${lost.join(', ')}`)
}

async function printStatistics(db: Database) {
  const json = await readStatistics(db)
  console.log(values.json ? json : statisticsTable(JSON.parse(json) as Statistics))
}

async function printAudit(db: Database) {
  const limit = Math.max(1, Number.parseInt(values.limit ?? '', 10) || 50)
  const entries = (await listActions(db, { ...ALL, limit })).map(({ json }) => JSON.parse(json) as AdminAction)
  console.log(values.json ? JSON.stringify(entries) : auditTable(entries))
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

async function withDatabase(work: (db: Database) => Promise<void>) {
  const db = new Database({ url: config.database.url, size: 2, onError: (error) => fail(error.message) })
  try {
    await requireFitPooler(config.database.url)
    await work(db)
  } catch (error) {
    fail(sentenceOf(error))
  } finally {
    await db.close()
  }
}

/** Constraints that the operator violated have a message of their own, such as an address that is taken. */
function sentenceOf(error: unknown): string {
  const problem = problemOfDatabase(error)
  if (problem && problem.status < 500) return problem.message
  return isDatabaseError(error) ? describeDatabaseError(error, config.database.url) : (error as Error).message
}

function fail(message: string) {
  console.error(message)
  process.exitCode = 1
}
