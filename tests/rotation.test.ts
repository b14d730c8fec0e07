import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@lockstep/testing/client'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses, eventually, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { MARK, startService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

// Processes are started here, ten of them.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })
afterAll(endProcesses)

const [A, B, C] = ['old', 'new', 'next'].map((which) => `${MARK}-the-${which}-secret-${randomUUID()}`) as [
  string,
  string,
  string,
]
/** As docs/administering.md says. */
const steps = [{ JWT_SECRET: A, JWT_SECRET_PREVIOUS: B }, { JWT_SECRET: B, JWT_SECRET_PREVIOUS: A }, { JWT_SECRET: B }]

interface Seen {
  responses: number
  /** Valid tokens and tickets that were rejected. */
  rejected: { patient: number; renewing: number; sockets: number }
  renewals: number
  sockets: number
}

/** Two instances, and two users who call both alternately: one keeps the token, the other renews it repeatedly. */
async function startAsking() {
  const database = await startService({ JWT_SECRET: A })
  const { id: board_id, owner, member } = await database.board()
  const ports = [String(await freePort()), String(await freePort())]
  const begin = (PORT: string, secrets: Record<string, string>) =>
    startServiceProcess({
      DATABASE_URL: database.databaseUrl,
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

  const seen: Seen = { responses: 0, rejected: { patient: 0, renewing: 0, sockets: 0 }, renewals: 0, sockets: 0 }
  const patient = new Client('', owner.api.token)
  const renewing = new Client('', member.api.token)
  let isOver = false
  const asking = (async () => {
    for (let i = 0; !isOver; i++) {
      const baseUrl = `http://127.0.0.1:${ports[i % 2]}`
      const at = ({ token }: Client) => new Client(baseUrl, token)
      // An instance that is being replaced refuses the connection, and is skipped.
      try {
        const [kept, ticket] = [await at(patient).send('getMe', {}), await at(patient).send('createTicket', {})]
        const [fresh, renewed] = [await at(renewing).send('getMe', {}), await at(renewing).send('refresh', {})]
        seen.responses += 4
        seen.rejected.patient += [kept, ticket].filter(({ status }) => status !== 200).length
        seen.rejected.renewing += [fresh, renewed].filter(({ status }) => status !== 200).length
        if (renewed.status === 200) seen.renewals++
        renewing.token = (renewed.body as { access_token?: string }).access_token ?? renewing.token
        // The ticket of one instance opens a socket at the other.
        const { ticket: token = '' } = ticket.body as { ticket?: string }
        const socket = openSocket({ baseUrl: `http://127.0.0.1:${ports[(i + 1) % 2]}`, token }, board_id)
        await socket.opened
        await Promise.race([socket.next('user_joined').catch(() => {}), socket.closed])
        if (socket.closing?.code === 1008) seen.rejected.sockets++
        else seen.sockets++
        socket.terminate()
      } catch {
        await pause(20)
      }
    }
  })()
  const someMore = async () => {
    const { responses } = seen
    await eventually('everybody asks on', () => seen.responses > responses + 20)
  }
  const replace = async (nth: 0 | 1, secrets: Record<string, string>) => {
    expect(await instances[nth].end('SIGTERM')).toBe(0)
    instances[nth] = await begin(ports[nth] as string, secrets)
    await someMore()
  }
  const logInAgain = () => {
    patient.token = renewing.token
  }

  const stop = async () => {
    isOver = true
    await asking
    await Promise.all(instances.map((instance) => instance.end()))
    await database.stop()
  }
  await someMore()
  return { seen, instances, firstToken: owner.api.token, replace, logInAgain, stop }
}

let people: Awaited<ReturnType<typeof startAsking>>
beforeAll(async () => {
  people = await startAsking()
})
afterAll(() => people.stop())

test('[CONF-5] a secret is rotated on two instances step by step, and no user is logged out', async () => {
  const { seen, instances, firstToken, replace, logInAgain } = people
  for (const [nth, step] of steps.entries()) {
    // The last step waits until no token of the old secret can be valid any more: the patient one logs in again.
    if (nth === 2) logInAgain()
    for (const instance of [0, 1] as const) await replace(instance, step)
  }
  console.log(seen)
  expect(seen.rejected).toEqual({ patient: 0, renewing: 0, sockets: 0 })
  expect(seen.renewals).toBeGreaterThan(20)
  expect(seen.sockets).toBeGreaterThan(20)
  for (const { baseUrl, output } of instances) {
    expect((await new Client(baseUrl, firstToken).send('getMe', {})).status).toBe(401)
    expect(output()).not.toContain(MARK)
  }
})

test('[CONF-5] if a step is skipped, rejected tokens are counted', async () => {
  const { seen, replace } = people
  // Without the first step the other instance does not know the secret that this one signs with.
  await replace(0, { JWT_SECRET: C, JWT_SECRET_PREVIOUS: B })
  expect(seen.rejected.renewing).toBeGreaterThan(0)
  expect(seen.rejected.sockets).toBeGreaterThan(0)
  expect(seen.rejected.patient).toBe(0)
  // Without the previous secret, this instance rejects old tokens.
  await replace(0, { JWT_SECRET: C })
  expect(seen.rejected.patient).toBeGreaterThan(0)
})
