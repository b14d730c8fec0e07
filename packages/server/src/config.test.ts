import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { MARK } from '#testing/service'
import { BadSetting, readConfig, Settings } from './config.ts'

const SECRET = `${MARK}-a-secret-of-the-operator-0123`
const PLACEHOLDER = 'change-me-this-placeholder-is-public'
const inProduction = (settings: Record<string, string> = {}) =>
  readConfig({ ENVIRONMENT: 'production', JWT_SECRET: SECRET, ...settings })

/** The sentence with which settings are refused. */
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
    const config = readConfig({})
    for (const name of Object.keys(Settings.properties)) expect(config).toHaveProperty(name)
    expect(config).toMatchObject({
      IS_PRODUCTION: false,
      JWT_SECRET: PLACEHOLDER,
      JWT_ALGORITHM: 'HS256',
      TOKEN_LIFETIME_SECONDS: 3600,
      CORS_ORIGINS: ['*'],
      PASSWORD_REQUIRES: [],
      RATE_LIMITS: 'off',
    })
  })

  test('[RUN-1] allows what production refuses', () => {
    expect(readConfig({ JWT_SECRET: 'short', CORS_ORIGINS: '*' })).toMatchObject({ JWT_SECRET: 'short' })
  })

  test('[RUN-1] settings are read from their text, and unknown ones left alone', () => {
    const settings = { PORT: '9000', AUTH_COOKIE: 'true', PASSWORD_REQUIRES: 'upper,digit', HOME: '/' }
    expect(readConfig({ ...settings, CORS_ORIGINS: ' https://a.example ,https://b.example,' })).toMatchObject({
      PORT: 9000,
      AUTH_COOKIE: true,
      PASSWORD_REQUIRES: ['upper', 'digit'],
      CORS_ORIGINS: ['https://a.example', 'https://b.example'],
    })
  })
})

describe('production', () => {
  test('[RUN-1] starts with a secret of 32 characters and no origins unless named', () => {
    const JWT_SECRET = SECRET.slice(0, 32)
    expect(inProduction({ JWT_SECRET })).toMatchObject({ IS_PRODUCTION: true, CORS_ORIGINS: [] })
    expect(inProduction({ CORS_ORIGINS: 'https://a.example' })).toMatchObject({ CORS_ORIGINS: ['https://a.example'] })
  })

  test.each([
    ['the placeholder', { JWT_SECRET: PLACEHOLDER }, /^JWT_SECRET is the documented placeholder/],
    ['no secret', { JWT_SECRET: undefined }, /^JWT_SECRET is the documented placeholder/],
    ['31 characters', { JWT_SECRET: SECRET.slice(0, 31) }, /^JWT_SECRET is shorter than 32 characters/],
    ['the wildcard', { CORS_ORIGINS: '*' }, /^CORS_ORIGINS is the wildcard/],
    ['the wildcard among others', { CORS_ORIGINS: 'https://a.example, *' }, /^CORS_ORIGINS is the wildcard/],
  ])('[RUN-1] [V39] refuses %s in a sentence that names the setting', (_, settings, sentence) => {
    const said = refusal(() => readConfig({ ENVIRONMENT: 'production', JWT_SECRET: SECRET, ...settings }))
    expect(said).toMatch(sentence)
    expect(said).not.toContain(MARK)
  })

  test('[RUN-1] [V39] the process ends with 1 and the sentence, and does nothing else', async () => {
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const env = { ENVIRONMENT: 'production', JWT_SECRET: PLACEHOLDER, DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' }
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.trim()).toMatch(/^JWT_SECRET is the documented placeholder: [^\n]+$/)
  })
})

test('[LIMIT-1] limits hold in production, not in development, unless said otherwise', () => {
  expect([inProduction().RATE_LIMITS, inProduction({ RATE_LIMITS: 'off' }).RATE_LIMITS]).toEqual(['on', 'off'])
  expect([readConfig({}).RATE_LIMITS, readConfig({ RATE_LIMITS: 'on' }).RATE_LIMITS]).toEqual(['off', 'on'])
})

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
    ['TRUST_PROXY', 'true'],
    ['BOARD_WAIT_MS', '0'],
    ['RATE_LIMITS', 'maybe'],
    ['MAX_FAILED_LOGINS', '0'],
    ['LOG_LEVEL', 'loud'],
  ])('[RUN-2] %s=%j is refused in a sentence that names it', (name, value) => {
    const said = refusal(() => readConfig({ [name]: value }))
    expect(said).toContain(name)
    // A setting can be a secret: what it is set to is never repeated.
    if (value !== '') expect(said).not.toContain(`"${value}"`)
  })

  test('[RUN-2] every wrong one is named', () => {
    const said = refusal(() => readConfig({ PORT: 'http', LOG_LEVEL: 'loud' }))
    expect(said).toContain('PORT')
    expect(said).toContain('LOG_LEVEL')
  })
})
