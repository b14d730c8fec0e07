import { type Audience, makeBoard, type ProbedService, type ProbeSample } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'

export interface LargeAudienceResult {
  joining: { loop: ProbeSample; broken: number }
  events: { loop: ProbeSample; isComplete: boolean }
}

/** Connects many clients to one board at a fixed rate, waits for presence, and then sends them events. */
export async function measureLargeAudience(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { clients: number; rate: number; events: number },
): Promise<LargeAudienceResult> {
  const { clients } = size
  const board = await makeBoard(service.baseUrl, sql, audience)
  const load = new LoadClients(clients > 1_000 ? 2 : 1)
  try {
    await service.look()
    await load.open(service.baseUrl, board.paths.slice(0, clients), size.rate)
    const { broken } = await load.until('all are connected', ({ hellos }) => hellos === clients, 120_000)
    const joining = { loop: await service.look(), broken }
    // Each client receives user_joined for itself and for all that connect later.
    await load.until('all have the presence messages', ({ joined }) => joined >= (clients * (clients + 1)) / 2)

    await load.forget()
    await service.look()
    for (let i = 1; i <= size.events; i++) {
      await board.addCard()
      await load.until('all have the event', (counts) => counts.events >= clients * i)
    }
    const loop = await service.look()
    const counts = await load.count()
    const isComplete = counts.gaps + counts.repeats === 0 && counts.events === clients * size.events
    return { joining, events: { loop, isComplete } }
  } finally {
    await load.end()
  }
}
