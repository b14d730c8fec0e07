import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Certificates, makeCertificates } from '@lockstep/testing/certificates'
import { freePort } from '@lockstep/testing/ports'
import {
  endProcesses,
  eventually,
  hear,
  inherited,
  launch,
  newFolder,
  type PostgresStore,
  postgresPrograms,
  startAdmin,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { JWT_SECRET, MARK } from '@lockstep/testing/secrets'
import { openSocket } from '@lockstep/testing/socket'
import { createClient } from '@redis/client'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Database, statement } from '../packages/server/src/database/database.ts'
import { channelOf } from '../packages/server/src/realtime/bus.ts'
import { query } from './recovery/cluster.ts'
import { createCard, newBoard, newUser } from './recovery/writers.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })
const MAIN = fileURLToPath(new URL('../packages/server/src/main.ts', import.meta.url))
const production = { ENVIRONMENT: 'production', JWT_SECRET, RATE_LIMITS: 'off', LOG_LEVEL: 'info' }

let files: Certificates
let postgres: PostgresStore
/** The certificate that PostgreSQL presents. */
let presented: string
beforeAll(async () => {
  files = await makeCertificates()
  presented = `${files.valid}-presented`
  await copyFile(files.valid, presented)
  postgres = await startPostgres({
    settings: ['ssl=on', `ssl_cert_file=${presented}`, `ssl_key_file=${files.key}`],
  })
  // The role of the service is rejected without TLS.
  await query(postgres.url, 'create role lockstep superuser login')
  const rules = ['host all postgres 127.0.0.1/32 trust', 'hostssl all lockstep 127.0.0.1/32 trust']
  await writeFile(join(postgres.data, 'pg_hba.conf'), `${rules.join('\n')}\n`)
  await query(postgres.url, 'select pg_reload_conf()')
  const migration = startAdmin(['migrate'], { ...production, DATABASE_URL: verified() })
  expect(await migration.ended, migration.output()).toBe(0)
})
afterAll(endProcesses)

const databaseUrl = (parameters: string, host = 'localhost') =>
  `${postgres.url.replace('postgres@127.0.0.1', `lockstep@${host}`)}?${parameters}`
const verified = () => databaseUrl(`sslmode=verify-full&sslrootcert=${files.authority}`)

/** Starts the service, which must fail. Returns its last log line. */
async function failure(settings: Record<string, string>): Promise<string> {
  const service = launch(process.execPath, [MAIN], {
    env: { ...inherited, ...production, REDIS_URL: '', PORT: String(await freePort()), ...settings },
  })
  expect(await service.ended).toBe(1)
  expect(service.output()).not.toMatch(/"stack"|SECURITY WARNING/)
  const last = service.output().trim().split('\n').at(-1) ?? '{}'
  return (JSON.parse(last) as { msg: string }).msg
}

