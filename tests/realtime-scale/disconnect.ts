import { setTimeout as pause } from 'node:timers/promises'
import { type Audience, makeBoard, type ProbedService, type ProbeSample } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { scrape } from '@lockstep/testing/metrics'
import { eventually } from '@lockstep/testing/processes'
import { openSocket } from '@lockstep/testing/socket'
import type pg from 'pg'

/** The service must run with it. */
export const METRICS_TOKEN = 'read-the-metrics'

/** CPU time in a second of a service that has nothing to do, with the probe. */
const IDLE_CPU_MS = 150

/**
 * Connects many clients to some boards, and ends their processes at once. One client remains, and must receive `user_left` for all others of its
 * board. Returns the longest turn of the event loop meanwhile, and the CPU time of all.
 */
export async function measureDisconnect(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { clients: number; boards: number; rate: number },
) {
  const boards: Awaited<ReturnType<typeof makeBoard>>[] = []
  const perBoard = Math.ceil(size.clients / size.boards)
  for (let first = 0; first < size.clients; first += perBoard) {
    const range = [first, Math.min(first + perBoard, size.clients)] as const
    const some = { ids: audience.ids.slice(...range), tokens: audience.tokens.slice(...range) }
    boards.push(await makeBoard(service.baseUrl, sql, some))
  }
  const paths = boards.flatMap((board) => board.paths)
  const load = new LoadClients(2)
  await load.open(service.baseUrl, paths, size.rate)
  await load.until('all are connected', ({ hellos }) => hellos === size.clients, 120_000)
  const owner = { baseUrl: service.baseUrl, token: audience.tokens[0] }
  const remaining = openSocket(owner, boards[0]?.board_id as string)
  await remaining.next('user_joined')
  await service.look()
  await load.end()
  const samples: ProbeSample[] = []
  do {
    await pause(1_000)
    samples.push(await service.look())
  } while ((samples.at(-1)?.cpuMs ?? 0) > IDLE_CPU_MS)
  await eventually('all who disconnected are reported as left', () => {
    const left = remaining.messages.filter(({ type }) => type === 'user_left').map(({ user_id }) => user_id)
    return new Set(left).size === perBoard - 1
  })
  await remaining.close()
  // Only now, because reading the metrics of so many connections takes longer than what is measured.
  await eventually(
    'no socket is open',
    async () => (await scrape(service.baseUrl, METRICS_TOKEN)).sum('lockstep_sockets') === 0,
  )
  const [heldMaxMs, cpuMs] = [
    Math.max(...samples.map(({ heldMax }) => heldMax)),
    samples.reduce((sum, each) => sum + each.cpuMs, 0),
  ]
  return { heldMaxMs, cpuMs }
}
