import { readFileSync } from 'node:fs'
import { envSchema } from 'env-schema'
import Type, { type Static } from 'typebox'

/** Enough to keep every connection busy while others are between two statements, and few enough to be answered soon. */
const REQUESTS_PER_CONNECTION = 8
const PLACEHOLDER_SECRET = 'change-me-this-placeholder-is-public'

/** Every setting: its name in the environment, its default for development, and what it does. The docs are made of this. */
export const Settings = Type.Object({
  ENVIRONMENT: Type.Enum(['development', 'production'], {
    default: 'development',
    description: '`production` refuses unsafe settings, creates no database and marks cookies Secure.',
  }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` in a container.' }),
  PORT: Type.Integer({ default: 8000, minimum: 0, maximum: 65535, description: 'Port to listen on.' }),
  DATABASE_URL: Type.String({
    default: 'postgres://postgres:postgres@127.0.0.1:5432/lockstep',
    pattern: '^postgres(ql)?://',
    description: 'PostgreSQL 15 or newer. In development a missing database is created.',
  }),
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 200,
    description: 'Connections to PostgreSQL, for each instance. All together must stay below its `max_connections`.',
  }),
  MIGRATE_ON_START: Type.Boolean({
    default: true,
    description: 'Bring the schema up to date before listening. Instances that start together take turns.',
  }),
  REDIS_URL: Type.String({
    default: 'redis://127.0.0.1:6379',
    pattern: '^(rediss?://[^,]+(,(?=r)|$))*$',
    description:
      'Carries events between instances, and counts for the limits. Several addresses, with commas, are a cluster. Empty: one instance without Redis.',
  }),
  JWT_SECRET: Type.String({
    default: PLACEHOLDER_SECRET,
    minLength: 1,
    description:
      'Signs access tokens. Production wants a random one of at least 32 characters, and neither the placeholder nor an example.',
  }),
  JWT_SECRET_PREVIOUS: Type.String({
    default: '',
    description:
      'A second secret whose tokens are accepted and that signs none: the next one, then the last one, while the secret is [replaced](administering.md#replacing-the-signing-secret). Empty: none.',
  }),
  JWT_ALGORITHM: Type.Enum(['HS256', 'HS384', 'HS512'], {
    default: 'HS256',
    description: 'How tokens are signed. Only this one is accepted.',
  }),
  TOKEN_LIFETIME_SECONDS: Type.Integer({
    default: 3600,
    minimum: 1,
    description: 'How long an access token, and the cookie that carries it, is valid.',
  }),
  SESSION_MAX_AGE_SECONDS: Type.Integer({
    default: 2_592_000,
    minimum: 1,
    description: 'How long after its login a session can be renewed.',
  }),
  AUTH_COOKIE: Type.Boolean({
    default: false,
    description: 'Set the cookie `svc_auth` at every login, not only when the form says `cookie=true`.',
  }),
  REGISTRATION: Type.Enum(['open', 'closed'], {
    default: 'open',
    description: 'Whether anybody may create an account, or only `npm run admin`.',
  }),
  USER_SEARCH: Type.Enum(['open', 'limited'], {
    description:
      'Whether users are found by a part of any e-mail address, or only by the whole address and by a part for people on a common board. Default: `open` in development, `limited` in production.',
  }),
  ADMIN_API: Type.Enum(['on', 'off'], {
    default: 'off',
    description:
      'Whether superusers may administer over HTTP, under `/admin`. Off, those paths do not exist; `npm run admin` works in any case.',
  }),
  PASSWORD_MIN_LENGTH: Type.Integer({
    minimum: 1,
    maximum: 1024,
    description: 'Shortest new password, in characters. Default: 1 in development, 8 in production.',
  }),
  PASSWORD_MAX_LENGTH: Type.Integer({
    default: 128,
    minimum: 64,
    maximum: 1024,
    description: 'Longest new password, in characters.',
  }),
  PASSWORD_REQUIRES: Type.String({
    default: '',
    pattern: '^((lower|upper|digit|symbol)(,(?=.)|$))*$',
    description: 'What a new password must contain: a list of `lower`, `upper`, `digit`, `symbol`, with commas.',
  }),
  REFUSE_COMMON_PASSWORDS: Type.Enum(['on', 'off'], {
    description:
      'Whether a new password may be neither one of the 13,000 commonest nor the own username or e-mail address. Default: `off` in development, `on` in production.',
  }),
  CORS_ORIGINS: Type.String({
    description:
      'Origins of other sites whose pages may call the API, with commas. Default: `*` in development, which is any, with cookies too; none in production, where `*` is refused.',
  }),
  TRUST_PROXY: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10,
    description: 'How many proxies stand before the service and may tell the address of a client.',
  }),
  MAX_REQUESTS_AT_ONCE: Type.Integer({
    minimum: 1,
    description:
      'Requests that are worked on at once; more wait for a moment, and get 503 when it does not pass. Default: eight for each connection to PostgreSQL.',
  }),
  FAIR_SHARES: Type.Enum(['on', 'off'], {
    description:
      'Whether users and addresses are limited to a share. Queues (requests, connections to PostgreSQL, lists and searches, sockets to be admitted) are served in turn; of what is held (open requests, bodies without a credential, TCP connections, uploads, unread responses) each gets a share once half is in use; sockets have fixed numbers. Default: `off` in development, `on` in production.',
  }),
  MAX_UPLOADS_AT_ONCE: Type.Integer({
    default: 64,
    minimum: 2,
    description:
      'Uploads in progress; more get 503. Above half of it, one user may have a sixteenth, and the users of one address a quarter together. With `FAIR_SHARES`.',
  }),
  MIN_UPLOAD_BYTES_PER_SECOND: Type.Integer({
    default: 1_638,
    minimum: 0,
    description:
      'The slowest upload, measured over 10 seconds in which the service waits for the client; a slower one gets 408. With `FAIR_SHARES`.',
  }),
  MAX_UNREAD_RESPONSE_BYTES: Type.Integer({
    default: 134_217_728,
    minimum: 1_048_576,
    description:
      'How much memory large responses may take until clients have read them; more get 503. Above half of it, one user may have an eighth, and the users of one address half of it together. With `FAIR_SHARES`.',
  }),
  BOARD_WAIT_MS: Type.Integer({
    default: 5_000,
    minimum: 1,
    description: 'How long a change waits for the changes of the same board before it; then 503.',
  }),
  MAX_SOCKETS: Type.Integer({
    default: 20_000,
    minimum: 1,
    description:
      'Connections that one instance takes; more are closed with 1013. The system must allow a quarter more open files.',
  }),
  MAX_SOCKETS_PER_USER: Type.Integer({
    default: 200,
    minimum: 1,
    description:
      'Connections for real time that one user has to one instance; more are closed with 1013. With `FAIR_SHARES`.',
  }),
  MAX_SOCKETS_PER_USER_AND_BOARD: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'The same to one board. With `FAIR_SHARES`.',
  }),
  MAX_SOCKETS_PER_ADDRESS: Type.Integer({
    default: 2_000,
    minimum: 1,
    description:
      'Connections for real time that one address has to one instance; more are closed with 1013. With `FAIR_SHARES`.',
  }),
  RATE_LIMITS: Type.Enum(['on', 'off'], {
    description:
      'Whether the limits below hold. They are counted in Redis, for all instances together, and in the process without Redis. Default: `off` in development, `on` in production.',
  }),
  MAX_LOGINS_PER_MINUTE: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Logins to one account from one address, right or wrong; then 429 for that pair.',
  }),
  MAX_FAILED_LOGINS: Type.Integer({
    default: 10,
    minimum: 1,
    description:
      'Failed logins in 15 minutes to one account from one address; then 429 for that pair. Also wrong current passwords of one user.',
  }),
  MAX_FAILED_LOGINS_PER_ADDRESS: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Failed logins in 15 minutes from one address to whatever accounts.',
  }),
  MAX_REGISTRATIONS_PER_HOUR: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Registrations from one address; then 429.',
  }),
  MAX_BAD_PAYLOADS_PER_MINUTE: Type.Integer({
    default: 300,
    minimum: 1,
    description: 'Logins and registrations from one address that are rejected with 422; then 429.',
  }),
  MAX_REQUESTS_PER_MINUTE: Type.Integer({
    default: 6_000,
    minimum: 1,
    description: 'Requests of one user; then 429.',
  }),
  MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: Type.Integer({
    default: 30_000,
    minimum: 1,
    description: 'Requests of all users from one address to one instance; then 429.',
  }),
  MAX_UPGRADES_PER_MINUTE: Type.Integer({
    default: 3_000,
    minimum: 1,
    description: 'New connections for real time from one address; more are closed with 1013.',
  }),
  MAX_USER_SEARCHES_PER_MINUTE: Type.Integer({
    default: 30,
    minimum: 1,
    description: 'Searches for users by one user; then 429.',
  }),
  MAX_USER_SEARCHES_PER_DAY: Type.Integer({
    default: 500,
    minimum: 1,
    description: 'Searches for users by one user in 24 hours; then 429.',
  }),
  QUOTAS: Type.Enum(['on', 'off'], {
    description:
      'Whether the five quotas below hold. Boards that were counted stay counted when they are off. Default: `off` in development, `on` in production.',
  }),
  MAX_BOARD_TEXT_BYTES: Type.Integer({
    default: 8_388_608,
    minimum: 1,
    description:
      'How much text a board may hold, as bytes of JSON and 200 bytes for each object, 640 for each member and assignee; then 409 for whatever adds more.',
  }),
  MAX_CARDS_PER_BOARD: Type.Integer({
    default: 10_000,
    minimum: 1,
    description: 'Cards of one board; then 409.',
  }),
  MAX_BOARD_FILE_BYTES: Type.Integer({
    default: 1_073_741_824,
    minimum: 1,
    description: 'The size of all files of one board together; then 409.',
  }),
  MAX_OWNED_BOARDS_PER_USER: Type.Integer({
    default: 500,
    minimum: 1,
    description:
      'Boards that one user has created and nobody has deleted; then 409. Boards of others do not count, also as an owner.',
  }),
  MAX_BOARD_LOG_BYTES_PER_MINUTE: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description:
      'How much the changes of one board may write to its log in a minute; then 429 for everything but deletes that free as much as they write. Renaming a column writes the whole column.',
  }),
  UNREADY_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 600,
    description:
      'How long an instance that got SIGTERM serves on while `/ready` says 503: longer than a balancer takes to notice.',
  }),
  DRAIN_SECONDS: Type.Integer({
    default: 5,
    minimum: 0,
    maximum: 600,
    description: 'Over how long SIGTERM spreads the closing of connections.',
  }),
  MAX_ATTACHMENT_BYTES: Type.Integer({
    default: 10_485_760,
    minimum: 1,
    maximum: 1_073_741_824,
    description: 'The largest file that can be attached to a card.',
  }),
  BOARD_CACHE_BYTES: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description: 'How much memory full boards may take that are kept ready to be sent, compressed.',
  }),
  EVENT_RETENTION_DAYS: Type.Integer({
    default: 90,
    minimum: 1,
    description: 'How long events are kept: how long a client can be away and still resume.',
  }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    description: 'How much is logged. One line for each request at `info`.',
  }),
  LOG_FORMAT: Type.Enum(['json', 'pretty'], {
    description:
      'Lines of JSON, or lines for a person to read. Default: `pretty` in development at a terminal, else `json`. Production refuses `pretty`.',
  }),
  METRICS_PORT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 65535,
    description: 'A port of its own for `/metrics`. 0: none.',
  }),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'The address that port listens on. Whoever reaches it can read the metrics.',
  }),
  METRICS_TOKEN: Type.String({
    default: '',
    pattern: '^[!-~]*$',
    description:
      'With it, `/metrics` is also on the port of the service, for whoever sends it as a bearer token; the port of its own asks for it too. Production wants at least 16 characters.',
  }),
})
type Values = Static<typeof Settings>
/** Settings whose defaults depend on others. */
const decidedHere = new Set([
  'PASSWORD_MIN_LENGTH',
  'REFUSE_COMMON_PASSWORDS',
  'CORS_ORIGINS',
  'RATE_LIMITS',
  'FAIR_SHARES',
  'QUOTAS',
  'USER_SEARCH',
  'LOG_FORMAT',
  'MAX_REQUESTS_AT_ONCE',
])

/** The settings that are secrets. Each can also be read from the file that its name with `_FILE` names. */
export const SECRETS = [
  'DATABASE_URL',
  'REDIS_URL',
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'METRICS_TOKEN',
] as const satisfies (keyof Values)[]

export interface Config
  extends Omit<
    Values,
    | 'CORS_ORIGINS'
    | 'LOG_FORMAT'
    | 'PASSWORD_REQUIRES'
    | 'RATE_LIMITS'
    | 'FAIR_SHARES'
    | 'QUOTAS'
    | 'REFUSE_COMMON_PASSWORDS'
    | 'USER_SEARCH'
  > {
  IS_PRODUCTION: boolean
  RATE_LIMITS: 'on' | 'off'
  FAIR_SHARES: 'on' | 'off'
  QUOTAS: 'on' | 'off'
  REFUSE_COMMON_PASSWORDS: 'on' | 'off'
  USER_SEARCH: 'open' | 'limited'
  LOG_FORMAT: 'json' | 'pretty'
  CORS_ORIGINS: string[]
  PASSWORD_REQUIRES: ('lower' | 'upper' | 'digit' | 'symbol')[]
}

/** A setting that does not fit. Its sentence names the setting and says what to do. */
export class BadSetting extends Error {}

interface Use {
  /** Whether the process signs tokens. One that does not needs no signing secret, and should not be given one. */
  signs_tokens?: boolean
}

/** The configuration of this process; a setting that does not fit ends it with its sentence. */
export function configOrExit(use: Use = {}): Config {
  try {
    return readConfig(process.env, use)
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

/** Strings → values → a configuration that was checked. */
export function readConfig(environment: Record<string, string | undefined>, { signs_tokens = true }: Use = {}): Config {
  const values = readValues(withFiles(environment))
  const IS_PRODUCTION = values.ENVIRONMENT === 'production'
  const config: Config = {
    ...values,
    IS_PRODUCTION,
    MAX_REQUESTS_AT_ONCE: values.MAX_REQUESTS_AT_ONCE ?? values.DATABASE_POOL_SIZE * REQUESTS_PER_CONNECTION,
    RATE_LIMITS: values.RATE_LIMITS ?? (IS_PRODUCTION ? 'on' : 'off'),
    USER_SEARCH: values.USER_SEARCH ?? (IS_PRODUCTION ? 'limited' : 'open'),
    FAIR_SHARES: values.FAIR_SHARES ?? (IS_PRODUCTION ? 'on' : 'off'),
    QUOTAS: values.QUOTAS ?? (IS_PRODUCTION ? 'on' : 'off'),
    LOG_FORMAT: values.LOG_FORMAT ?? (!IS_PRODUCTION && process.stdout.isTTY ? 'pretty' : 'json'),
    PASSWORD_MIN_LENGTH: values.PASSWORD_MIN_LENGTH ?? (IS_PRODUCTION ? 8 : 1),
    REFUSE_COMMON_PASSWORDS: values.REFUSE_COMMON_PASSWORDS ?? (IS_PRODUCTION ? 'on' : 'off'),
    CORS_ORIGINS: list(values.CORS_ORIGINS ?? (IS_PRODUCTION ? '' : '*')),
    PASSWORD_REQUIRES: list(values.PASSWORD_REQUIRES) as Config['PASSWORD_REQUIRES'],
  }
  const stray = config.CORS_ORIGINS.find((origin) => origin !== '*' && !isOrigin(origin))
  if (stray !== undefined)
    throw new BadSetting('CORS_ORIGINS must list origins, such as https://app.example, with commas.')
  if (config.PASSWORD_MIN_LENGTH > config.PASSWORD_MAX_LENGTH) {
    throw new BadSetting('PASSWORD_MIN_LENGTH is greater than PASSWORD_MAX_LENGTH: no password could satisfy both.')
  }
  demandAddresses(config)
  if (config.JWT_SECRET_PREVIOUS === config.JWT_SECRET)
    throw new BadSetting('JWT_SECRET_PREVIOUS is the same as JWT_SECRET: leave it out, or set the other secret.')
  if (IS_PRODUCTION && signs_tokens) demandStrong('JWT_SECRET', config.JWT_SECRET)
  if (IS_PRODUCTION) demandSafe(config)
  return config
}

/** The environment with every secret that stands in a file read from it. What a file holds is never repeated. */
function withFiles(environment: Record<string, string | undefined>): Record<string, string | undefined> {
  const read = { ...environment }
  for (const name of SECRETS) {
    const file = environment[`${name}_FILE`]
    if (file === undefined) continue
    if (environment[name] !== undefined) throw new BadSetting(`${name} and ${name}_FILE are both set: leave one out.`)
    read[name] = contentOf(name, file)
  }
  return read
}

function contentOf(name: string, file: string): string {
  let content: string
  try {
    content = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new BadSetting(`${name}_FILE names a file that cannot be read (${(error as { code?: string }).code}).`)
  }
  if (content === '') throw new BadSetting(`${name}_FILE names a file that is empty.`)
  return content
}

/** An address that cannot be parsed would be repeated, password and all, by whatever stumbles over it later. */
function demandAddresses({ DATABASE_URL, REDIS_URL }: Config) {
  if (!URL.canParse(DATABASE_URL)) throw new BadSetting('DATABASE_URL is no valid address.')
  if (!list(REDIS_URL).every((address) => URL.canParse(address)))
    throw new BadSetting('REDIS_URL must be one valid address, or several with commas.')
}

function readValues(environment: Record<string, string | undefined>): Values {
  const required = Object.keys(Settings.properties).filter((name) => !decidedHere.has(name))
  const schema = { ...Settings, required }
  try {
    return envSchema<Values>({ schema, data: environment, env: false, dotenv: false })
  } catch (error) {
    throw new BadSetting((error as Error).message.replaceAll(/env\/(\w+)/g, '$1'))
  }
}

function demandSafe({ JWT_SECRET_PREVIOUS, CORS_ORIGINS, LOG_FORMAT, METRICS_TOKEN }: Config) {
  if (JWT_SECRET_PREVIOUS !== '') demandStrong('JWT_SECRET_PREVIOUS', JWT_SECRET_PREVIOUS)
  if (CORS_ORIGINS.includes('*')) throw unsafe('CORS_ORIGINS is the wildcard: list the origins you trust.')
  if (LOG_FORMAT !== 'json') throw unsafe('LOG_FORMAT is pretty, which no program can read: leave it out.')
  if (METRICS_TOKEN !== '' && METRICS_TOKEN.length < 16)
    throw unsafe('METRICS_TOKEN is shorter than 16 characters: set a longer one, or none.')
}

/** Whoever guesses a secret is everybody. A random one of 32 characters has far more than eight different ones. */
function demandStrong(name: string, secret: string) {
  if (secret === PLACEHOLDER_SECRET) throw unsafe(`${name} is the documented placeholder: set a secret of your own.`)
  if (secret.length < 32) throw unsafe(`${name} is shorter than 32 characters: set a longer one.`)
  if (new Set(secret).size < 8) throw unsafe(`${name} repeats a few characters: set a random one.`)
  if (/change.?me|placeholder|example/i.test(secret)) throw unsafe(`${name} looks like an example: set a random one.`)
}
const unsafe = (sentence: string) => new BadSetting(`${sentence} The service does not start in production like this.`)

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text
const list = (text: string) => text.split(',').flatMap((part) => part.trim() || [])
