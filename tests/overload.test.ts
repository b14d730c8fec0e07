import { startBare } from '@lockstep/testing/load/environment'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { LoadWorker } from '@lockstep/testing/load/http-load'
import { isValidRejection, lostWrites } from '@lockstep/testing/load/overload-checks'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { errorsIn } from '@lockstep/testing/log-errors'
import { endProcesses, type ServiceProcess } from '@lockstep/testing/processes'
import { REDIS } from '@lockstep/testing/template-database'
import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readLog, seedWorkload, type Workload } from './prove/overload-workload.ts'

/** A few seconds. `npm run prove -- overload` takes minutes and measures. */
const SIZE = {
  boards: 40,
  watched: 20,
  watchers: 2,
  warmUpMs: 3_000,
  peakMs: 2_000,
  overloadMs: 2_000,
  times: 6,
  connections: 200,
}

describe('under several times the load that the service can handle', () => {
  let database: TestDatabase
  let service: ServiceProcess
  let workload: Workload
  let load: LoadWorker
  let viewers: LoadClients
  beforeEach(async () => {
    load = new LoadWorker()
    viewers = new LoadClients(1)
    database = await createTestDatabase()
    workload = await seedWorkload(database.sql, SIZE)
    service = await startBare({ DATABASE_URL: database.url, REDIS_URL: REDIS, DATABASE_POOL_SIZE: '4' })
    await load.prepare('mixed', workload.requests)
  }, 180_000)
  afterEach(async () => {
    await Promise.all([load.end(), viewers.end()])
    await endProcesses()
    await database?.drop()
  })

  test('[LOAD-8] accepted requests get correct responses, others get 503 with Retry-After, and no event is lost', {
    timeout: 180_000,
  }, async () => {
    await viewers.open(service.baseUrl, workload.sockets, 200)
    await viewers.until('all sockets are open', ({ hellos }) => hellos === workload.sockets.length)
    // A cold service would be slower than its peak rate.
    const warmUp = await load.run('mixed', service.baseUrl, { connections: 8, ms: SIZE.warmUpMs })
    const peak = await load.run('mixed', service.baseUrl, { connections: 8, ms: SIZE.peakMs })
    const rate = (peak.inTime + peak.late) / (SIZE.peakMs / 1_000)
    for (const { rejected, wrong } of [warmUp, peak]) expect([rejected, wrong]).toEqual([0, {}])

    using client = new HttpClient(service.baseUrl, '')
    const health: number[] = []
    let isOver = false
    const watch = (async () => {
      while (!isOver) health.push((await client.request('GET', '/health')).status)
    })()
    const { connections } = SIZE
    const overload = await load.run('mixed', service.baseUrl, {
      connections,
      phases: [{ rate: rate * SIZE.times, ms: SIZE.overloadMs }],
    })
    isOver = true
    await watch

    expect(overload.wrong).toEqual({})
    expect(overload.rejected).toBeGreaterThan(0)
    expect(overload.inTime + overload.late).toBeGreaterThan(0)
    expect(new Set(health)).toEqual(new Set([200]))
    // As soon as the load is low again, no request is rejected.
    const results = [warmUp, peak, overload]
    await expect
      .poll(
        async () => {
          const calm = await load.run('mixed', service.baseUrl, {
            connections,
            phases: [{ rate: rate / 4, ms: 1_000 }],
          })
          results.push(calm)
          return [calm.rejected, calm.wrong]
        },
        { timeout: 60_000 },
      )
      .toEqual([0, {}])

    const log = await readLog(database.sql, workload.boards)
    const expected = log.slice(0, SIZE.watched).reduce((sum, seqs) => sum + seqs.size, 0) * SIZE.watchers
    const counts = await viewers.until('every event has arrived', ({ events }) => events >= expected)
    expect(counts).toMatchObject({ open: workload.sockets.length, events: expected, gaps: 0, repeats: 0, closes: {} })
    const acknowledged = results.flatMap((result) => result.acknowledged)
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(lostWrites(acknowledged, log)).toEqual([])
    expect(errorsIn(service.output())).toEqual([])
  })
})

describe('the checks', () => {
  const id = '00000000-0000-4000-8000-000000000000'
  const head = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json; charset=utf-8\r\nretry-after: 1\r\nx-request-id: ${id}`
  const body = '{"detail":"Later.","code":"overloaded"}'

  test('[LOAD-8] accept a complete rejection', () => expect(isValidRejection(head, body)).toBe(true))

  test.each([
    ['another status', head.replace('503', '500'), body],
    ['no Retry-After', head.replace('retry-after', 'x-nothing'), body],
    ['an invalid Retry-After', head.replace('retry-after: 1', 'retry-after: soon'), body],
    ['no request id', head.replace(id, 'none'), body],
    ['another content type', head.replace('application/json', 'text/html'), body],
    ['no detail', head, '{"detail":["Later."],"code":"overloaded"}'],
    ['another code', head, body.replace('overloaded', 'unavailable')],
    ['a body that is not JSON', head, 'Later.'],
  ])('[LOAD-8] find a rejection with %s', (_, wrongHead, wrongBody) =>
    expect(isValidRejection(wrongHead, wrongBody)).toBe(false),
  )

  test('[LOAD-8] find a change that is not in the log, and a number that was acknowledged twice', () => {
    const log = [new Set([1, 3]), new Set<number>(), new Set([7])]
    const right: [number, number][] = [
      [1, 1],
      [1, 3],
      [3, 7],
    ]
    expect(lostWrites(right, log)).toEqual([])
    expect(lostWrites([...right, [1, 4]], log)).toEqual(['change 4 of board 1 was acknowledged and is not in the log'])
    // Later changes are in the log, but this one is not.
    expect(lostWrites([...right, [1, 2]], log)).toEqual(['change 2 of board 1 was acknowledged and is not in the log'])
    expect(lostWrites([...right, [2, 1]], log)).toHaveLength(1)
    expect(lostWrites([...right, [3, -1]], log)).toHaveLength(1)
    expect(lostWrites([...right, [1, 3]], log)).toEqual(['change 3 of board 1 was acknowledged twice'])
  })
})
