import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { Asker } from '../tests/prove/asking.ts'
import { withoutColons } from './bare-statements.ts'
import {
  assembleInNode,
  CONCATENATED,
  DOCUMENTS,
  fillDocuments,
  makeDocuments,
  ownStatement,
  PLAIN,
  UPKEEP,
} from './board-forms.ts'
import { byTurns, demand, type Figure, type Findings, figure, median, rounded, type Table } from './measure.ts'
import { pgbench } from './pgbench.ts'
import { bars } from './plot.ts'
import { cardOf, idOf, seedBoards } from './seed.ts'
import type { Stage } from './stage.ts'

/** Large boards have these numbers, far from all others. */
const FIRST = 20_001
const COLD_SHARE = 0.8
const UNCHANGED_TIMES = 50
const MOST_MS = 400
const MOST_CARDS = 5_000
const WARMING_UP = 10
/** An unchanged board takes a millisecond: a few loads, after a while without any, are those of a connection and of caches gone cold. */
const UNCHANGED_LOADS = 50

/** Of small boards more: their loads take less time, and vary more. */
const loadsOf = (cards: number, loaded_cards: number) => Math.ceil(loaded_cards / cards)

/** Loads of a full board, by its size: after a change, without one, and known to the client. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const own = await ownStatement()
  // The plan that a connection of the service has after a while, from the beginning.
  const planned = `${stage.url('ours')}?options=${encodeURIComponent('-c plan_cache_mode=force_generic_plan')}`
  const sql = stage.sql('ours')
  await makeDocuments(sql)
  const node = new pg.Client({ connectionString: stage.url('ours'), pipeline: true })
  await node.connect()
  const figures: Figure[] = []
  const forms: Table['rows'] = []
  const loads: Table['rows'] = []
  const drawn: { name: string; values: Record<string, number> }[] = []
  try {
    const service = await stage.main()
    for (const [i, cards] of size.cards.entries()) {
      const board_id = idOf('board', FIRST + i)
      const loads_each = loadsOf(cards, size.loaded_cards)
      await seedBoards(sql, { from: FIRST + i, to: FIRST + i, cards })
      await sql.query('vacuum analyze')
      using asker = new Asker(service.base_url, stage.tokens[1] as string)
      const path = `/boards/${board_id}`
      let changes = 0
      const load = async (headers = {}) => asker.ask('GET', path, { 'accept-encoding': 'gzip', ...headers })
      const cold = async () => {
        const title = `Change ${++changes}`
        const changed = await asker.json('PATCH', `/cards/${idOf('card', cardOf(FIRST + i, 1))}`, { title })
        const loaded = await load()
        demand(changed.status === 200 && loaded.status === 200, `${changed.status} and ${loaded.status}`)
        return { ...loaded, title }
      }
      const script = (text: string) =>
        withoutColons(text.replaceAll('BOARD', ':id').replaceAll('CARD', ':card')).concat(';\n')
      const define = { id: board_id, card: idOf('card', cardOf(FIRST + i, 1)) }
      const bare = async (text: string, transactions = loads_each) =>
        (await pgbench(planned, script(text), { clients: 1, transactions: transactions + 1, define })).ms

      // PostgreSQL makes a plan for each of the first executions of a connection, and keeps one ever after.
      for (let n = 0; i === 0 && n < WARMING_UP; n++) await cold()
      await fillDocuments(sql, board_id)
      const first = await load()
      const shown: unknown = JSON.parse(gunzipSync(first.bytes).toString())
      for (const [name, text] of Object.entries({ plain: PLAIN, concatenated: CONCATENATED, documents: DOCUMENTS })) {
        const { rows } = await sql.query<{ json: string }>(text.replaceAll('BOARD', '$1'), [board_id])
        demand(isDeepStrictEqual(JSON.parse(rows[0]?.json ?? 'null'), shown), `the ${name} form is another board`)
      }
      demand(isDeepStrictEqual(JSON.parse(await assembleInNode(node, board_id)), shown), 'assembled is another board')

      const several = async (work: () => Promise<number>, count = loads_each) => {
        const times: number[] = []
        for (let n = 0; n < count; n++) times.push(await work())
        return median(times)
      }
      const found = await byTurns(size.rounds, {
        cold: () =>
          several(async () => {
            const { ms, bytes, title } = await cold()
            demand(gunzipSync(bytes).includes(`"${title}"`), 'a load did not show the last change')
            return ms
          }),
        unchanged: () =>
          several(async () => {
            const { ms, status } = await load()
            demand(status === 200, `an unchanged board answered ${status}`)
            return ms
          }, UNCHANGED_LOADS),
        known: async () => {
          const { headers } = await load()
          return several(async () => {
            const { ms, status } = await load({ 'if-none-match': String(headers.etag) })
            demand(status === 304, `a known board answered ${status}`)
            return ms
          }, UNCHANGED_LOADS)
        },
        own: () => bare(own),
        plain: () => bare(PLAIN),
        concatenated: () => bare(CONCATENATED),
        documents: () => bare(DOCUMENTS),
        assembled: () =>
          several(async () => {
            const begun = performance.now()
            await assembleInNode(node, board_id)
            return performance.now() - begun
          }),
        touch: () => bare('update cards set updated_at = now() where board_id = BOARD and id = CARD', 20),
        upkeep: () => bare(UPKEEP, 20),
      })
      const ms = Object.fromEntries(Object.entries(found).map(([name, times]) => [name, median(times)])) as Record<
        keyof typeof found,
        number
      >
      const name = `full board of ${cards} cards`
      const rates = (a: number, b: number) => ({ ours: 1_000 / a, bare: 1_000 / b })
      figures.push(
        figure(`${name}, changed, to its own statement`, '/s', rates(ms.cold, ms.own), {
          ratio: { least: COLD_SHARE },
        }),
        figure(`${name}, unchanged, to the plain statement`, '/s', rates(ms.unchanged, ms.plain), {
          ratio: { least: UNCHANGED_TIMES },
        }),
        figure(`${name}, known (304), to unchanged`, '/s', rates(ms.known, ms.unchanged), { ratio: { least: 1 } }),
      )
      if (cards === MOST_CARDS)
        figures.push(figure(`${name}, changed`, 'ms', { ours: ms.cold }, { ours: { most: MOST_MS } }))
      const r = (key: keyof typeof ms) => rounded(ms[key])
      loads.push([
        cards,
        rounded(gunzipSync(first.bytes).length / 1_024),
        rounded(first.bytes.length / 1_024),
        r('cold'),
        r('own'),
        r('unchanged'),
        r('known'),
      ])
      forms.push([
        cards,
        r('plain'),
        r('own'),
        r('concatenated'),
        r('assembled'),
        r('documents'),
        r('touch'),
        r('upkeep'),
      ])
      drawn.push({
        name: `${cards} cards`,
        values: {
          plain: ms.plain,
          'the service’s own': ms.own,
          'text, concatenated': ms.concatenated,
          'rows, assembled in Node': ms.assembled,
          'documents kept': ms.documents,
          'through the service, changed': ms.cold,
          unchanged: ms.unchanged,
        },
      })
      progress(
        `  ${cards} cards: changed ${r('cold')} ms, its statement ${r('own')} ms, unchanged ${r('unchanged')} ms, 304 ${r('known')} ms`,
      )
    }
  } finally {
    await node.end()
  }
  const counts = size.cards.map((cards) => loadsOf(cards, size.loaded_cards))
  const last = loads.at(-1)?.map(Number) ?? []
  return {
    limits: `After a change, PostgreSQL's work on the board: at ${last[0]} cards its statement takes ${last[4]} of ${last[3]} ms; the rest is compressing and sending. Without a change nothing of that is left.`,
    figures,
    tables: [
      {
        heading: 'Loads of a full board',
        text: `As a client sees them on one connection, compressed as browsers ask for it. “Changed” is the first load after a change; beside it the statement that it rests on, by pgbench, just as often in a row: ${counts.join(', ')} times in each of ${size.rounds} rounds. The others ${UNCHANGED_LOADS} times.`,
        columns: ['cards', 'KiB of JSON', 'KiB sent', 'changed ms', 'its statement ms', 'unchanged ms', '304 ms'],
        rows: loads,
      },
      {
        heading: 'Forms of the statement',
        text: 'The same board, read in other ways; each was checked to give the same JSON. Statements by pgbench on one connection; the assembled form is eleven plain statements and the work of Node. Documents are the text of each card, kept when the card is written: the last two columns are what a write of a card takes without and in addition for the upkeep.',
        columns: [
          'cards',
          'plain: nested json_build_object ms',
          'the service’s own ms',
          'concatenated text ms',
          'assembled in Node ms',
          'kept documents ms',
          'a write ms',
          'its upkeep ms',
        ],
        rows: forms,
      },
    ],
    pictures: [
      {
        name: 'board-forms',
        caption: 'Time to read a full board, by form',
        svg: bars('Time to read a full board, ms (logarithmic)', drawn),
      },
    ],
  }
}
