import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ErrorObject } from 'ajv'
import { envSchema } from 'env-schema'
import { BadConnectionUrl, connectionConfig, partsOf } from '../database/connection.ts'
import { isLoopback, isNetwork } from '../platform/networks.ts'
import { isPrivateRedis } from '../platform/redis.ts'
import { describeInvalid, findMisspelt } from './describe-invalid.ts'
import { derivedSettings, PLACEHOLDER_SECRET, SECRETS, Settings, type SettingValues } from './settings.ts'

/** Enough requests to keep every database connection busy, and few enough for short queues. */
const REQUESTS_PER_CONNECTION = 2

/** The validated settings under their own names, with derived defaults. */
export interface ResolvedSettings
  extends Omit<
    SettingValues,
    | 'CORS_ORIGINS'
    | 'LOG_FORMAT'
    | 'PASSWORD_REQUIRES'
    | 'RATE_LIMITS'
    | 'QUOTAS'
    | 'REFUSE_COMMON_PASSWORDS'
    | 'USER_SEARCH'
    | 'STORE_TLS'
    | 'WEBHOOK_HTTP'
    | 'WEBHOOK_ALLOWED_NETWORKS'
    | 'WEBHOOK_ALLOWED_HOSTS'
  > {
  IS_PRODUCTION: boolean
  STORE_TLS: 'required' | 'optional'
  RATE_LIMITS: 'on' | 'off'
  QUOTAS: 'on' | 'off'
  REFUSE_COMMON_PASSWORDS: 'on' | 'off'
  USER_SEARCH: 'open' | 'limited'
  LOG_FORMAT: 'json' | 'pretty'
  CORS_ORIGINS: string[]
  WEBHOOK_HTTP: 'on' | 'off'
  WEBHOOK_ALLOWED_NETWORKS: string[]
  WEBHOOK_ALLOWED_HOSTS: string[]
  PASSWORD_REQUIRES: ('lower' | 'upper' | 'digit' | 'symbol')[]
}

/** An invalid setting. The message names the setting and says what to do. */
export class BadSetting extends Error {}

interface ReadOptions {
  /** Whether the process signs tokens. One that does not needs no signing secret. */
  signsTokens?: boolean
}

/** The configuration of this process. An invalid setting ends the process with its message. */
export function configOrExit(options: ReadOptions = {}, print: (message: string) => void = console.error): Config {
  try {
    return readConfig(process.env, options)
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    print(error.message)
    process.exit(1)
  }
}

type Environment = Record<string, string | undefined>

export const readConfig = (environment: Environment, options: ReadOptions = {}): Config =>
  nest(readSettings(environment, options))

/** Parses and validates the environment. */
export function readSettings(environment: Environment, { signsTokens = true }: ReadOptions = {}): ResolvedSettings {
  const misspelt = findMisspelt(environment)
  if (misspelt.length > 0) throw new BadSetting(misspelt.join(' '))
  const values = readValues(withFiles(environment))
  const IS_PRODUCTION = values.ENVIRONMENT === 'production'
  const settings: ResolvedSettings = {
    ...values,
    IS_PRODUCTION,
    MAX_REQUESTS_AT_ONCE: values.MAX_REQUESTS_AT_ONCE ?? values.DATABASE_POOL_SIZE * REQUESTS_PER_CONNECTION,
    STORE_TLS: values.STORE_TLS ?? (IS_PRODUCTION ? 'required' : 'optional'),
    RATE_LIMITS: values.RATE_LIMITS ?? (IS_PRODUCTION ? 'on' : 'off'),
    USER_SEARCH: values.USER_SEARCH ?? (IS_PRODUCTION ? 'limited' : 'open'),
    QUOTAS: values.QUOTAS ?? (IS_PRODUCTION ? 'on' : 'off'),
    LOG_FORMAT: values.LOG_FORMAT ?? (!IS_PRODUCTION && process.stdout.isTTY ? 'pretty' : 'json'),
    PASSWORD_MIN_LENGTH: values.PASSWORD_MIN_LENGTH ?? (IS_PRODUCTION ? 8 : 1),
    REFUSE_COMMON_PASSWORDS: values.REFUSE_COMMON_PASSWORDS ?? (IS_PRODUCTION ? 'on' : 'off'),
    CORS_ORIGINS: list(values.CORS_ORIGINS ?? (IS_PRODUCTION ? '' : '*')),
    PASSWORD_REQUIRES: list(values.PASSWORD_REQUIRES) as ResolvedSettings['PASSWORD_REQUIRES'],
    WEBHOOK_HTTP: values.WEBHOOK_HTTP ?? (IS_PRODUCTION ? 'off' : 'on'),
    WEBHOOK_ALLOWED_NETWORKS: list(values.WEBHOOK_ALLOWED_NETWORKS),
    WEBHOOK_ALLOWED_HOSTS: list(values.WEBHOOK_ALLOWED_HOSTS).map(hostPattern),
  }
  const invalidOrigin = settings.CORS_ORIGINS.find((origin) => origin !== '*' && !isOrigin(origin))
  if (invalidOrigin !== undefined)
    throw new BadSetting('CORS_ORIGINS must be a comma-separated list of origins, such as https://app.example.')
  if (settings.PASSWORD_MIN_LENGTH > settings.PASSWORD_MAX_LENGTH) {
    throw new BadSetting('PASSWORD_MIN_LENGTH is greater than PASSWORD_MAX_LENGTH: no password could satisfy both.')
  }
  requireUrls(settings)
  if (settings.STORE_TLS === 'required') requireStoreTls(settings)
  requirePublicUrl(settings)
  if (settings.JWT_SECRET_PREVIOUS === settings.JWT_SECRET)
    throw new BadSetting('JWT_SECRET_PREVIOUS is the same as JWT_SECRET: leave it out, or set the previous secret.')
  requireWebhookSettings(settings)
  if (IS_PRODUCTION && signsTokens) requireStrongSecret('JWT_SECRET', settings.JWT_SECRET)
  if (IS_PRODUCTION) requireSafeSettings(settings)
  return settings
}

