import { type Audience, makeBoard, type ProbedService } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'

export interface Drained {
  codes: Record<string, number>
  broken: number
  /** From the first close to the last. */
  spread_ms: number
  /** The most that were closed within a tenth of the time. */
  most_in_a_tenth: number
  exit_code: number | null
  refused_writes: number
  gaps: number
  repeats: number
  resyncs: number
}

/** Stops an instance with many viewers while writes continue at another; all viewers reconnect there and resume. */
export async function drainUnderLoad(
  leaving: ProbedService,
  staying: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  { viewers, rate }: { viewers: number; rate: number },
): Promise<Drained> {
  const board = await makeBoard(leaving.base_url, sql, audience)
  const load = new LoadClients()
  try {
    const paths = Array.from({ length: viewers }, (_, i) => board.paths[i % board.paths.length] as string)
    await load.open(leaving.base_url, paths, rate)
    await load.until('all are there', ({ hellos }) => hellos === viewers)
    await load.comeBackTo(staying.base_url)
    await load.forget()
    let [isOver, written, refused_writes] = [false, 0, 0]
    const writing = (async () => {
      while (!isOver) {
        await board.addCard('', staying.base_url).then(
          () => written++,
          () => refused_writes++,
        )
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    const exit_code = await leaving.end('SIGTERM')
    await load.until('all are back', ({ hellos, open }) => hellos === viewers && open === viewers)
    isOver = true
    await writing
    const counts = await load.until('all have everything', ({ events }) => events >= written * viewers)
    const times = counts.closed_at.toSorted((a, b) => a - b)
    const [start = 0, end = 0] = [times[0], times.at(-1)]
    const tenth = (end - start) / 10
    const most_in_a_tenth = Math.max(...times.map((from) => times.filter((t) => t >= from && t < from + tenth).length))
    const { closes: codes, broken, gaps, repeats, resyncs } = counts
    return { codes, broken, gaps, repeats, resyncs, spread_ms: end - start, most_in_a_tenth, exit_code, refused_writes }
  } finally {
    await load.end()
  }
}
