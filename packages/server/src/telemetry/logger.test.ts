import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { endProcesses, eventually, startServiceProcess } from '@lockstep/testing/processes'
import { MARK, startService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, describe, expect, test } from 'vitest'
import { BadSetting, readConfig } from '../config/read-config.ts'
import { VERSION } from '../platform/version.ts'

const LOG = fileURLToPath(new URL('logger.ts', import.meta.url))
afterAll(endProcesses)

test('[OBS-11] the log contains no token, no query of a socket and no body, even at the lowest level', async () => {
  const stage = await startService()
  try {
    const board = await stage.board()
    const settings = { DATABASE_URL: stage.databaseUrl, REDIS_URL: '', LOG_LEVEL: 'trace' }
    const service = await startServiceProcess({
      ...settings,
      JWT_SECRET: `${MARK}-signing-secret-of-the-tests-0123456789`,
    })
    const opener = { baseUrl: service.baseUrl, token: board.owner.api.token }
    const secret = 'a-query-that-nobody-may-read'
    for (const prefix of ['', '/api']) {
      using let_in = openSocket(opener, board.id, { prefix, since: `1.0&x=${secret}` })
      await let_in.next('user_joined')
      using rejected = openSocket(opener, board.id, { prefix, token: `${opener.token}${secret}` })
      expect((await rejected.closed).code).toBe(1008)
      const asked = `${service.baseUrl}${prefix}/ws/boards/${board.id}?token=${opener.token}&x=${secret}`
      // The same URL without an upgrade, and with an unknown board: these are handled as requests.
      expect((await fetch(asked)).status).toBe(404)
      expect((await fetch(asked.replace('/ws/boards/', '/ws/%zz/'))).status).toBe(404)
      const body = JSON.stringify({ title: secret })
      await fetch(`${service.baseUrl}${prefix}/boards`, {
        method: 'POST',
        body,
        headers: { authorization: 'Bearer x' },
      })
    }
    await eventually('requests are in the log', () => service.output().split('"msg":"request"').length > 6)
    await service.end()
    const said = service.output()
    expect(said).not.toContain(secret)
    expect(said).not.toContain(opener.token)
    expect(said).not.toContain('token=')
    expect(said).not.toContain(board.id)
  } finally {
    await stage.stop()
  }
}, 120_000)

/** The output of a program that logs a request and a warning in the given format. */
async function logged(format: string): Promise<string> {
  const program = `
    const { createLogger } = await import(${JSON.stringify(LOG)})
    const log = createLogger({ level: 'info', instance: 'here:8000', format: ${JSON.stringify(format)} })
    log.info({ request_id: 'r', method: 'GET', route: '/boards/:board_id', status: 200, duration_ms: 3.5, address: '::1' }, 'request')
    log.warn({ err: new Error('gone') }, 'Redis cannot be reached')`
  return text(spawn(process.execPath, ['--input-type=module', '-e', program], { env: {} }).stdout)
}

test('[OBS-17] a restart is no incident: /ready is 503 and logged once, at info and without a stack', async () => {
  const stage = await startService()
  try {
    const settings = { DATABASE_URL: stage.databaseUrl, REDIS_URL: '', LOG_LEVEL: 'info', UNREADY_SECONDS: '1' }
    const service = await startServiceProcess(settings)
    expect((await fetch(`${service.baseUrl}/ready`)).status).toBe(200)
    service.signal('SIGTERM')
    const isReady = async () => (await fetch(`${service.baseUrl}/ready`)).status === 200
    await eventually('the instance is not ready', async () => !(await isReady()))
    for (let i = 0; i < 5; i++) expect(await isReady()).toBe(false)
    expect(await service.ended).toBe(0)
    const lines = service.output().trim().split('\n')
    expect(lines.filter((line) => !line.includes('"level":"info"'))).toEqual([])
    expect(lines.filter((line) => line.includes('not ready'))).toHaveLength(1)
    expect(service.output()).not.toMatch(/"stack"|"msg":"request"/)
  } finally {
    await stage.stop()
  }
})

describe('the log format', () => {
  test('[OBS-12] [OBS-16] JSON lines for programs', async () => {
    const lines = (await logged('json')).trim().split('\n')
    const [request, warning] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(request).toMatchObject({
      level: 'info',
      service: 'lockstep',
      version: VERSION,
      instance: 'here:8000',
      route: '/boards/:board_id',
      status: 200,
      msg: 'request',
    })
    expect(warning).toMatchObject({ level: 'warn', msg: 'Redis cannot be reached', err: { message: 'gone' } })
  })

  test('[OBS-12] readable lines for people', async () => {
    const [request = '', ...rest] = (await logged('pretty')).trim().split('\n')
    expect(request).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: GET \/boards\/:board_id 200 in 3\.5 ms$/)
    expect(rest.join('\n')).toMatch(/WARN: Redis cannot be reached/)
    expect(rest.join('\n')).toContain('gone')
  })

  test('[OBS-12] the default depends on the environment; production rejects readable lines', () => {
    const before = process.stdout.isTTY
    const format = (settings: Record<string, string>) => readConfig(settings).log.format
    const production = { ENVIRONMENT: 'production', JWT_SECRET: `${MARK}-0123456789012345678901234` }
    try {
      process.stdout.isTTY = true
      expect([format({}), format({ LOG_FORMAT: 'json' }), format(production)]).toEqual(['pretty', 'json', 'json'])
      process.stdout.isTTY = false
      expect([format({}), format({ LOG_FORMAT: 'pretty' }), format(production)]).toEqual(['json', 'pretty', 'json'])
      expect(() => format({ ...production, LOG_FORMAT: 'pretty' })).toThrow(BadSetting)
    } finally {
      process.stdout.isTTY = before
    }
  })
})
