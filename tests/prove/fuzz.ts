import { Client } from '../../packages/server/testing/client.ts'
import {
  endProcesses,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '../../packages/server/testing/processes.ts'
import { isAdministration, operationsOf, readOpenApi } from '../fuzz/document.ts'
import { fuzzFrames } from '../fuzz/frame-run.ts'
import { newPerson } from '../fuzz/person.ts'
import { fuzz } from '../fuzz/run.ts'
import { countDeadlocks, watch } from '../fuzz/watch.ts'
import { atLeast, atMost, collectGoals, is, told, yes } from './goals.ts'
import { openPool } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const REQUESTS = Number(process.env['REQUESTS'] ?? 1_000_000)
const FRAMES = Number(process.env['FRAMES'] ?? 200_000)
const REQUESTS_AT_ONCE = 16
const FRAMES_AT_ONCE = 24
/** A heap that is this small ends the process when each request leaves a few hundred bytes behind. */
const HEAP_MIB = 256
/** What a collector of garbage leaves lying about differs by so much from one moment to the next. */
const GROWTH_PERCENT = 25

/** Requests and frames made of the published documents, whole and bent in every way, at a service that must not mind. */
export async function prove(progress: Progress): Promise<Report> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const sql = openPool(postgres.url)
  const goals = collectGoals(progress)
  try {
    const service = await startServiceProcess({
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      JWT_SECRET: 'hush-hush-signing-secret-of-the-fuzzer-0123456789',
      LOG_LEVEL: 'warn',
      TOKEN_LIFETIME_SECONDS: '86400',
      ADMIN_API: 'on',
      BOARD_WAIT_MS: '12000',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
      // Full from early on: what grows then is no cache.
      BOARD_CACHE_BYTES: '4194304',
    })
    const operations = operationsOf(readOpenApi())
    const requests_watch = watch([service])
    const size = { seed: SEED, requests: REQUESTS, at_once: REQUESTS_AT_ONCE }
    const fuzzed = await fuzz(service.base_url, operations, size, (done, violations) => {
      if (done % 10_000 === 0) progress(`fuzz: ${done} of ${REQUESTS} requests, ${violations} violations`)
    })
    const requests_end = requests_watch.end()
    if (service.hasEnded()) throw new Error(`The service has ended: ${service.output().slice(-3_000)}`)

    const { token } = await newPerson(new Client(service.base_url))
    const frames_watch = watch([service])
    const frame_size = { seed: SEED, frames: FRAMES, at_once: FRAMES_AT_ONCE }
    const framed = await fuzzFrames(new Client(service.base_url, token), frame_size, (done, violations) => {
      progress(`fuzz: ${done} of ${FRAMES} frames, ${violations} violations`)
    })
    const frames_end = frames_watch.end()
    const isUp = !service.hasEnded()
    if (!isUp) progress(service.output().slice(-3_000))
    await service.end()
    const deadlocks = await countDeadlocks(sql)

    goals.violations.push(...fuzzed.violations, ...framed.violations)
    goals.violations.push(...new Set([...requests_end.complaints, ...frames_end.complaints]))
    const errors = [...fuzzed.met].filter(([met]) => met.startsWith('5') && !met.startsWith('503'))
    const later = [...fuzzed.met].filter(([met]) => met.startsWith('503')).reduce((sum, [, n]) => sum + n, 0)
    const administration = operations.filter(isAdministration)
    const succeeded = operations.filter(({ id }) => (fuzzed.operations.get(id)?.succeeded ?? 0) > 0)
    const abused = succeeded.filter(isAdministration).length
    const memory = requests_end.growth[0] ?? { early: 0, late: 0, growth: Number.NaN }
    const frames_memory = frames_end.growth[0] ?? { early: 0, late: 0, growth: Number.NaN }
    goals.add(
      'Requests',
      'Every operation and field of openapi.json, by several people on boards that live: valid, or with something bent. Every answer is held against the document: its status, its problem code, its headers and its body, in which nothing may stand that is not documented. What succeeded must be an operation of the document, asked for as it says: with a good credential, and with a path, a query, headers and a body that fit it.',
      [
        atLeast('requests', fuzzed.requests, REQUESTS),
        told('requests each second', fuzzed.requests / fuzzed.seconds),
        is(
          'operations that succeeded at least once, but for the administration',
          succeeded.length - abused,
          operations.length - administration.length,
        ),
        is('operations of the administration that succeeded, for nobody who asked may', abused, 0),
        is(
          'answers of 5xx',
          errors.reduce((sum, [, n]) => sum + n, 0),
          0,
        ),
        told('answers of 503 with Retry-After', later),
        is('answers that break the document', fuzzed.violations.length, 0),
        told('memory in the second tenth', memory.early, 'MiB'),
        told('memory in the last tenth', memory.late, 'MiB'),
        atMost('growth', (memory.growth / memory.early) * 100, GROWTH_PERCENT, '%'),
      ],
    )
    goals.add(
      'Frames',
      'Messages of asyncapi.json, whole and bent, frames that no client would make, and handshakes that are none or may let nobody in, while somebody writes and somebody else follows.',
      [
        atLeast('frames', framed.frames, FRAMES),
        told('connections', framed.sessions),
        told('frames each second', framed.frames / framed.seconds),
        is('connections that ended otherwise than they should', framed.violations.length, 0),
        told('events that the follower was told, without a gap', framed.followed),
        atMost('growth of memory', (frames_memory.growth / frames_memory.early) * 100, GROWTH_PERCENT, '%'),
      ],
    )
    goals.add('The process', 'Watched all the while.', [
      yes('it was up in the end', isUp),
      is(
        'errors and unhandled rejections in its log',
        requests_end.complaints.length + frames_end.complaints.length,
        0,
      ),
      is('deadlocks that PostgreSQL counted', deadlocks, 0),
    ])
    const table = (name: string, counts: Map<string, number>) => ({
      heading: name,
      table: { columns: ['', 'times'], rows: [...counts].sort(([, a], [, b]) => b - a) },
    })
    goals.sections.push(table('What was answered', fuzzed.met), table('What was bent', fuzzed.tricks))
    goals.sections.push(table('Frames by kind', framed.kinds), table('How connections ended', framed.ends))
    return {
      title: 'Whatever is sent',
      setting: {
        seed: SEED,
        requests_at_once: REQUESTS_AT_ONCE,
        connections_at_once: FRAMES_AT_ONCE,
        heap_mib: HEAP_MIB,
      },
      sections: goals.sections,
      violations: goals.violations,
    }
  } finally {
    await sql.end()
    await endProcesses()
  }
}
