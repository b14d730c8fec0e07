import { LoadClients } from '../tests/prove/load-clients.ts'
import { pathOf } from '../tests/prove/realtime-stage.ts'
import { openSockets } from './audience.ts'
import { fillLog, measureAll, Probe, type Times } from './growth-stage.ts'
import { demand, type Figure, type Findings, figure, median, rounded, type Table } from './measure.ts'
import { lines } from './plot.ts'
import { idOf, seedBoards, seedUsers, USERS } from './seed.ts'
import type { Stage } from './stage.ts'

/** The slope on logarithmic axes: n log n over these sizes is about 1.2, and what is not touched must not show. */
const MOST_TOUCHED = 1.2
const MOST_UNTOUCHED = 0.15
const FIRST_CARDS_BOARD = 20_001
const FIRST_MEMBERS_BOARD = 20_011
const SOCKETS_BOARD = 20_021
/** The boards that are there in any case, and the one that is measured while others come. */
const BASE = 1
/** As many boards are left alone by what warms up: one for each step. */
const SPARED = 6
const DATABASE = 'growth'

const what = {
  create: 'create card',
  move: 'move card',
  load: 'full board after a change',
  resume: 'resume from the log',
}
type Factor = 'boards' | 'cards in the board' | 'members' | 'events in the log'
/** What a full board consists of, it must touch. Nothing else touches what grows. */
const touches = (name: keyof Times, factor: Factor) =>
  name === 'load' && (factor === 'cards in the board' || factor === 'members')

/** The exponent of growth: the slope of the line through the points on logarithmic axes. */
export function exponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const)
  const mean = (nth: 0 | 1) => logs.reduce((sum, point) => sum + point[nth], 0) / logs.length
  const [mx, my] = [mean(0), mean(1)]
  const over = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0)
  return over / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0)
}

/** How the headline figures grow with what there is more of. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const { samples, boards, cards, members, events, sockets } = size.growth
  await stage.emptyDatabase(DATABASE)
  const sql = stage.sql(DATABASE)
  await seedUsers(sql, 1, Math.max(USERS, ...members))
  for (const [i, count] of cards.entries())
    await seedBoards(sql, { from: FIRST_CARDS_BOARD + i, to: FIRST_CARDS_BOARD + i, cards: count })
  for (const [i, count] of members.entries())
    await seedBoards(sql, { from: FIRST_MEMBERS_BOARD + i, to: FIRST_MEMBERS_BOARD + i, members: count })
  for (const [i] of sockets.entries()) await seedBoards(sql, { from: SOCKETS_BOARD + i, to: SOCKETS_BOARD + i })
  await seedBoards(sql, { from: BASE, to: boards[0] ?? 1, cards: 6 })
  await sql.query('analyze')
  const service = await stage.service(DATABASE)
  const token = stage.tokens[1] as string
  const probe = (board: number) => new Probe(service.base_url, token, board)
  const found: { factor: Factor; sizes: number[]; times: Times[] }[] = []
  const fanned: { sockets: number; ms: number }[] = []
  try {
    // What is measured later would else be faster, however much there is of anything. On boards that are not measured.
    const warm_at = performance.now() + size.warm_up_ms
    for (let nth = boards[0] ?? 1; performance.now() < warm_at && nth > SPARED; nth--) {
      const warming = probe(nth)
      for (let i = 0; i < 10; i++) await warming.warmUp()
      warming.close()
    }
    const inTurns = async (factor: Factor, sizes: number[], first: number) => {
      const probes = sizes.map((_, i) => probe(first + i))
      found.push({ factor, sizes, times: await measureAll(probes, samples) })
      for (const each of probes) each.close()
      progress(`  ${sizes.join(', ')} ${factor}`)
    }
    // Each step has a board of its own: what the steps before did to theirs is not what is measured.
    let untouched = BASE
    const inSteps = async (factor: Factor, sizes: number[], grow: (to: number, nth: number) => Promise<unknown>) => {
      const times: Times[] = []
      for (const [nth, to] of sizes.entries()) {
        await grow(to, nth)
        const base = probe(untouched++)
        times.push(...(await measureAll([base], samples)))
        base.close()
        progress(`  ${to} ${factor}`)
      }
      found.push({ factor, sizes, times })
    }
    await inTurns('cards in the board', cards, FIRST_CARDS_BOARD)
    await inTurns('members', members, FIRST_MEMBERS_BOARD)
    await inSteps('boards', boards, async (to, nth) => {
      if (nth > 0) await seedBoards(sql, { from: (boards[nth - 1] ?? 0) + 1, to, cards: 3 })
      await sql.query('analyze')
    })
    let logged = 0
    await inSteps('events in the log', events, async (to) => {
      const begun = performance.now()
      logged = await fillLog(sql, Math.max(1, to - logged))
      progress(`  ${logged.toLocaleString('en')} events after ${rounded((performance.now() - begun) / 1_000)} s`)
    })
    for (const [i, count] of sockets.entries()) {
      fanned.push({ sockets: count, ms: await fanOut(stage, service.base_url, SOCKETS_BOARD + i, count) })
      progress(`  ${count} sockets`)
    }
  } finally {
    await service.end('SIGKILL')
  }
  return report(found, fanned)
}

/** The median time from the first arrival of an event to the last. */
async function fanOut(stage: Stage, base_url: string, board: number, count: number): Promise<number> {
  const clients = new LoadClients(1)
  const writer = new Probe(base_url, stage.tokens[1] as string, board)
  try {
    const paths = Array.from({ length: count }, (_, i) =>
      pathOf(idOf('board', board), stage.tokens[1 + (i % USERS)] as string),
    )
    await openSockets(clients, base_url, paths, stage.size.sockets_rate)
    const spreads: number[] = []
    for (let i = 0; i < stage.size.events; i++) {
      await clients.forget()
      await writer.create()
      const { events } = await clients.until('all have the event', (counts) => counts.events >= count)
      demand(events === count, `${count} sockets got an event ${events} times`)
      const { each } = await clients.arrivals(new Map())
      spreads.push(Math.max(0.01, ...each.map(({ first, last }) => last - first)))
    }
    return median(spreads)
  } finally {
    writer.close()
    await clients.end()
  }
}

