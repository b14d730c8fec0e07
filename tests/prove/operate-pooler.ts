import type { Client } from '@lockstep/testing/client'
import { threadsCpuOf } from '@lockstep/testing/load/measure'
import { failed, runAcceptance } from '../acceptance-suite.ts'
import { startPooledDatabase } from '../pooler/pooled-service.ts'
import { inParallel, sendMixedRequests } from '../pooler/requests.ts'
import { type ColumnIds, newBoard, newUser } from '../recovery/writers.ts'
import { atMost, collectFigures, equals, info, type Progress, type Report } from './report.ts'

const REQUESTS = 10_000
const WRITES = 3_000

export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, missedTimes, add, addTimes } = collectFigures(progress)
  for (const statements of [20, 400]) {
    await using database = await startPooledDatabase()
    const pooler = await database.startPgbouncer({ max_prepared_statements: String(statements) })
    const [one, two] = await database.startInstances(pooler.url)
    if (!one || !two) throw new Error('two instances were started')
    const { results } = await runAcceptance(one.baseUrl, '--beside', two.baseUrl)
    const { api } = await newUser(one.baseUrl)
    const statuses = await sendMixedRequests(api, REQUESTS)
    const errors = [...statuses].reduce((sum, [status, count]) => sum + (status >= 500 ? count : 0), 0)
    const cpuPerWrite = await measureWrites(api, pooler.process.pid)
    const name = `max_prepared_statements ${statements}`
    add(
      info(
        `${name}: rows of the acceptance suite passed`,
        results.filter(({ outcome }) => outcome === 'passed').length,
      ),
      equals('rows failed', failed(results).length, 0),
      equals(
        'requests of a mix of reads and writes',
        [...statuses.values()].reduce((a, b) => a + b, 0),
        REQUESTS,
      ),
      equals('answered with 5xx', errors, 0),
    )
    addTimes(
      ...(['create', 'move'] as const).map((write) => {
        const what = `CPU time of pgbouncer to ${write} a card`
        // With 20 it prepares nearly every statement again, which nobody would configure.
        return statements < 400 ? info(what, cpuPerWrite[write], 'ms') : atMost(what, cpuPerWrite[write], 0.2, 'ms')
      }),
    )
  }
  return { figures, violations, missedTimes }
}

/** The CPU time of pgbouncer for each write, in milliseconds. */
async function measureWrites(api: Client, pid: number) {
  const boards = await Promise.all(Array.from({ length: 16 }, () => newBoard(api)))
  const cards: string[][] = boards.map(() => [])
  const measure = async (write: (nth: number) => Promise<unknown>) => {
    const before = threadsCpuOf(pid)
    await inParallel(WRITES, write)
    return (threadsCpuOf(pid) - before) / WRITES
  }
  const create = await measure(async (nth) => {
    const { id } = await api.call('createCard', {
      params: boards[nth % boards.length] as ColumnIds,
      body: { title: 'Card' },
    })
    cards[nth % boards.length]?.push(id)
  })
  // The last card of a board becomes the first, so that every move has an effect.
  const move = await measure((nth) => {
    const own = cards[nth % boards.length] as string[]
    const card_id = own.pop() as string
    own.unshift(card_id)
    return api.call('moveCard', { params: { card_id }, body: { after_id: null } })
  })
  return { create, move }
}
