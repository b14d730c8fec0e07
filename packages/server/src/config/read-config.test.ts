import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { MARK } from '@lockstep/testing/service'
import { afterAll, describe, expect, test } from 'vitest'
import { BadSetting, readConfig, readSettings } from './read-config.ts'
import { SECRETS, Settings } from './settings.ts'

const SECRET = `${MARK}-a-secret-of-the-operator-0123`
const PLACEHOLDER = 'change-me-this-placeholder-is-public'
const encryptionKey = () => randomBytes(32).toString('base64')
const inProduction = (settings: Record<string, string> = {}) =>
  readSettings({ ENVIRONMENT: 'production', JWT_SECRET: SECRET, ...settings })

/** The message with which settings are rejected. */
function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    expect(error).toBeInstanceOf(BadSetting)
    return (error as BadSetting).message
  }
  throw new Error('The settings were accepted')
}

describe('development', () => {
  test('[RUN-1] every setting has a default', () => {
    const config = readSettings({})
    for (const name of Object.keys(Settings.properties)) expect(config).toHaveProperty(name)
    expect(config).toMatchObject({
      IS_PRODUCTION: false,
      JWT_SECRET: PLACEHOLDER,
      JWT_ALGORITHM: 'HS256',
      TOKEN_LIFETIME_SECONDS: 3600,
      CORS_ORIGINS: ['*'],
      PASSWORD_MIN_LENGTH: 1,
      PASSWORD_REQUIRES: [],
      REFUSE_COMMON_PASSWORDS: 'off',
      RATE_LIMITS: 'off',
      USER_SEARCH: 'open',
    })
  })

  test('[RUN-1] accepts settings that production rejects', () => {
    expect(readSettings({ JWT_SECRET: 'short', CORS_ORIGINS: '*' })).toMatchObject({ JWT_SECRET: 'short' })
  })

  test('[RUN-1] settings are parsed, and unknown variables are ignored', () => {
    const settings = { PORT: '9000', AUTH_COOKIE: 'true', PASSWORD_REQUIRES: 'upper,digit', HOME: '/' }
    expect(readSettings({ ...settings, CORS_ORIGINS: ' https://a.example ,https://b.example,' })).toMatchObject({
      PORT: 9000,
      AUTH_COOKIE: true,
      PASSWORD_REQUIRES: ['upper', 'digit'],
      CORS_ORIGINS: ['https://a.example', 'https://b.example'],
    })
  })
})

