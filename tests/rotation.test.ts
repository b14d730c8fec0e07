import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { Client } from '../packages/server/testing/client.ts'
import { freePort } from '../packages/server/testing/ports.ts'
import {
  endProcesses,
  eventually,
  type ServiceProcess,
  startServiceProcess,
} from '../packages/server/testing/processes.ts'
import { MARK, startService } from '../packages/server/testing/service.ts'
import { openSocket } from '../packages/server/testing/socket.ts'
import { REDIS } from '../packages/server/testing/template-database.ts'

// Processes are started here, eight of them.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })
afterAll(endProcesses)

const [A, B] = [`${MARK}-the-old-secret-${randomUUID()}`, `${MARK}-the-new-secret-${randomUUID()}`]
/** As docs/administering.md says. */
const steps = [{ JWT_SECRET: A, JWT_SECRET_PREVIOUS: B }, { JWT_SECRET: B, JWT_SECRET_PREVIOUS: A }, { JWT_SECRET: B }]

test('[CONF-5] a secret is replaced on two instances, step by step, and nobody is logged out', async () => {
  const database = await startService({ JWT_SECRET: A })
  const { id: board_id, owner, member } = await database.board()
  const ports = [String(await freePort()), String(await freePort())]
  const begin = (PORT: string, secrets: Record<string, string>) =>
    startServiceProcess({
      DATABASE_URL: database.database_url,
      REDIS_URL: REDIS,
      ENVIRONMENT: 'production',
      RATE_LIMITS: 'off',
      DRAIN_SECONDS: '0',
      MIGRATE_ON_START: 'false',
      PORT,
      ...secrets,
    })
  const instances = (await Promise.all(ports.map((port) => begin(port, { JWT_SECRET: A })))) as [
    ServiceProcess,
    ServiceProcess,
  ]

  /** Asks both instances in turn, all the time. One that is being replaced refuses the connection, and is passed over. */
  const seen = { answers: 0, refused: 0, renewals: 0, sockets: 0 }
  const patient = new Client('', owner.api.token)
  const renewing = new Client('', member.api.token)
  let isOver = false
  const asking = (async () => {
    for (let i = 0; !isOver; i++) {
      const base_url = `http://127.0.0.1:${ports[i % 2]}`
      const at = ({ token }: Client) => new Client(base_url, token)
      try {
        const answers = [await at(patient).send('getMe', {}), await at(renewing).send('getMe', {})]
        const renewed = await at(renewing).send('refresh', {})
        const ticket = await at(patient).send('createTicket', {})
        seen.answers += 4
        seen.refused += [...answers, renewed, ticket].filter(({ status }) => status !== 200).length
        if (renewed.status === 200) seen.renewals++
        renewing.token = (renewed.body as { access_token?: string }).access_token ?? renewing.token
        // The ticket of one instance opens a socket at the other.
        const { ticket: token = '' } = ticket.body as { ticket?: string }
        const socket = openSocket({ base_url: `http://127.0.0.1:${ports[(i + 1) % 2]}`, token }, board_id)
        await socket.opened
        await Promise.race([socket.next('user_joined').catch(() => {}), socket.closed])
        if (socket.closing?.code === 1008) seen.refused++
        else seen.sockets++
        socket.terminate()
      } catch {
        await pause(20)
      }
    }
  })()
  const someMore = async () => {
    const { sockets } = seen
    await eventually('everybody asks on', () => seen.sockets > sockets + 4)
  }

  try {
    await someMore()
    for (const [nth, step] of steps.entries()) {
      // The last step waits until no token of the old secret can be valid any more: the patient one logs in again.
      if (nth === 2) patient.token = renewing.token
      for (const [i, port] of ports.entries()) {
        expect(await instances[i as 0 | 1].end('SIGTERM')).toBe(0)
        instances[i as 0 | 1] = await begin(port, step)
        await someMore()
      }
    }
  } finally {
    isOver = true
    await asking
  }
  console.log(seen)
  expect(seen.refused).toBe(0)
  expect(seen.renewals).toBeGreaterThan(20)
  for (const { base_url, output } of instances) {
    expect((await new Client(base_url, owner.api.token).send('getMe', {})).status).toBe(401)
    expect(output()).not.toContain(MARK)
  }
  await Promise.all(instances.map((instance) => instance.end()))
  await database.stop()
})
