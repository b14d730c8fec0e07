import { type Audience, makeBoard, type ProbedService, type ProbeSample } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'

export interface LargeAudience {
  arriving: { loop: ProbeSample; broken: number }
  events: { loop: ProbeSample; isWhole: boolean }
}

/** Many viewers of one board: they connect at a rate, learn of each other, and receive events. */
export async function watchLargeAudience(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { viewers: number; rate: number; events: number },
): Promise<LargeAudience> {
  const { viewers } = size
  const board = await makeBoard(service.base_url, sql, audience)
  const load = new LoadClients(viewers > 1_000 ? 2 : 1)
  try {
    await service.look()
    await load.open(service.base_url, board.paths.slice(0, viewers), size.rate)
    const { broken } = await load.until('all are there', ({ hellos }) => hellos === viewers, 120_000)
    const arriving = { loop: await service.look(), broken }
    // Each viewer is told of itself and of all who connect later.
    await load.until('all know', ({ joined }) => joined >= (viewers * (viewers + 1)) / 2)

    await load.forget()
    await service.look()
    for (let i = 1; i <= size.events; i++) {
      await board.addCard()
      await load.until('all have the event', (counts) => counts.events >= viewers * i)
    }
    const loop = await service.look()
    const counts = await load.count()
    const isWhole = counts.gaps + counts.repeats === 0 && counts.events === viewers * size.events
    return { arriving, events: { loop, isWhole } }
  } finally {
    await load.end()
  }
}
