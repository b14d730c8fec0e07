import { type Audience, makeBoard, type ProbedService } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'

export interface DrainResult {
  codes: Record<string, number>
  broken: number
  /** Time from the first close to the last. */
  spreadMs: number
  /** The highest number of clients closed within a tenth of that time. */
  maxInTenth: number
  exitCode: number | null
  failedWrites: number
  gaps: number
  repeats: number
  resyncs: number
}

/** Stops an instance with many clients while writes continue at another; all clients reconnect there and resume. */
export async function drainUnderLoad(
  leaving: ProbedService,
  staying: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  { clients, rate }: { clients: number; rate: number },
): Promise<DrainResult> {
  const board = await makeBoard(leaving.baseUrl, sql, audience)
  const load = new LoadClients()
  try {
    const paths = Array.from({ length: clients }, (_, i) => board.paths[i % board.paths.length] as string)
    await load.open(leaving.baseUrl, paths, rate)
    await load.until('all are connected', ({ hellos }) => hellos === clients)
    await load.comeBackTo(staying.baseUrl)
    await load.forget()
    let [isOver, written, failedWrites] = [false, 0, 0]
    const writing = (async () => {
      while (!isOver) {
        await board.addCard('', staying.baseUrl).then(
          () => written++,
          () => failedWrites++,
        )
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    const exitCode = await leaving.end('SIGTERM')
    await load.until('all have reconnected', ({ hellos, open }) => hellos === clients && open === clients)
    isOver = true
    await writing
    const counts = await load.until('all have every event', ({ events }) => events >= written * clients)
    const times = counts.closedAt.toSorted((a, b) => a - b)
    const [start = 0, end = 0] = [times[0], times.at(-1)]
    const tenth = (end - start) / 10
    const maxInTenth = Math.max(...times.map((from) => times.filter((t) => t >= from && t < from + tenth).length))
    const { closes: codes, broken, gaps, repeats, resyncs } = counts
    return { codes, broken, gaps, repeats, resyncs, spreadMs: end - start, maxInTenth, exitCode, failedWrites }
  } finally {
    await load.end()
  }
}
