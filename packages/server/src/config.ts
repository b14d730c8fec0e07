import { envSchema } from 'env-schema'
import Type, { type Static } from 'typebox'

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
    description: 'Connections to PostgreSQL.',
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
    description: 'Signs access tokens. Production wants one of at least 32 characters, and not the placeholder.',
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
  PASSWORD_MIN_LENGTH: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 1024,
    description: 'Shortest new password, in characters.',
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
  CORS_ORIGINS: Type.String({
    description:
      'Origins of other sites whose pages may call the API, with commas. Default: `*` in development, none in production, where `*` is refused.',
  }),
  TRUST_PROXY: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10,
    description: 'How many proxies stand before the service and may tell the address of a client.',
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
      'Connections that one instance takes; more are closed with 1013. The system must allow as many open files.',
  }),
  RATE_LIMITS: Type.Enum(['on', 'off'], {
    description:
      'Whether the five limits below hold. They are counted in Redis, for all instances together. Default: `off` in development, `on` in production.',
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
    default: 300,
    minimum: 1,
    description: 'Registrations from one address.',
  }),
  MAX_REQUESTS_PER_MINUTE: Type.Integer({
    default: 6_000,
    minimum: 1,
    description: 'Requests of one user.',
  }),
  MAX_UPGRADES_PER_MINUTE: Type.Integer({
    default: 3_000,
    minimum: 1,
    description: 'New connections for real time from one address; more are closed with 1013.',
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
})
type Values = Static<typeof Settings>

export interface Config extends Omit<Values, 'CORS_ORIGINS' | 'PASSWORD_REQUIRES' | 'RATE_LIMITS'> {
  IS_PRODUCTION: boolean
  RATE_LIMITS: 'on' | 'off'
  CORS_ORIGINS: string[]
  PASSWORD_REQUIRES: ('lower' | 'upper' | 'digit' | 'symbol')[]
}

/** A setting that does not fit. Its sentence names the setting and says what to do. */
export class BadSetting extends Error {}

/** The configuration of this process; a setting that does not fit ends it with its sentence. */
export function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

/** Strings → values → a configuration that was checked. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const values = readValues(environment)
  const IS_PRODUCTION = values.ENVIRONMENT === 'production'
  const config: Config = {
    ...values,
    IS_PRODUCTION,
    RATE_LIMITS: values.RATE_LIMITS ?? (IS_PRODUCTION ? 'on' : 'off'),
    CORS_ORIGINS: list(values.CORS_ORIGINS ?? (IS_PRODUCTION ? '' : '*')),
    PASSWORD_REQUIRES: list(values.PASSWORD_REQUIRES) as Config['PASSWORD_REQUIRES'],
  }
  const stray = config.CORS_ORIGINS.find((origin) => origin !== '*' && !isOrigin(origin))
  if (stray !== undefined)
    throw new BadSetting('CORS_ORIGINS must list origins, such as https://app.example, with commas.')
  if (config.PASSWORD_MIN_LENGTH > config.PASSWORD_MAX_LENGTH) {
    throw new BadSetting('PASSWORD_MIN_LENGTH is greater than PASSWORD_MAX_LENGTH: no password could satisfy both.')
  }
  if (IS_PRODUCTION) demandSafe(config)
  return config
}

function readValues(environment: Record<string, string | undefined>): Values {
  const { CORS_ORIGINS: _, RATE_LIMITS: __, ...required } = Settings.properties
  const schema = { ...Settings, required: Object.keys(required) }
  try {
    return envSchema<Values>({ schema, data: environment, env: false, dotenv: false })
  } catch (error) {
    throw new BadSetting((error as Error).message.replaceAll(/env\/(\w+)/g, '$1'))
  }
}

function demandSafe({ JWT_SECRET, CORS_ORIGINS }: Config) {
  const refuse = (sentence: string) => new BadSetting(`${sentence} The service does not start in production like this.`)
  if (JWT_SECRET === PLACEHOLDER_SECRET)
    throw refuse('JWT_SECRET is the documented placeholder: set a secret of your own.')
  if (JWT_SECRET.length < 32) throw refuse('JWT_SECRET is shorter than 32 characters: set a longer one.')
  if (CORS_ORIGINS.includes('*')) throw refuse('CORS_ORIGINS is the wildcard: list the origins you trust.')
}

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text
const list = (text: string) => text.split(',').flatMap((part) => part.trim() || [])