/** Reads secrets from files. No error message contains their content. */
function withFiles(environment: Environment): Environment {
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

/** Checked early, because later errors would contain the URL with its password. */
function requireUrls({ DATABASE_URL, REDIS_URL }: ResolvedSettings) {
  if (!URL.canParse(DATABASE_URL)) throw new BadSetting('DATABASE_URL is not a valid URL.')
  if (!list(REDIS_URL).every((address) => URL.canParse(address)))
    throw new BadSetting('REDIS_URL must be a valid URL, or several separated by commas.')
  if (new Set(list(REDIS_URL).map((address) => new URL(address).protocol)).size > 1)
    throw new BadSetting('REDIS_URL must begin all addresses with redis://, or all with rediss://.')
  try {
    connectionConfig(DATABASE_URL)
  } catch (error) {
    if (!(error instanceof BadConnectionUrl)) throw error
    throw new BadSetting(`DATABASE_URL ${error.message}`)
  }
}

/** On another machine, a store without verified TLS could be read and imitated by anyone on the network in between. */
function requireStoreTls({ DATABASE_URL, REDIS_URL }: ResolvedSettings) {
  const otherwise = 'or STORE_TLS=optional if nobody else is on the network in between.'
  const { address, isPrivate } = partsOf(DATABASE_URL)
  if (!isPrivate)
    throw unsafe(
      `DATABASE_URL reaches PostgreSQL at ${address} without verified TLS: add sslmode=verify-full, ${otherwise}`,
    )
  if (REDIS_URL !== '' && !isPrivateRedis(REDIS_URL))
    throw unsafe(`REDIS_URL reaches Redis on another machine without TLS: use rediss://, ${otherwise}`)
}

/** Links contain secrets, so they must not lead over an unencrypted network. */
function requirePublicUrl({ PUBLIC_URL, IS_PRODUCTION }: ResolvedSettings) {
  if (PUBLIC_URL === '') return
  const url = isOrigin(PUBLIC_URL) ? new URL(PUBLIC_URL) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new BadSetting('PUBLIC_URL must be an address without a path, such as https://boards.example.com.')
  if (IS_PRODUCTION && url.protocol === 'http:' && !isLoopback(url.hostname)) throw unsafe('PUBLIC_URL is not https.')
}

function requireWebhookSettings(settings: ResolvedSettings) {
  const { ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS, WEBHOOK_ALLOWED_NETWORKS } = settings
  if (!WEBHOOK_ALLOWED_NETWORKS.every(isNetwork))
    throw new BadSetting(
      'WEBHOOK_ALLOWED_NETWORKS must be a comma-separated list of networks, such as 10.20.0.0/16 or fd00::/8.',
    )
  if (ENCRYPTION_KEY_PREVIOUS !== '' && ENCRYPTION_KEY_PREVIOUS === ENCRYPTION_KEY)
    throw new BadSetting(
      'ENCRYPTION_KEY_PREVIOUS is the same as ENCRYPTION_KEY: leave it out, or set the previous key.',
    )
}

/** A host name as URLs have it, after `*.` where all names below it are meant. */
function hostPattern(text: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?([^*/?#@:\\\s]+)$/.exec(text) ?? []
  const host = URL.parse(`https://${name}`)?.hostname
  if (!host)
    throw new BadSetting(
      'WEBHOOK_ALLOWED_HOSTS must be a comma-separated list of host names, such as hooks.example.com or *.example.com.',
    )
  return wildcard + host.replace(/\.$/, '')
}

function readValues(environment: Environment): SettingValues {
  const required = Object.keys(Settings.properties).filter((name) => !derivedSettings.has(name))
  const schema = { ...Settings, required }
  try {
    return envSchema<SettingValues>({ schema, data: environment, env: false, dotenv: false })
  } catch (error) {
    throw new BadSetting(describeInvalid((error as { errors: ErrorObject[] }).errors))
  }
}

function requireSafeSettings(settings: ResolvedSettings) {
  const { JWT_SECRET_PREVIOUS, CORS_ORIGINS, LOG_FORMAT, METRICS_TOKEN } = settings
  if (JWT_SECRET_PREVIOUS !== '') requireStrongSecret('JWT_SECRET_PREVIOUS', JWT_SECRET_PREVIOUS)
  if (CORS_ORIGINS.includes('*')) throw unsafe('CORS_ORIGINS is the wildcard: list the origins you trust.')
  if (LOG_FORMAT !== 'json') throw unsafe('LOG_FORMAT is pretty, which programs cannot parse: leave it out.')
  if (METRICS_TOKEN !== '' && METRICS_TOKEN.length < 16)
    throw unsafe('METRICS_TOKEN is shorter than 16 characters: set a longer one, or none.')
  for (const name of ['ENCRYPTION_KEY', 'ENCRYPTION_KEY_PREVIOUS'] as const)
    if (settings[name] !== '' && new Set(settings[name]).size < 8)
      throw unsafe(`${name} repeats a few characters: set a random one.`)
}

/** A random secret of 32 characters has far more than eight different ones. */
function requireStrongSecret(name: string, secret: string) {
  if (secret === PLACEHOLDER_SECRET) throw unsafe(`${name} is the documented placeholder: set a secret of your own.`)
  if (secret.length < 32) throw unsafe(`${name} is shorter than 32 characters: set a longer one.`)
  if (new Set(secret).size < 8) throw unsafe(`${name} repeats a few characters: set a random one.`)
  if (/change.?me|placeholder|example/i.test(secret)) throw unsafe(`${name} looks like an example: set a random one.`)
}
const unsafe = (message: string) =>
  new BadSetting(`${message} The service does not start in production with this setting.`)

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text
const list = (text: string) => text.split(',').flatMap((part) => part.trim() || [])

/** The configuration by the part of the service that uses it. */
export type Config = ReturnType<typeof nest>

function nest(settings: ResolvedSettings) {
  const isLimited = settings.RATE_LIMITS === 'on'
  return {
    isProduction: settings.IS_PRODUCTION,
    http: {
      host: settings.HOST,
      port: settings.PORT,
      trustedHops: settings.TRUST_PROXY,
      corsOrigins: settings.CORS_ORIGINS,
      maxConcurrentRequests: settings.MAX_REQUESTS_AT_ONCE,
      unreadySeconds: settings.UNREADY_SECONDS,
      hasAdminApi: settings.ADMIN_API === 'on',
      hasApiDocs: settings.API_DOCS === 'on',
    },
    database: {
      url: settings.DATABASE_URL,
      poolSize: settings.DATABASE_POOL_SIZE,
      migrateOnStart: settings.MIGRATE_ON_START,
    },
    redisUrl: settings.REDIS_URL,
    tokens: {
      secret: settings.JWT_SECRET,
      previousSecret: settings.JWT_SECRET_PREVIOUS,
      algorithm: settings.JWT_ALGORITHM,
      lifetimeSeconds: settings.TOKEN_LIFETIME_SECONDS,
      hasAccessTokens: settings.ACCESS_TOKENS === 'on',
    },
    tokenMaxAgeDays: settings.TOKEN_MAX_AGE_DAYS,
    auth: {
      isRegistrationOpen: settings.REGISTRATION === 'open',
      isCookieDefault: settings.AUTH_COOKIE,
      isCookieSecure: settings.IS_PRODUCTION,
      sessionMaxAgeSeconds: settings.SESSION_MAX_AGE_SECONDS,
    },
    publicUrl: settings.PUBLIC_URL,
    isUserSearchOpen: settings.USER_SEARCH === 'open',
    passwords: {
      minLength: settings.PASSWORD_MIN_LENGTH,
      maxLength: settings.PASSWORD_MAX_LENGTH,
      requires: settings.PASSWORD_REQUIRES,
      rejectsCommon: settings.REFUSE_COMMON_PASSWORDS === 'on',
    },
    /** Undefined when rate limits are off. */
    rateLimits: !isLimited
      ? undefined
      : {
          login: settings.MAX_LOGINS_PER_MINUTE,
          failed_login: settings.MAX_FAILED_LOGINS,
          failed_login_address: settings.MAX_FAILED_LOGINS_PER_ADDRESS,
          wrong_password: settings.MAX_FAILED_LOGINS,
          registration: settings.MAX_REGISTRATIONS_PER_HOUR,
          bad_payload: settings.MAX_BAD_PAYLOADS_PER_MINUTE,
          invalid_link: settings.MAX_INVALID_LINKS,
          request: settings.MAX_REQUESTS_PER_MINUTE,
          request_address: settings.MAX_REQUESTS_PER_MINUTE_PER_ADDRESS,
          upgrade: settings.MAX_UPGRADES_PER_MINUTE,
          search: settings.MAX_USER_SEARCHES_PER_MINUTE,
          search_day: settings.MAX_USER_SEARCHES_PER_DAY,
          new_token: settings.MAX_NEW_TOKENS_PER_HOUR,
          unknown_token: settings.MAX_UNKNOWN_TOKENS_PER_MINUTE,
          new_member: settings.MAX_NEW_MEMBERS_PER_HOUR,
          same_member: settings.MAX_ADDITIONS_OF_ONE_USER_PER_DAY,
          token_member_change: settings.MAX_TOKEN_MEMBER_CHANGES_PER_HOUR,
          webhook_change: settings.MAX_WEBHOOK_CHANGES_PER_HOUR,
          webhook_test: settings.MAX_WEBHOOK_TESTS_PER_MINUTE,
        },
    quotas: {
      isOn: settings.QUOTAS === 'on',
      boardTextBytes: settings.MAX_BOARD_TEXT_BYTES,
      cardsPerBoard: settings.MAX_CARDS_PER_BOARD,
      boardFileBytes: settings.MAX_BOARD_FILE_BYTES,
      ownedBoards: settings.MAX_OWNED_BOARDS_PER_USER,
      logBytesPerMinute: settings.MAX_BOARD_LOG_BYTES_PER_MINUTE,
    },
    boards: {
      waitMs: settings.BOARD_WAIT_MS,
      cacheBytes: settings.BOARD_CACHE_BYTES,
      eventRetentionDays: settings.EVENT_RETENTION_DAYS,
      trashDays: settings.TRASH_DAYS,
    },
    files: {
      maxBytes: settings.MAX_ATTACHMENT_BYTES,
    },
    sockets: {
      max: settings.MAX_SOCKETS,
      drainSeconds: settings.DRAIN_SECONDS,
      /** Undefined when rate limits are off. */
      shares: isLimited
        ? {
            user: settings.MAX_SOCKETS_PER_USER,
            userAndBoard: settings.MAX_SOCKETS_PER_USER_AND_BOARD,
            address: settings.MAX_SOCKETS_PER_ADDRESS,
          }
        : undefined,
    },
    /** Off if `encryptionKey` is empty. */
    webhooks: {
      encryptionKey: settings.ENCRYPTION_KEY,
      previousEncryptionKey: settings.ENCRYPTION_KEY_PREVIOUS,
      workers: settings.WEBHOOK_WORKERS,
      giveUpHours: settings.WEBHOOK_GIVE_UP_HOURS,
      logDays: settings.WEBHOOK_LOG_DAYS,
      maxBytes: settings.WEBHOOK_MAX_BYTES,
      outgoing: {
        allowsHttp: settings.WEBHOOK_HTTP === 'on',
        allowedNetworks: settings.WEBHOOK_ALLOWED_NETWORKS,
        allowedHosts: settings.WEBHOOK_ALLOWED_HOSTS,
        timeoutMs: settings.WEBHOOK_TIMEOUT_SECONDS * 1_000,
      },
    },
    log: { level: settings.LOG_LEVEL, format: settings.LOG_FORMAT, instance: `${hostname()}:${settings.PORT}` },
    metrics: { port: settings.METRICS_PORT, host: settings.METRICS_HOST, token: settings.METRICS_TOKEN },
  }
}
