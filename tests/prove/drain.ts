import type pg from 'pg'
import { LoadClients } from './load-clients.ts'
import { type Audience, makeBoard, type ProbedService } from './realtime-stage.ts'

export interface Drained {
  codes: Record<string, number>
  broken: number
  /** From the first close to the last. */
  spread_ms: number
  /** The most that were closed within a tenth of the time. */
  most_in_a_tenth: number
  exit_code: number | null
  refused_writes: number
  events: number
  gaps: number
  repeats: number
  resyncs: number
  /** From SIGTERM until everybody had everything on the other instance. */
  seconds: number
  held_p999: number
}

/** Sends an instance away under many viewers while writes go on at another; all come back there with what they have seen. */
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
    await staying.look()
    const begun = performance.now()
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
    const seconds = (performance.now() - begun) / 1_000
    const { held_p999 } = await staying.look()
    const times = counts.closed_at.toSorted((a, b) => a - b)
    const [start = 0, end = 0] = [times[0], times.at(-1)]
    const tenth = (end - start) / 10
    const most_in_a_tenth = Math.max(...times.map((from) => times.filter((t) => t >= from && t < from + tenth).length))
    const { closes: codes, broken, events, gaps, repeats, resyncs } = counts
    const found = { codes, broken, events, gaps, repeats, resyncs }
    return { ...found, spread_ms: end - start, most_in_a_tenth, exit_code, refused_writes, seconds, held_p999 }
  } finally {
    await load.end()
  }
}
