import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { frame } from '../packages/server/src/realtime/frames.ts'
import { Asker } from '../tests/prove/asking.ts'
import { LoadClients } from '../tests/prove/load-clients.ts'
import { pathOf } from '../tests/prove/realtime-stage.ts'
import { openSockets } from './audience.ts'
import { byTurns, cpuOf, demand, type Findings, figure, median, residentOf, rounded } from './measure.ts'
import { cardOf, idOf, seedBoards, USERS } from './seed.ts'
import type { Stage } from './stage.ts'

const BOARD = 21_000
/** What makes an event of about 2 KB. */
const DESCRIPTION = 'What is to be done, and why. '.repeat(25)
const BURST = 5
const LEAST_SHARE = 0.9
const LEAST_TIMES = 3
const BARE = fileURLToPath(new URL('bare-sockets.ts', import.meta.url))

/** An event to many sockets of one board, beside bare sockets that get the same bytes; and what a socket weighs. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const board_id = idOf('board', BOARD)
  await seedBoards(stage.sql('ours'), { from: BOARD, to: BOARD, cards: size.rounds * size.events + 20 })
  const service = await stage.service('ours', { MAX_SOCKETS: String(size.sockets + 1) })
  const bare = fork(BARE, { execArgv: [], serialization: 'advanced' })
  const [ours_clients, bare_clients] = [new LoadClients(1), new LoadClients(1)]
  const asker = new Asker(service.base_url, stage.tokens[1] as string)
  try {
    const bare_url = `http://127.0.0.1:${await portOf(bare)}`
    const paths = (count: number) =>
      Array.from({ length: count }, (_, i) => pathOf(board_id, stage.tokens[1 + (i % USERS)] as string))
    const bare_weight = await openAndWeigh(
      bare_clients,
      bare_url,
      paths(size.sockets),
      bare.pid ?? -1,
      size.sockets_rate * 4,
    )
    progress(`  ${size.sockets} bare sockets`)
    const our_weight = await openAndWeigh(
      ours_clients,
      service.base_url,
      paths(size.sockets),
      service.pid,
      size.sockets_rate,
    )
    progress(`  ${size.sockets} sockets of the service`)

    let card = 0
    const nextCard = () => `/cards/${idOf('card', cardOf(BOARD, ++card))}`
    /** From the first arrival to the last, and the processor time of the sender for each message. */
    const deliver = async (clients: LoadClients, pid: number, count: number, send: () => Promise<void>) => {
      await clients.forget()
      const before = cpuOf(pid)
      await send()
      const counts = await clients.until('all have it', ({ events }) => events >= count * size.sockets)
      const cpu_ms = cpuOf(pid) - before
      demand(counts.events === count * size.sockets && counts.gaps === 0, 'events were lost or repeated')
      const { each } = await clients.arrivals(new Map())
      const first = Math.min(...each.map((one) => one.first))
      const last = Math.max(...each.map((one) => one.last))
      const ms = Math.max(0.01, last - first)
      return { rate: ((count * size.sockets) / ms) * 1_000, cpu_us: (cpu_ms * 1_000) / (count * size.sockets) }
    }
    let seq = 0
    const single = () =>
      deliver(ours_clients, service.pid, 1, async () => {
        const { status } = await asker.json('PATCH', nextCard(), { description: DESCRIPTION })
        demand(status === 200, `a change answered ${status}`)
      })
    const user_ids = Array.from({ length: BURST }, (_, i) => idOf('user', i + 1))
    const burst = () =>
      deliver(ours_clients, service.pid, BURST, async () => {
        const { status } = await asker.json('PUT', `${nextCard()}/assignees`, { user_ids })
        demand(status === 200, `an assignment answered ${status}`)
      })
    const byNet = () =>
      deliver(bare_clients, bare.pid ?? -1, 1, async () => {
        bare.send({ bytes: frame(`{"seq":${++seq},${body.slice(1)}`) })
      })
    await single()
    const { rows } = await stage
      .sql('ours')
      .query<{ body: string }>('select body from board_events where board_id = $1 order by seq desc limit 1', [
        board_id,
      ])
    const { body } = rows[0] as { body: string }
    await byNet()
    const found = await byTurns(Math.max(size.events, size.rounds), { ours: single, bare: byNet, burst })
    const of = (list: { rate: number; cpu_us: number }[], what: 'rate' | 'cpu_us') =>
      median(list.map((one) => one[what]))
    const rates = { ours: of(found.ours, 'rate'), bare: of(found.bare, 'rate'), burst: of(found.burst, 'rate') }
    const cpus = { ours: of(found.ours, 'cpu_us'), bare: of(found.bare, 'cpu_us'), burst: of(found.burst, 'cpu_us') }
    progress(`  ${rounded(rates.ours)} messages/s, bare ${rounded(rates.bare)}/s, in bursts ${rounded(rates.burst)}/s`)
    const name = `fan-out to ${size.sockets} sockets`
    return {
      limits: `One write to the kernel for each socket. ${rounded(cpus.ours)} µs of processor time for each message are ${rounded(cpus.ours - cpus.bare)} µs more than bare sockets take; only fewer writes are faster, as bursts show, whose frames go out together.`,
      figures: [
        figure(
          `${name}, to bare sockets`,
          'messages/s',
          { ours: rates.ours, bare: rates.bare },
          { ratio: { least: LEAST_SHARE } },
        ),
        figure(
          `${name}, bursts of ${BURST}, to single events`,
          'messages/s',
          { ours: rates.burst, bare: rates.ours },
          { ratio: { least: LEAST_TIMES } },
        ),
        figure(`${name}, CPU of each message`, 'µs', { ours: cpus.ours, bare: cpus.bare }),
        figure('memory of an idle socket', 'KiB', { ours: our_weight / 1_024, bare: bare_weight / 1_024 }),
      ],
      tables: [
        {
          heading: 'Fan-out',
          text: `One event of ${Buffer.byteLength(body)} bytes to ${size.sockets} sockets of one board, from the first arrival to the last; a burst is one change with ${BURST} events. The bare one writes the same event to as many sockets of \`net\`. Both are counted by clients of the same kind in a process of their own. The kernel tells processor time in steps of about 1 µs a message. Memory of a socket, in the table of goals, is how much the resident memory grew for each.`,
          columns: ['sender', 'messages /s', 'CPU of the sender, µs a message'],
          rows: [
            ['the service, single events', rounded(rates.ours), rounded(cpus.ours)],
            [`the service, bursts of ${BURST}`, rounded(rates.burst), rounded(cpus.burst)],
            ['bare sockets', rounded(rates.bare), rounded(cpus.bare)],
          ],
        },
      ],
    }
  } finally {
    asker.close()
    await Promise.all([ours_clients.end(), bare_clients.end()])
    bare.disconnect()
    await service.end('SIGKILL')
  }
}

const portOf = (child: ChildProcess) =>
  new Promise<number>((resolve, reject) => {
    child.once('message', ({ port }: { port: number }) => resolve(port))
    child.once('exit', () => reject(new Error('The bare sockets ended')))
  })

/** Opens sockets; answers by how much the process grew for each of them, but for the first tenth, which warms it up. */
async function openAndWeigh(clients: LoadClients, base_url: string, paths: string[], pid: number, rate: number) {
  const tenth = Math.ceil(paths.length / 10)
  await openSockets(clients, base_url, paths.slice(0, tenth), rate)
  const before = residentOf(pid)
  await openSockets(clients, base_url, paths.slice(tenth), rate)
  return (residentOf(pid) - before) / (paths.length - tenth)
}