describe('production', () => {
  test('[RUN-1] starts with a secret of 32 characters, and has no CORS origins by default', () => {
    const JWT_SECRET = SECRET.slice(0, 32)
    expect(inProduction({ JWT_SECRET })).toMatchObject({ IS_PRODUCTION: true, CORS_ORIGINS: [] })
    expect(inProduction({ JWT_SECRET })).toMatchObject({ PASSWORD_MIN_LENGTH: 8, REFUSE_COMMON_PASSWORDS: 'on' })
    expect(inProduction()).toMatchObject({
      USER_SEARCH: 'limited',
      MAX_USER_SEARCHES_PER_MINUTE: 30,
      MAX_USER_SEARCHES_PER_DAY: 500,
    })
    expect(inProduction({ CORS_ORIGINS: 'https://a.example' })).toMatchObject({ CORS_ORIGINS: ['https://a.example'] })
  })

  test.each([
    ['the placeholder', { JWT_SECRET: PLACEHOLDER }, /^JWT_SECRET is the documented placeholder/],
    ['no secret', { JWT_SECRET: undefined }, /^JWT_SECRET is the documented placeholder/],
    ['31 characters', { JWT_SECRET: SECRET.slice(0, 31) }, /^JWT_SECRET is shorter than 32 characters/],
    ['one character, 32 times', { JWT_SECRET: 'x'.repeat(32) }, /^JWT_SECRET repeats a few characters/],
    ['seven characters again and again', { JWT_SECRET: 'abcdefg'.repeat(9) }, /^JWT_SECRET repeats a few characters/],
    ['an example', { JWT_SECRET: 'this-is-an-Example-of-a-secret-0123456789' }, /^JWT_SECRET looks like an example/],
    ['“changeme”', { JWT_SECRET: 'ChangeMe-0123456789-abcdefghijklmnop' }, /^JWT_SECRET looks like an example/],
    ['a short second secret', { JWT_SECRET_PREVIOUS: SECRET.slice(0, 31) }, /^JWT_SECRET_PREVIOUS is shorter than 32/],
    ['a weak second secret', { JWT_SECRET_PREVIOUS: 'x'.repeat(32) }, /^JWT_SECRET_PREVIOUS repeats a few/],
    ['the placeholder as second', { JWT_SECRET_PREVIOUS: PLACEHOLDER }, /^JWT_SECRET_PREVIOUS is the documented/],
    ['the wildcard', { CORS_ORIGINS: '*' }, /^CORS_ORIGINS is the wildcard/],
    ['an encryption key of few characters', { ENCRYPTION_KEY: `${'A'.repeat(43)}=` }, /^ENCRYPTION_KEY repeats a few/],
    ['links over http', { PUBLIC_URL: 'http://boards.example' }, /^PUBLIC_URL is not https/],
    [
      'PostgreSQL without TLS',
      { DATABASE_URL: 'postgres://db.internal/a' },
      /^DATABASE_URL reaches PostgreSQL at db\.internal:5432 without verified TLS: add sslmode=verify-full, or STORE_TLS=optional/,
    ],
    [
      'PostgreSQL without TLS by choice',
      { DATABASE_URL: 'postgres://db.internal/a?sslmode=disable' },
      /^DATABASE_URL reaches/,
    ],
    ['PostgreSQL unverified', { DATABASE_URL: 'postgres://db.internal/a?sslmode=no-verify' }, /^DATABASE_URL reaches/],
    [
      'Redis without TLS',
      { REDIS_URL: 'redis://10.1.2.3' },
      /^REDIS_URL reaches Redis on another machine without TLS: use rediss:\/\/, or/,
    ],
    ['a cluster without TLS', { REDIS_URL: 'redis://127.0.0.1,redis://10.1.2.3' }, /^REDIS_URL reaches Redis/],
    ['the wildcard among others', { CORS_ORIGINS: 'https://a.example, *' }, /^CORS_ORIGINS is the wildcard/],
  ])('[RUN-1] [RUN-16] [CONF-3] [V39] rejects %s with a message that names the setting', (_, settings, sentence) => {
    const said = refusal(() => readSettings({ ENVIRONMENT: 'production', JWT_SECRET: SECRET, ...settings }))
    expect(said).toMatch(sentence)
    expect(said).not.toContain(MARK)
  })

  test.each([
    { DATABASE_URL: 'postgres://db.internal/a?sslmode=verify-full', REDIS_URL: 'rediss://redis.internal' },
    { DATABASE_URL: 'postgres://db.internal/a?sslmode=require', REDIS_URL: '' },
    { DATABASE_URL: 'postgres://127.0.0.1/a', REDIS_URL: 'redis://[::1]:6379' },
    { DATABASE_URL: 'postgres://localhost/a', REDIS_URL: 'redis://localhost' },
    { DATABASE_URL: 'postgres://lockstep@%2Frun%2Fpostgresql/a' },
    { DATABASE_URL: 'postgres:///a?host=/run/postgresql' },
    { DATABASE_URL: 'postgres://db.internal/a', REDIS_URL: 'redis://redis.internal', STORE_TLS: 'optional' },
  ])('[RUN-16] accepts stores with verified TLS, on this machine, or as STORE_TLS allows: %j', (settings) => {
    expect(inProduction(settings)).toMatchObject(settings)
  })

  test.each([
    ['postgres://a/b?sslmode=prefer', 'DATABASE_URL has an unknown sslmode: write verify-full, or disable.'],
    ['postgres://a/b?sslmode=allow', 'DATABASE_URL has an unknown sslmode: write verify-full, or disable.'],
    ['postgres://a/b?ssl=true', 'DATABASE_URL has the parameter ssl: write sslmode=verify-full instead.'],
    [
      'postgres://a/b?sslmode=verify-full&sslrootcert=/nowhere',
      'DATABASE_URL names a file as sslrootcert that cannot be read (ENOENT).',
    ],
  ])('[RUN-16] rejects %s, in development too', (DATABASE_URL, sentence) => {
    expect(refusal(() => readSettings({ DATABASE_URL }))).toBe(sentence)
  })

  test('[RUN-1] [V39] the process exits with status 1 and the message, and does nothing else', async () => {
    const main = fileURLToPath(new URL('../main.ts', import.meta.url))
    const env = { ENVIRONMENT: 'production', JWT_SECRET: PLACEHOLDER, DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' }
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    expect([code, stderr]).toEqual([1, ''])
    const line: unknown = JSON.parse(stdout)
    expect(line).toMatchObject({
      level: 'fatal',
      msg: expect.stringMatching(/^JWT_SECRET is the documented placeholder: /),
    })
  })
})

test('[CONF-3] production accepts the output of openssl, also as a second secret', () => {
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(48)))
  for (let i = 0; i < 20; i++) {
    const JWT_SECRET = random().toString('base64')
    const JWT_SECRET_PREVIOUS = random().toString('hex').slice(0, 32)
    expect(inProduction({ JWT_SECRET, JWT_SECRET_PREVIOUS })).toMatchObject({ JWT_SECRET, JWT_SECRET_PREVIOUS })
  }
})

