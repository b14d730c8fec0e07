import { setTimeout as pause } from 'node:timers/promises'
import { pathOf } from '@lockstep/testing/load/environment'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { assertValid, byTurns, residentOf, rounded, threadsCpuOf } from '@lockstep/testing/load/measure'
import { cardOf, idOf, seedBoards, USERS } from '@lockstep/testing/load/seed'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { Worker } from '@lockstep/testing/load/worker'
import { median } from '@lockstep/testing/statistics'
import { frame } from '../packages/server/src/realtime/frames.ts'
import type { BareSocketsCommand } from './bare-sockets.ts'
import type { Environment } from './environment.ts'
import { type Figure, figure, ratiosOf } from './figure.ts'

const BOARD = 21_000
/** Makes an event of about 2 KB. */
const DESCRIPTION = 'What is to be done, and why. '.repeat(25)
/** Events per burst, from one request. */
const BURST = 5
/** CPU time of a message, compared with bare sockets, and of one in a burst, compared with a single one. */
const MOST_RATIO = 1.11
const MOST_BURST_RATIO = 0.33
const OPEN_TIMEOUT_MS = 120_000
const IDLE_MS = 200

/** One event to many sockets of a board, compared with plain TCP sockets that get the same bytes; and the memory of a socket. */
export async function measureFanOut(environment: Environment): Promise<Figure[]> {
  const { size, progress, pool, tokens } = environment
  const boardId = idOf('board', BOARD)
  await seedBoards(pool('ours'), { from: BOARD, to: BOARD, cards: size.rounds * size.events + 20 })
  const service = await environment.startService('ours', { MAX_SOCKETS: String(size.sockets + 1) })
  const bare = new Worker<BareSocketsCommand>(new URL('bare-sockets.ts', import.meta.url))
  const [ourClients, bareClients] = [new LoadClients(1), new LoadClients(1)]
  const writer = new HttpClient(service.baseUrl, tokens[1] as string)
  try {
    const bareUrl = `http://127.0.0.1:${(await bare.run({ do: 'listen' })) as number}`
    const barePid = bare.pid
    const paths = Array.from({ length: size.sockets }, (_, i) => pathOf(boardId, tokens[1 + (i % USERS)] as string))
    const bareMemory = await memoryPerSocket(bareClients, bareUrl, paths, barePid, size.socketsRate * 4)
    progress(`  ${size.sockets} bare sockets`)
    const ourMemory = await memoryPerSocket(ourClients, service.baseUrl, paths, service.pid, size.socketsRate)
    progress(`  ${size.sockets} sockets of the service`)

    let card = 0
    const nextCard = () => `/cards/${idOf('card', cardOf(BOARD, ++card))}`
    /** The sender's CPU milliseconds per message. */
    const deliver = async (clients: LoadClients, pid: number, events: number, send: () => Promise<void>) => {
      const messages = events * size.sockets
      await clients.forget()
      const before = threadsCpuOf(pid)
      await send()
      const counts = await clients.until('all messages have arrived', (sofar) => sofar.events >= messages)
      const cpuMs = threadsCpuOf(pid) - before
      assertValid(counts.events === messages && counts.gaps === 0, 'events were lost or duplicated')
      return cpuMs / messages
    }
    const write = async (method: string, path: string, body: object) => {
      const { status } = await writer.json(method, path, body)
      assertValid(status === 200, `${method} ${path} returned ${status}`)
    }
    const single = () =>
      deliver(ourClients, service.pid, 1, () => write('PATCH', nextCard(), { description: DESCRIPTION }))
    const user_ids = Array.from({ length: BURST }, (_, i) => idOf('user', i + 1))
    const burst = () =>
      deliver(ourClients, service.pid, BURST, () => write('PUT', `${nextCard()}/assignees`, { user_ids }))
    await single()
    const { rows } = await pool('ours').query<{ body: string }>(
      'select body from board_events where board_id = $1 order by seq desc limit 1',
      [boardId],
    )
    const { body } = rows[0] as { body: string }
    let seq = 0
    const bareSingle = () =>
      deliver(bareClients, barePid, 1, async () => {
        await bare.run({ do: 'broadcast', bytes: frame(`{"seq":${++seq},${body.slice(1)}`) })
      })
    await bareSingle()
    const found = await byTurns(Math.max(size.events, size.rounds), { ours: single, bare: bareSingle, burst })
    const name = `message to one of ${size.sockets} sockets`
    const alone = { node: found.ours, bare: found.bare }
    const inBurst = { node: found.burst, bare: found.ours }
    const memory = `An idle socket takes ${rounded(ourMemory / 1_024)} KiB, a bare one ${rounded(bareMemory / 1_024)}.`
    progress(
      `  ${rounded(median(found.ours) * 1_000)} µs for a message, bare ${rounded(median(found.bare) * 1_000)} µs`,
    )
    return [
      figure(
        name,
        alone,
        `One system call per socket. The bare engine is TCP sockets that get the same bytes. ${memory}`,
        [{ what: 'ratio', most: MOST_RATIO, values: ratiosOf(alone) }],
      ),
      figure(
        `${name}, in a burst of ${BURST} events`,
        inBurst,
        'The events of a burst share one system call. Compared with a single event.',
        [{ what: 'ratio', most: MOST_BURST_RATIO, values: ratiosOf(inBurst) }],
      ),
    ]
  } finally {
    writer.close()
    await Promise.all([ourClients.end(), bareClients.end(), bare.end()])
    await service.end('SIGKILL')
  }
}

/** Opens sockets and returns the growth of resident memory per socket, without the first tenth, which warms the process up. */
async function memoryPerSocket(clients: LoadClients, baseUrl: string, paths: string[], pid: number, rate: number) {
  const tenth = Math.ceil(paths.length / 10)
  await openSockets(clients, baseUrl, paths.slice(0, tenth), rate)
  const before = residentOf(pid)
  await openSockets(clients, baseUrl, paths.slice(tenth), rate)
  return (residentOf(pid) - before) / (paths.length - tenth)
}

/** Opens sockets, and waits until they are idle: all have their hello and every presence event. */
async function openSockets(clients: LoadClients, baseUrl: string, paths: string[], rate: number) {
  const { hellos } = await clients.count()
  await clients.open(baseUrl, paths, rate)
  await clients.until('all sockets are open', (counts) => counts.hellos === hellos + paths.length, OPEN_TIMEOUT_MS)
  for (let last = -1, { bytes } = await clients.count(); bytes !== last; ) {
    await pause(IDLE_MS)
    ;[last, { bytes }] = [bytes, await clients.count()]
  }
}
