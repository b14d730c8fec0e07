import { newAccount } from '@lockstep/testing/accounts'
import { Client } from '@lockstep/testing/client'
import { startStores } from '@lockstep/testing/environment'
import { startServiceProcess } from '@lockstep/testing/processes'
import { WEBHOOK_SETTINGS, WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { isAdministration, operationsOf, readOpenApi } from '../fuzz/document.ts'
import { fuzzFrames } from '../fuzz/frame-run.ts'
import { countDeadlocks, monitor } from '../fuzz/monitor.ts'
import { fuzz } from '../fuzz/run.ts'
import { atLeast, atMost, collectFigures, equals, info, isTrue, type Progress, type Report } from './report.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const REQUESTS = Number(process.env['REQUESTS'] ?? 1_000_000)
const FRAMES = Number(process.env['FRAMES'] ?? 200_000)
const REQUESTS_AT_ONCE = 16
const FRAMES_AT_ONCE = 24
/** Small enough that the process would die if each request leaked a few hundred bytes. */
const HEAP_MIB = 256
/** How much memory varies between garbage collections. */
const GROWTH_PERCENT = 25

/** Requests and frames generated from the API documents, valid and broken. */
export async function prove(progress: Progress): Promise<Report> {
  await using stores = await startStores()
  const { figures, violations, add } = collectFigures(progress)
  const receiver = await WebhookReceiver.start()
  const service = await startServiceProcess({
    ...stores.settings(),
    ...WEBHOOK_SETTINGS,
    TOKEN_LIFETIME_SECONDS: '86400',
    ADMIN_API: 'on',
    BOARD_WAIT_MS: '12000',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    // Small, so that it is full early and growth is not the cache.
    BOARD_CACHE_BYTES: '4194304',
  })
  const operations = operationsOf(readOpenApi())
  const requestsWatch = monitor([service])
  const size = { seed: SEED, requests: REQUESTS, concurrency: REQUESTS_AT_ONCE, receiverUrl: receiver.url }
  const fuzzed = await fuzz(service.baseUrl, operations, size, (done, found) => {
    if (done % 10_000 === 0) progress(`fuzz: ${done} of ${REQUESTS} requests, ${found} violations`)
  })
  const requestsEnd = requestsWatch.end()
  if (service.hasEnded()) throw new Error(`The service has ended: ${service.output().slice(-3_000)}`)

  const { token } = await newAccount(service.baseUrl)
  const framesWatch = monitor([service])
  const frameSize = { seed: SEED, frames: FRAMES, concurrency: FRAMES_AT_ONCE }
  const framed = await fuzzFrames(new Client(service.baseUrl, token), frameSize, (done, found) => {
    progress(`fuzz: ${done} of ${FRAMES} frames, ${found} violations`)
  })
  const framesEnd = framesWatch.end()
  const isUp = !service.hasEnded()
  if (!isUp) progress(service.output().slice(-3_000))
  await service.end()
  await receiver.close()
  const deadlocks = await countDeadlocks(stores.pool('lockstep'))

  violations.push(...fuzzed.violations, ...framed.violations)
  const complaints = [...requestsEnd.complaints, ...framesEnd.complaints]
  violations.push(...new Set(complaints))
  const sumOf = (isCounted: (met: string) => boolean) =>
    [...fuzzed.outcomes].filter(([met]) => isCounted(met)).reduce((sum, [, times]) => sum + times, 0)
  const administration = operations.filter(isAdministration)
  const succeeded = operations.filter(({ id }) => (fuzzed.operations.get(id)?.succeeded ?? 0) > 0)
  const abused = succeeded.filter(isAdministration).length
  const growth = ([memory]: typeof requestsEnd.growth) => (memory ? (memory.growth / memory.early) * 100 : Number.NaN)
  add(
    info('seed', SEED),
    atLeast('requests', fuzzed.requests, REQUESTS),
    info('requests per second', fuzzed.requests / fuzzed.seconds),
    info(
      'requests with something broken',
      [...fuzzed.mutations.values()].reduce((sum, times) => sum + times, 0),
    ),
    info('different responses: status and problem code', fuzzed.outcomes.size),
    equals('user operations that succeeded', succeeded.length - abused, operations.length - administration.length),
    equals('admin operations that succeeded without the right', abused, 0),
    equals(
      'responses with 5xx, except 503',
      sumOf((met) => met.startsWith('5') && !met.startsWith('503')),
      0,
    ),
    info(
      'responses with 503 and Retry-After',
      sumOf((met) => met.startsWith('503')),
    ),
    equals('responses that contradict the document', fuzzed.violations.length, 0),
    atMost('memory growth during the requests', growth(requestsEnd.growth), GROWTH_PERCENT, '%'),
    atLeast('webhook requests', receiver.requests.length, 1),
    atLeast('frames', framed.frames, FRAMES),
    info('frames per second', framed.frames / framed.seconds),
    info('kinds of frames', framed.kinds.size),
    info('connections', framed.sessions),
    equals('connections that ended with a wrong code', framed.violations.length, 0),
    info('events that another client received meanwhile, without a gap', framed.eventsReceived),
    atMost('memory growth during the frames', growth(framesEnd.growth), GROWTH_PERCENT, '%'),
    isTrue('the process was still running', isUp),
    equals('errors and unhandled rejections in its log', complaints.length, 0),
    equals('deadlocks counted by PostgreSQL', deadlocks, 0),
  )
  return { figures, violations }
}