test('[CONF-3] a second secret that equals the first is rejected, also in development', () => {
  const said = refusal(() => readSettings({ JWT_SECRET: SECRET, JWT_SECRET_PREVIOUS: SECRET }))
  expect(said).toMatch(/^JWT_SECRET_PREVIOUS is the same as JWT_SECRET/)
  expect(said).not.toContain(MARK)
})

test('[CONF-7] the encryption keys are 32 random bytes in base64, and are never equal', () => {
  const [ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS] = [encryptionKey(), encryptionKey()]
  expect(inProduction({ ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS })).toMatchObject({
    ENCRYPTION_KEY,
    ENCRYPTION_KEY_PREVIOUS,
  })
  expect([inProduction().ENCRYPTION_KEY, readSettings({}).ENCRYPTION_KEY]).toEqual(['', ''])
  const said = refusal(() => readSettings({ ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS: ENCRYPTION_KEY }))
  expect(said).toMatch(/^ENCRYPTION_KEY_PREVIOUS is the same as ENCRYPTION_KEY/)
  expect(said).not.toContain(ENCRYPTION_KEY)
})

test('[CONF-8] webhooks reach only public addresses by default, and need HTTPS in production', () => {
  const { outgoing } = readConfig({}).webhooks
  expect(outgoing).toEqual({ allowsHttp: true, allowedNetworks: [], allowedHosts: [], timeoutMs: 15_000 })
  const production = readConfig({ ENVIRONMENT: 'production', JWT_SECRET: SECRET })
  expect(production.webhooks.outgoing).toEqual({ ...outgoing, allowsHttp: false })
})

test('[CONF-8] allowed networks and hosts are lists; hosts are compared as URLs have them', () => {
  const settings = {
    WEBHOOK_ALLOWED_NETWORKS: ' 127.0.0.0/8, ::1/128,',
    WEBHOOK_ALLOWED_HOSTS: 'Hooks.Example.com., *.Bücher.example,10.1.2.3',
  }
  expect(readConfig(settings).webhooks.outgoing).toMatchObject({
    allowedNetworks: ['127.0.0.0/8', '::1/128'],
    allowedHosts: ['hooks.example.com', '*.xn--bcher-kva.example', '10.1.2.3'],
  })
})

describe('secrets from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-settings-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (content: string) => {
    const path = join(folder, crypto.randomUUID())
    writeFileSync(path, content)
    return path
  }
  const values: Record<(typeof SECRETS)[number], string> = {
    DATABASE_URL: `postgres://lockstep:${MARK}@db.internal/lockstep`,
    REDIS_URL: `redis://:${MARK}@redis.internal:6379`,
    JWT_SECRET: SECRET,
    JWT_SECRET_PREVIOUS: `${SECRET}-of-before`,
    METRICS_TOKEN: `${MARK}-for-the-scraper`,
    ENCRYPTION_KEY: encryptionKey(),
    ENCRYPTION_KEY_PREVIOUS: encryptionKey(),
  }

  test.each(SECRETS)('[CONF-1] %s_FILE names a file with the value, with or without a line break', (name) => {
    for (const end of ['', '\n', '\r\n'])
      expect(readSettings({ [`${name}_FILE`]: file(values[name] + end) })[name]).toBe(values[name])
    // Only one line break is removed.
    expect(readSettings({ JWT_SECRET_FILE: file(' a b \n\n') }).JWT_SECRET).toBe(' a b \n')
  })

  test.each(SECRETS)('[CONF-1] [CONF-2] %s and %s_FILE together are rejected', (name) => {
    const said = refusal(() => readSettings({ [name]: values[name], [`${name}_FILE`]: file(values[name]) }))
    expect(said).toBe(`${name} and ${name}_FILE are both set: leave one out.`)
  })

  test.each(SECRETS)(
    '[CONF-1] [CONF-2] a %s_FILE that is empty, missing or a directory is rejected by name',
    (name) => {
      const said = (path: string) => refusal(() => readSettings({ [`${name}_FILE`]: path }))
      expect(said(file('\n'))).toBe(`${name}_FILE names a file that is empty.`)
      expect(said(join(folder, MARK))).toBe(`${name}_FILE names a file that cannot be read (ENOENT).`)
      expect(said(folder)).toBe(`${name}_FILE names a file that cannot be read (EISDIR).`)
      expect(said('')).toBe(`${name}_FILE names a file that cannot be read (ENOENT).`)
    },
  )

  test.each([
    ['DATABASE_URL', `postgres://lockstep:${MARK}@[::1/lockstep`],
    ['DATABASE_URL', `mysql://lockstep:${MARK}@db/lockstep`],
    ['REDIS_URL', `redis://:${MARK}@redis:port`],
    ['REDIS_URL', `redis://a:6379,redis://:${MARK}@b:99999`],
    ['REDIS_URL', `http://:${MARK}@redis`],
  ])('[CONF-2] an error about %s does not contain its value, also when it comes from a file', (name, value) => {
    for (const settings of [{ [name]: value }, { [`${name}_FILE`]: file(value) }]) {
      const said = refusal(() => readSettings(settings))
      expect(said).toContain(name)
      expect(said).not.toContain(MARK)
    }
  })

  test('[CONF-2] the process prints only the name, too', async () => {
    const env = { JWT_SECRET: SECRET, DATABASE_URL_FILE: file(`postgres://lockstep:${MARK}@[::1/lockstep`) }
    const main = fileURLToPath(new URL('../main.ts', import.meta.url))
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    expect([code, stderr]).toEqual([1, ''])
    expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', msg: 'DATABASE_URL is not a valid URL.' })
  })

  test('[CONF-1] the settings page lists the file variable of each secret, and of no other setting', () => {
    const table = readFileSync('docs/settings.md', 'utf8')
    expect([...table.matchAll(/`(\w+)_FILE`/g)].map(([, name]) => name)).toEqual(
      Object.keys(Settings.properties).filter((name) => SECRETS.some((secret) => secret === name)),
    )
    const listed = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
    expect(listed).toEqual(Object.keys(Settings.properties))
  })
})