function report(
  found: { factor: Factor; sizes: number[]; times: Times[] }[],
  fanned: { sockets: number; ms: number }[],
): Findings {
  const figures: Figure[] = []
  const rows: Table['rows'] = []
  const series: (Parameters<typeof lines>[1][number] & { factor: string; first: number })[] = []
  const add = (name: string, factor: string, sizes: number[], times: number[], isTouched: boolean) => {
    const slope = exponent(sizes.map((count, i) => [count, times[i] ?? Number.NaN]))
    const most = isTouched ? MOST_TOUCHED : MOST_UNTOUCHED
    figures.push(figure(`growth of ${name} with ${factor}`, 'exponent', { ours: slope }, { ours: { most } }))
    rows.push([
      name,
      `${factor}: ${sizes.map((count) => count.toLocaleString('en')).join(', ')}`,
      ...times.map(rounded),
      rounded(slope),
      isTouched ? 'yes' : 'no',
    ])
    const first = sizes[0] ?? 1
    series.push({
      name,
      factor,
      first,
      points: sizes.map((count, i) => [count / first, times[i] ?? Number.NaN]),
    })
  }
  for (const { factor, sizes, times } of found) {
    for (const name of ['create', 'move', 'load', 'resume'] as const) {
      add(
        what[name],
        factor,
        sizes,
        times.map((each) => each[name]),
        touches(name, factor),
      )
    }
  }
  add(
    'fan-out of an event',
    'sockets',
    fanned.map((one) => one.sockets),
    fanned.map((one) => one.ms),
    true,
  )
  return {
    figures,
    tables: [
      {
        heading: 'How cost grows',
        text: 'The median time in ms at each size, as a client sees it, one request at a time. The exponent is the slope on logarithmic axes: 0 is the same however much there is, 1 is proportional, n log n is about 1.2 here. What need not touch what grows may have 0.15 at most, which is twice the time for a hundred times as much. A resume is a socket that comes back 20 events behind; a fan-out is from the first arrival to the last.',
        columns: [
          'figure',
          'what grows',
          'at the first',
          'at the second',
          'at the third',
          'exponent',
          'must touch what grows',
        ],
        rows,
      },
    ],
    pictures: [...Map.groupBy(series, ({ factor }) => factor)].map(([factor, drawn]) => ({
      name: `growth-${factor.replaceAll(' ', '-')}`,
      caption: `Time by the number of ${factor}`,
      svg: lines(
        `Time in ms over ${factor}, from ${drawn[0]?.first.toLocaleString('en')} on (both logarithmic)`,
        drawn,
      ),
    })),
  }
}
