import { openPool, startBare } from '@lockstep/testing/load/environment'
import { Asker } from '@lockstep/testing/load/http-connection'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { endProcesses, type ServiceProcess } from '@lockstep/testing/processes'
import { databaseUrl, onServer, REDIS } from '@lockstep/testing/template-database'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { errorsIn } from './fuzz/watch.ts'
import { isRightRefusal, lostWrites } from './prove/overload-judge.ts'
import { Askers, type Crowd, makeCrowd, readLog } from './prove/overload-stage.ts'

/** A few seconds; `npm run prove -- overload` takes a minute, and measures. */
const SIZE = {
  boards: 40,
  watched: 20,
  watchers: 2,
  warm_ms: 3_000,
  learn_ms: 2_000,
  flood_ms: 4_000,
  times: 6,
  connections: 200,
}
const NAME = `lockstep_overload_${process.pid}`

describe('several times as much as can be done', () => {
  let sql: ReturnType<typeof openPool>
  let service: ServiceProcess
  let crowd: Crowd
  let askers: Askers
  let viewers: LoadClients
  // For each attempt: the viewers and the service of a failed one are of no use to the next.
  beforeEach(async () => {
    askers = new Askers()
    viewers = new LoadClients(1)
    await onServer((client) => client.query(`create database ${NAME} template ${inject('template')}`))
    sql = openPool(databaseUrl(NAME))
    crowd = await makeCrowd(sql, SIZE)
    service = await startBare({ DATABASE_URL: databaseUrl(NAME), REDIS_URL: REDIS, DATABASE_POOL_SIZE: '4' })
    await askers.prepare(crowd.requests)
  }, 180_000)
  afterEach(async () => {
    await askers.end()
    await viewers.end()
    await endProcesses()
    await sql?.end()
    await onServer((client) => client.query(`drop database if exists ${NAME} with (force)`))
  })

  test('[LOAD-8] what is let in is answered rightly, what is not is told when to come back, and nobody loses an event', {
    timeout: 180_000,
  }, async () => {
    await viewers.open(service.base_url, crowd.sockets, 200)
    await viewers.until('all are there', ({ hellos }) => hellos === crowd.sockets.length)
    const port = Number(new URL(service.base_url).port)
    // What it does while it is cold is less than what it can do.
    const warm = await askers.run({ port, connections: 8, ms: SIZE.warm_ms })
    const learned = await askers.run({ port, connections: 8, ms: SIZE.learn_ms })
    const rate = (learned.good + learned.late) / (SIZE.learn_ms / 1_000)
    for (const { shed, wrong } of [warm, learned]) expect([shed, wrong]).toEqual([0, {}])

    using asker = new Asker(service.base_url, '')
    const health: number[] = []
    let isOver = false
    const watch = (async () => {
      while (!isOver) health.push((await asker.ask('GET', '/health')).status)
    })()
    const flood = await askers.run({
      port,
      connections: SIZE.connections,
      phases: [{ rate: rate * SIZE.times, ms: SIZE.flood_ms }],
    })
    isOver = true
    await watch

    expect(flood.wrong).toEqual({})
    expect(flood.shed).toBeGreaterThan(0)
    expect(flood.good + flood.late).toBeGreaterThan(0)
    expect(new Set(health)).toEqual(new Set([200]))
    // As soon as it is asked for less again, nobody is sent away any more.
    const calm = () => askers.run({ port, connections: SIZE.connections, phases: [{ rate: rate / 4, ms: 1_000 }] })
    const outcomes = [warm, learned, flood]
    await expect
      .poll(
        async () => {
          const after = await calm()
          outcomes.push(after)
          return [after.shed, after.wrong]
        },
        { timeout: 60_000 },
      )
      .toEqual([0, {}])

    const log = await readLog(sql, crowd.boards)
    const expected = log.slice(0, SIZE.watched).reduce((sum, seqs) => sum + seqs.size, 0) * SIZE.watchers
    const counts = await viewers.until('every event has come', ({ events }) => events >= expected)
    expect(counts).toMatchObject({ open: crowd.sockets.length, events: expected, gaps: 0, repeats: 0, closes: {} })
    const acknowledged = outcomes.flatMap((outcome) => outcome.acknowledged)
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(lostWrites(acknowledged, log)).toEqual([])
    expect(errorsIn(service.output())).toEqual([])
  })
})

describe('the judge', () => {
  const id = '00000000-0000-4000-8000-000000000000'
  const head = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json; charset=utf-8\r\nretry-after: 1\r\nx-request-id: ${id}`
  const body = '{"detail":"Later.","code":"overloaded"}'

  test('[LOAD-8] takes a refusal as it must be', () => expect(isRightRefusal(head, body)).toBe(true))

  test.each([
    ['another status', head.replace('503', '500'), body],
    ['no word of when to come back', head.replace('retry-after', 'x-nothing'), body],
    ['a time that is none', head.replace('retry-after: 1', 'retry-after: soon'), body],
    ['no id', head.replace(id, 'none'), body],
    ['another type', head.replace('application/json', 'text/html'), body],
    ['no sentence', head, '{"detail":["Later."],"code":"overloaded"}'],
    ['another code', head, body.replace('overloaded', 'unavailable')],
    ['no JSON', head, 'Later.'],
  ])('[LOAD-8] and none with %s', (_, wrongHead, wrongBody) => expect(isRightRefusal(wrongHead, wrongBody)).toBe(false))

  test('[LOAD-8] notices a change that is not in the log, and a number that was given twice', () => {
    const log = [new Set([1, 3]), new Set<number>(), new Set([7])]
    const right: [number, number][] = [
      [1, 1],
      [1, 3],
      [3, 7],
    ]
    expect(lostWrites(right, log)).toEqual([])
    expect(lostWrites([...right, [1, 4]], log)).toEqual(['change 4 of board 1 was acknowledged and is not in the log'])
    // Later ones are there, but it is not.
    expect(lostWrites([...right, [1, 2]], log)).toEqual(['change 2 of board 1 was acknowledged and is not in the log'])
    expect(lostWrites([...right, [2, 1]], log)).toHaveLength(1)
    expect(lostWrites([...right, [3, -1]], log)).toHaveLength(1)
    expect(lostWrites([...right, [1, 3]], log)).toEqual(['change 3 of board 1 was acknowledged twice'])
  })
})
