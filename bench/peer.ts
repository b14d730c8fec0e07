import { gunzipSync } from 'node:zlib'
import { Asker } from '../tests/prove/asking.ts'
import { Load } from './load.ts'
import { byTurns, demand, type Findings, figure, median, rounded } from './measure.ts'
import { operations } from './operations.ts'
import { cardOf, idOf, seedBoards } from './seed.ts'
import type { Stage } from './stage.ts'

/**
 * Planka at commit a8dcd7c of 18 April 2026, one process in production mode on Node 20, PostgreSQL 15 beside it, measured by
 * us on a machine of the same kind: 8 connections of wrk for writes, one for the board. Creates are the median on fresh lists
 * (74 in the best second, 28 on lists of 330 cards), moves the best of 27 to 34, the board about the middle of 576 to 608 ms.
 */
const PLANKA = { creates: 45, moves: 34, board_ms: 600, cards: 1_000 }
const CONDITIONS =
  'Planka’s figures were measured once, on a machine of the same kind (2 cores, loopback, PostgreSQL 15): commit a8dcd7c of 18 April 2026, one process in production mode on Node 20; 1,000 cards with two labels, a member and a list of three tasks, made through its API; 8 connections of wrk for writes, one for the board. Its creates were 45/s in the median on fresh lists, 74/s at best and 28/s on longer lists; its moves 27 to 34/s; its board 576 to 608 ms. It is not like for like: Planka does more with a write, such as activities, notifications and webhooks, and we check every request and keep a log of events. Ours is measured now, with the same numbers of connections, and of cards on the board that is read; our writes go to many boards of twelve cards.'
const CONNECTIONS = 8
const BOARD = 21_001
const WRITES = 20
const CHANGED = 8
const LOADS = 10

/** The same work as a peer was measured with. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const service = await stage.main()
  const cards = size.rounds > 1 ? PLANKA.cards : 20
  await seedBoards(stage.sql('ours'), { from: BOARD, to: BOARD, cards })
  await stage.sql('ours').query('analyze')
  using load = new Load()
  for (const key of ['create', 'move'] as const) {
    const requests = Array.from({ length: size.boards * 12 }, (_, nth) => {
      const { user, sending } = operations[key].request(nth, size.boards)
      return { ...sending, token: stage.tokens[user] as string }
    })
    await load.prepare(key, requests)
  }
  const asker = new Asker(service.base_url, stage.tokens[1] as string)
  const write = (key: 'create' | 'move') => async () =>
    (await load.run(key, service.base_url, { connections: CONNECTIONS, ms: size.window_ms }, operations[key].status))
      .rate
  let changes = 0
  const read = async () => {
    const { ms, status, bytes } = await asker.ask('GET', `/boards/${idOf('board', BOARD)}`, {
      'accept-encoding': 'gzip',
    })
    demand(status === 200 && gunzipSync(bytes).includes(`"Change ${changes}"`), `the board answered ${status}`)
    return ms
  }
  const changed = async () => {
    const title = `Change ${++changes}`
    await asker.json('PATCH', `/cards/${idOf('card', cardOf(BOARD, 1))}`, { title })
    return read()
  }
  /** In a row, as the peer was asked. */
  const several = (work: () => Promise<number>) => async () => {
    const times: number[] = []
    for (let n = 0; n < LOADS; n++) times.push(await work())
    return median(times)
  }
  try {
    await changed()
    const found = await byTurns(size.rounds, {
      create: write('create'),
      move: write('move'),
      changed: several(changed),
      unchanged: several(read),
    })
    const of = (name: keyof typeof found) => median(found[name])
    progress(
      `  ${rounded(of('create'))} creates/s, ${rounded(of('move'))} moves/s, ${rounded(of('changed'))} ms changed, ${rounded(of('unchanged'))} ms unchanged`,
    )
    const board_rate = 1_000 / PLANKA.board_ms
    return {
      figures: [
        figure(
          'create card, to Planka',
          '/s',
          { ours: of('create'), bare: PLANKA.creates },
          { ratio: { least: WRITES } },
        ),
        figure('move card, to Planka', '/s', { ours: of('move'), bare: PLANKA.moves }, { ratio: { least: WRITES } }),
        figure(
          'full board, changed, to Planka',
          '/s',
          { ours: 1_000 / of('changed'), bare: board_rate },
          { ratio: { least: CHANGED } },
        ),
        figure(
          'full board, unchanged, to Planka',
          '/s',
          { ours: 1_000 / of('unchanged'), bare: board_rate },
          { ratio: { least: WRITES } },
        ),
      ],
      tables: [
        {
          heading: 'Beside a peer',
          text: CONDITIONS,
          columns: ['work', 'ours', 'Planka'],
          rows: [
            [`create card, ${CONNECTIONS} connections, /s`, rounded(of('create')), PLANKA.creates],
            [`move card, ${CONNECTIONS} connections, /s`, rounded(of('move')), PLANKA.moves],
            [`full board of ${cards} cards after a change, ms`, rounded(of('changed')), PLANKA.board_ms],
            [`full board of ${cards} cards, unchanged, ms`, rounded(of('unchanged')), PLANKA.board_ms],
          ],
        },
      ],
    }
  } finally {
    asker.close()
  }
}