test('[LIMIT-1] rate limits are on in production and off in development by default', () => {
  expect([inProduction().RATE_LIMITS, inProduction({ RATE_LIMITS: 'off' }).RATE_LIMITS]).toEqual(['on', 'off'])
  expect([readSettings({}).RATE_LIMITS, readSettings({ RATE_LIMITS: 'on' }).RATE_LIMITS]).toEqual(['off', 'on'])
})

test.each(['https://boards.example', 'http://localhost:8000', 'http://127.0.0.1:8000', 'http://[::1]:8000', ''])(
  '[INVITE-13] production accepts the public URL %j',
  (PUBLIC_URL) => {
    expect(inProduction({ PUBLIC_URL })).toMatchObject({ PUBLIC_URL })
  },
)

describe('a setting of the wrong form', () => {
  test.each([
    ['ENVIRONMENT', 'staging'],
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', ''],
    ['DATABASE_URL', 'nonsense'],
    ['DATABASE_POOL_SIZE', '0'],
    ['MIGRATE_ON_START', 'yes'],
    ['REDIS_URL', 'nonsense'],
    ['REDIS_URL', 'redis://a,rediss://b'],
    ['STORE_TLS', 'off'],
    ['JWT_SECRET', ''],
    ['JWT_ALGORITHM', 'none'],
    ['JWT_ALGORITHM', 'RS256'],
    ['TOKEN_LIFETIME_SECONDS', '0'],
    ['TOKEN_LIFETIME_SECONDS', '1h'],
    ['SESSION_MAX_AGE_SECONDS', '-1'],
    ['AUTH_COOKIE', 'maybe'],
    ['REGISTRATION', 'invited'],
    ['PASSWORD_MIN_LENGTH', '0'],
    ['PASSWORD_MAX_LENGTH', '63'],
    ['PASSWORD_REQUIRES', 'emoji'],
    ['PASSWORD_REQUIRES', 'lower upper'],
    ['CORS_ORIGINS', 'app.example'],
    ['PUBLIC_URL', 'boards.example'],
    ['PUBLIC_URL', 'https://boards.example/app'],
    ['PUBLIC_URL', 'ftp://boards.example'],
    ['TRUST_PROXY', 'true'],
    ['BOARD_WAIT_MS', '0'],
    ['RATE_LIMITS', 'maybe'],
    ['MAX_FAILED_LOGINS', '0'],
    ['LOG_LEVEL', 'loud'],
    ['ENCRYPTION_KEY', 'short'],
    ['ENCRYPTION_KEY', randomBytes(31).toString('base64')],
    ['ENCRYPTION_KEY', randomBytes(33).toString('base64')],
    ['ENCRYPTION_KEY', randomBytes(32).toString('hex')],
    ['ENCRYPTION_KEY_PREVIOUS', randomBytes(16).toString('base64')],
    ['WEBHOOK_HTTP', 'true'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/33'],
    ['WEBHOOK_ALLOWED_NETWORKS', 'fd00::/129'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0/8'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/8 fd00::/8'],
    ['WEBHOOK_ALLOWED_NETWORKS', 'fe80::%eth0/10'],
    ['WEBHOOK_ALLOWED_HOSTS', 'https://hooks.example'],
    ['WEBHOOK_ALLOWED_HOSTS', 'hooks.example:8443'],
    ['WEBHOOK_ALLOWED_HOSTS', '*'],
    ['WEBHOOK_ALLOWED_HOSTS', 'hooks.*.example'],
    ['WEBHOOK_TIMEOUT_SECONDS', '0'],
    ['WEBHOOK_WORKERS', '-1'],
    ['WEBHOOK_MAX_BYTES', '1000000000'],
  ])('[RUN-2] %s=%j is rejected with a message that names it', (name, value) => {
    const said = refusal(() => readSettings({ [name]: value }))
    expect(said).toContain(name)
    // The value is never repeated, because it may be a secret.
    if (value !== '') expect(said).not.toContain(`"${value}"`)
  })

  test.each([
    ['LOG_LEVEL', 'verbose', 'LOG_LEVEL must be one of trace, debug, info, warn, error, silent.'],
    ['PORT', '70000', 'PORT must be a whole number from 0 to 65535.'],
    ['BOARD_WAIT_MS', '5s', 'BOARD_WAIT_MS must be a whole number, at least 1.'],
    ['AUTH_COOKIE', 'on', 'AUTH_COOKIE must be true or false.'],
    ['DATABASE_URL', 'mysql://a', 'DATABASE_URL must begin with postgres:// or postgresql://.'],
    ['REDIS_URL', 'localhost', 'REDIS_URL must begin with redis:// or rediss://, or be empty.'],
    [
      'PASSWORD_REQUIRES',
      'emoji',
      'PASSWORD_REQUIRES must be a list of lower, upper, digit, symbol, separated by commas.',
    ],
    ['METRICS_TOKEN', 'ü', 'METRICS_TOKEN must consist of visible ASCII characters.'],
    ['METRICS_HOST', '', 'METRICS_HOST must not be empty.'],
    [
      'ENCRYPTION_KEY',
      'short',
      'ENCRYPTION_KEY must be 32 bytes in base64, as from openssl rand -base64 32, or empty.',
    ],
    [
      'WEBHOOK_ALLOWED_NETWORKS',
      '10.0.0.0',
      'WEBHOOK_ALLOWED_NETWORKS must be a comma-separated list of networks, such as 10.20.0.0/16 or fd00::/8.',
    ],
    [
      'WEBHOOK_ALLOWED_HOSTS',
      'a/b',
      'WEBHOOK_ALLOWED_HOSTS must be a comma-separated list of host names, such as hooks.example.com or *.example.com.',
    ],
  ])('[RUN-2] %s=%j is rejected with the allowed values', (name, value, sentence) => {
    expect(refusal(() => readSettings({ [name]: value }))).toBe(sentence)
  })

  test.each([
    ['RATE_LIMIT', 'RATE_LIMITS'],
    ['RATE_LIMTIS', 'RATE_LIMITS'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['JWT_SECRET_FILES', 'JWT_SECRET_FILE'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['TOKEN_LIFETIME', 'TOKEN_LIFETIME_SECONDS'],
    ['ENVIROMENT', 'ENVIRONMENT'],
  ])('[RUN-10] %s is rejected as a misspelt %s', (name, near) => {
    expect(refusal(() => readSettings({ [name]: MARK }))).toBe(`${name} is not a setting. Did you mean ${near}?`)
  })

  test('[RUN-10] a file for a setting that is no secret is rejected, and unrelated variables are ignored', () => {
    expect(refusal(() => readSettings({ PORT_FILE: '/run/port' }))).toMatch(
      /^PORT_FILE is not a setting: only DATABASE/,
    )
    const unrelated = [
      'PATH',
      'HOSTNAME',
      'PORTS',
      'HOSTS',
      'host',
      'PGPORT',
      'REDIS_PORT',
      'DATABASE_URL_TEST',
      'LOG_DIR',
    ]
    expect(readSettings(Object.fromEntries(unrelated.map((name) => [name, 'x'])))).toMatchObject({ PORT: 8000 })
  })

  test('[RUN-2] every invalid setting is named', () => {
    const said = refusal(() => readSettings({ PORT: 'http', LOG_LEVEL: 'loud' }))
    expect(said).toContain('PORT')
    expect(said).toContain('LOG_LEVEL')
  })
})