describe('PostgreSQL with TLS', () => {
  const present = async (certificate: string) => {
    await copyFile(certificate, presented)
    await postgres.process().end('SIGINT')
    await postgres.start()
  }

  test.each([
    ['verify-full, its CA in the URL', () => databaseUrl(`sslmode=verify-full&sslrootcert=${files.authority}`), {}],
    [
      'verify-full, an IP address',
      () => databaseUrl(`sslmode=verify-full&sslrootcert=${files.authority}`, '127.0.0.1'),
      {},
    ],
    ['verify-full, its CA from Node.js', () => databaseUrl('sslmode=verify-full'), { isTrusted: true }],
    ['require, its CA from Node.js', () => databaseUrl('sslmode=require'), { isTrusted: true }],
  ])(
    '[RUN-17] every connection of the service and of npm run admin uses it: %s',
    async (_, url, { isTrusted }: { isTrusted?: boolean }) => {
      const trust = isTrusted ? { NODE_EXTRA_CA_CERTS: files.authority } : {}
      const settings = { ...production, ...trust, DATABASE_URL: url(), REDIS_URL: '' }
      const migration = startAdmin(['migrate'], settings)
      expect(await migration.ended, migration.output()).toBe(0)
      const service = await startServiceProcess(settings)
      expect(await (await fetch(`${service.baseUrl}/health`)).json()).toMatchObject({ database: 'connected' })
      const { api } = await newUser(service.baseUrl)
      await newBoard(api)
      expect(service.output()).not.toContain('SECURITY WARNING')
      const statistics = startAdmin(['statistics'], settings)
      expect(await statistics.ended, statistics.output()).toBe(0)
      await service.end()
    },
  )

  test('[RUN-7] limits the size of a result too', async () => {
    const database = new Database({ url: verified(), size: 1, onError: () => {}, maxResultBytes: 1_000_000 })
    const text = statement(
      'text_of_length',
      ({ length }: { length: number }) => sql<{ text: string }>`select repeat('x', ${length}::int) as text`,
    )
    await expect(database.run(text, { length: 1_200_000 })).rejects.toMatchObject({ code: 'result_too_large' })
    expect(await database.run(text, { length: 900_000 })).toHaveLength(1)
    await database.close()
  })

  test('[RUN-17] a CA that did not sign its certificate is refused', async () => {
    const said =
      /^The certificate of PostgreSQL at localhost:\d+ in DATABASE_URL is not signed by a trusted authority \(\w+\)\. Set sslrootcert in DATABASE_URL, or NODE_EXTRA_CA_CERTS, to the file with its CA\.$/
    for (const parameters of [
      `sslmode=verify-full&sslrootcert=${files.otherAuthority}`,
      'sslmode=verify-full',
      'sslmode=require',
      'sslmode=require&uselibpqcompat=true',
    ])
      expect(await failure({ DATABASE_URL: databaseUrl(parameters) })).toMatch(said)
    const migration = startAdmin(['migrate'], { ...production, DATABASE_URL: databaseUrl('sslmode=require') })
    expect([await migration.ended, migration.output().trim()]).toEqual([1, expect.stringMatching(said)])
  })

  test('[RUN-17] an expired certificate, one for another name, and a server without TLS are refused', async () => {
    await present(files.expired)
    expect(await failure({ DATABASE_URL: verified() })).toMatch(
      /^The certificate of PostgreSQL at localhost:\d+ in DATABASE_URL has expired\. Renew it there\.$/,
    )
    await present(files.otherName)
    expect(await failure({ DATABASE_URL: verified() })).toMatch(
      /^The certificate of PostgreSQL at localhost:\d+ is for another name \(Host: localhost\. is not in the cert's altnames: DNS:other\.example\)\. Let DATABASE_URL use a name of the certificate\.$/,
    )
    await present(files.valid)
    const plain = await startPostgres()
    expect(await failure({ DATABASE_URL: `${plain.url}?sslmode=verify-full` })).toMatch(
      /^PostgreSQL at 127\.0\.0\.1:\d+ has no TLS, which the sslmode of DATABASE_URL requires\. Turn it on there \(ssl = on\)\.$/,
    )
  })

  test('[SHIP-31] backup.sh and restore.sh verify the server too, also with sslmode=require', async () => {
    const folder = await newFolder()
    const url = databaseUrl(`sslmode=require&sslrootcert=${files.authority}`).replace('lockstep@', `lockstep:${MARK}@`)
    const run = async (script: string, argument: string, DATABASE_URL: string) => {
      const running = launch(`deploy/backup/${script}`, [argument], {
        env: { PATH: `${postgresPrograms()}:${process.env['PATH']}`, DATABASE_URL },
      })
      return { code: await running.ended, output: running.output().trim() }
    }
    const backup = await run('backup.sh', folder, url)
    expect(backup).toMatchObject({ code: 0 })
    expect(await run('restore.sh', backup.output, url)).toMatchObject({ code: 0 })
    const refused = { code: 1, output: expect.stringMatching(/certificate/) }
    for (const wrong of [url.replace(files.authority, files.otherAuthority), url.replace(/&sslrootcert.*/, '')])
      expect(await run('backup.sh', folder, wrong)).toEqual(refused)
    // With sslmode=require, libpq itself would verify the CA, but not the name.
    await present(files.otherName)
    expect(await run('backup.sh', folder, url)).toEqual(refused)
    await present(files.valid)
  })
})

describe('Redis with TLS, a user and a password', () => {
  const start = async (certificate: string, ...options: string[]) => {
    const port = await freePort()
    const tls = [
      '--tls-ca-cert-file',
      files.authority,
      '--tls-port',
      String(port),
      '--tls-cert-file',
      certificate,
      '--tls-key-file',
      files.key,
      '--tls-auth-clients',
      'no',
    ]
    const user = `lockstep on >${MARK} ~limit:* ~{*}:* &{*}:* -@all +@connection +@pubsub +@read +@write +@scripting +time +cluster|slots +cluster|shards -@dangerous`
    const redis = await startRedis(...tls, '--user', ...user.split(' '), ...options)
    return { plain: redis.url, url: `rediss://lockstep:${MARK}@localhost:${port}` }
  }
  const settings = (REDIS_URL: string, ca = files.authority) => ({
    ...production,
    RATE_LIMITS: 'on',
    REGISTRATION: 'open',
    DATABASE_URL: verified(),
    REDIS_URL,
    NODE_EXTRA_CA_CERTS: ca,
  })
  const healthOf = async (baseUrl: string) => {
    const response = await fetch(`${baseUrl}/health`)
    return (await response.json()) as { redis: string }
  }

  test.each(['one server', 'a cluster'])(
    '[RUN-18] with the right CA, two instances share events over %s',
    async (kind) => {
      const isCluster = kind === 'a cluster'
      const { url, plain } = await start(
        files.valid,
        ...(isCluster
          ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--tls-cluster', 'yes']
          : []),
      )
      const admin = createClient({ url: plain })
      admin.on('error', () => {})
      await admin.connect()
      if (isCluster) {
        await admin.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
        await eventually('the cluster is whole', async () => (await admin.clusterInfo()).includes('cluster_state:ok'))
      }
      const REDIS_URL = isCluster ? `${url},${url.replace('localhost', '127.0.0.1')}` : url
      const one = await startServiceProcess(settings(REDIS_URL))
      const two = await startServiceProcess(settings(REDIS_URL))
      for (const { baseUrl } of [one, two])
        await eventually('Redis is connected', async () => (await healthOf(baseUrl)).redis === 'connected')
      const { api, token } = await newUser(one.baseUrl)
      const board = await newBoard(api)
      const socket = openSocket({ baseUrl: two.baseUrl, token }, board.board_id)
      await socket.next('user_joined')
      using heard = await hear(plain, channelOf(board.board_id))
      expect((await createCard(api, board, 'over-TLS')).status).toBe(201)
      await socket.next((message) => JSON.stringify(message).includes('over-TLS'))
      await eventually('the event was sent over Redis', () =>
        heard.messages.some((message) => message.startsWith('e|')),
      )
      // All connections of the service are of its user: the default user has only those of this test.
      const users = ((await admin.sendCommand(['CLIENT', 'LIST'])) as string).match(/user=\w+/g) ?? []
      expect(users.filter((user) => user === 'user=lockstep').length).toBeGreaterThanOrEqual(6)
      expect(users.filter((user) => user === 'user=default')).toHaveLength(3)
      admin.destroy()
      await socket.close()
      await Promise.all([one.end(), two.end()])
    },
  )

  test.each<[string, () => { certificate: string; ca?: string; password?: string }, RegExp]>([
    [
      'a CA that did not sign the certificate',
      () => ({ certificate: files.valid, ca: files.otherAuthority }),
      /The certificate of Redis at localhost:\d+ in REDIS_URL is not signed by a trusted authority \(\w+\)\. Set NODE_EXTRA_CA_CERTS to the file with its CA\./,
    ],
    [
      'an expired certificate',
      () => ({ certificate: files.expired }),
      /The certificate of Redis at localhost:\d+ in REDIS_URL has expired\. Renew it there\./,
    ],
    [
      'a certificate for another name',
      () => ({ certificate: files.otherName }),
      /The certificate of Redis at localhost:\d+ is for another name \(.+DNS:other\.example\)\. Let REDIS_URL use a name of the certificate\./,
    ],
    [
      'a wrong password',
      () => ({ certificate: files.valid, password: 'wrong' }),
      /Redis at localhost:\d+ rejects the user or the password of REDIS_URL\./,
    ],
  ])('[RUN-18] %s is refused: the service says so and runs without Redis', async (_, wrong, said) => {
    const { certificate, ca, password = MARK } = wrong()
    const { url } = await start(certificate)
    const service = await startServiceProcess(settings(url.replace(MARK, password), ca))
    await eventually('the sentence', () => said.test(service.output()))
    expect((await healthOf(service.baseUrl)).redis).toBe('disconnected')
    expect(service.output()).not.toContain(`${MARK}@`)
    await service.end()
  })
})
