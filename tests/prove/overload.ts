import type { LoadResult } from '@lockstep/testing/load/http-load'
import { IN_TIME_MS } from '@lockstep/testing/load/overload-checks'
import { plot } from '@lockstep/testing/plot'
import { median } from '@lockstep/testing/statistics'
import { type OverloadSize, runOverload } from './overload-run.ts'
import { atLeast, atMost, collectFigures, equals, info, type Progress, type Report } from './report.ts'

type Second = LoadResult['seconds'][number]

const SIZE: OverloadSize = {
  boards: 500,
  cards: 30,
  watched: 100,
  watchers: 2,
  times: 5,
  connections: 1_000,
  warmUpSeconds: 20,
  concurrency: [20, 40, 80],
  peakSeconds: 4,
  beforeSeconds: 5,
  overloadSeconds: Number(process.env['SECONDS'] ?? 60),
  afterSeconds: 10,
}
const RECOVERY_SECONDS = 5
const GOOD_PERCENT = 50
const HEARTBEAT_SECONDS = 30

/** Sends five times the load that the service can handle for a minute, then half of it. */
export async function prove(progress: Progress): Promise<Report> {
  const { peak, overload: result, watched, sockets, acknowledged, lost, wrong } = await runOverload(SIZE, progress)
  const from = SIZE.beforeSeconds
  const to = from + SIZE.overloadSeconds
  const during = result.seconds.slice(from, to)
  const after = result.seconds.slice(to)
  const each = (seconds: Second[], what: 'sent' | 'inTime' | 'late' | 'rejected') =>
    seconds.reduce((sum, second) => sum + second[what], 0) / seconds.length
  const goodput = each(during, 'inTime')
  const offered = each(during, 'sent')
  const calmP99 = median(result.seconds.slice(0, from).map(({ p99 }) => p99))

  const { figures, violations, add, fail } = collectFigures(progress)
  for (const what of wrong) fail(`a response that is neither correct nor a valid 503: ${what}`)
  for (const what of lost) fail(what)
  add(
    info('peak rate', peak, '/s'),
    info('offered in the flood', offered, '/s'),
    info('offered, relative to the peak rate', offered / peak, 'times'),
    info('rejected with 503', each(during, 'rejected'), '/s'),
    info('correct responses within a second', goodput, '/s'),
    atLeast('the same, share of the peak rate', (100 * goodput) / peak, GOOD_PERCENT, '%'),
    equals('responses that are neither correct nor a valid 503', wrong.length, 0),
    info('latency before the flood, p99', calmP99, 'ms'),
    info('latency of accepted requests, p50', result.acceptedMs.p50, 'ms'),
    info('latency of accepted requests, p99', result.acceptedMs.p99, 'ms'),
    info('latency of rejections, p99', result.rejectedMs.p99, 'ms'),
    atMost('slowest response of /health', Math.max(...watched.healthMs), 1_000, 'ms'),
    equals('responses of /health other than 200', watched.unhealthy, 0),
    info('longest event-loop delay', Math.max(...watched.loopMs), 'ms'),
    atMost('recovered after the flood within', recoveredAfter(after, calmP99), RECOVERY_SECONDS, 's'),
    equals('sockets still open', sockets.counts.open, sockets.expected),
    atLeast('pings', sockets.counts.pings, sockets.expected * Math.floor(SIZE.overloadSeconds / HEARTBEAT_SECONDS)),
    equals('events received by the sockets', sockets.counts.events, sockets.events),
    equals('gaps and duplicates', sockets.counts.gaps + sockets.counts.repeats, 0),
    info('changes acknowledged', acknowledged),
    equals('acknowledged changes missing in the log', lost.length, 0),
  )
  const caption =
    'Requests offered, accepted and rejected, their latency, /health and event-loop delay, for each second'
  return { figures, violations, picture: { caption, svg: chartOf(result.seconds, watched, peak, from, to) } }
}

/** Seconds until no request is rejected or late any more, and p99 is at most 100 ms or twice what it was before. */
function recoveredAfter(seconds: Second[], calmP99: number): number {
  const isCalm = ({ rejected, late, p99 }: Second) => rejected === 0 && late === 0 && p99 <= Math.max(100, 2 * calmP99)
  return seconds.findLastIndex((second) => !isCalm(second)) + 1
}

function chartOf(
  seconds: Second[],
  watched: { healthBySecond: number[]; loopMs: number[] },
  peak: number,
  from: number,
  to: number,
) {
  const series = (name: string, what: keyof Second) => ({ name, values: seconds.map((second) => second[what]) })
  const panels = [
    {
      name: 'requests per second',
      series: [series('offered', 'sent'), series('in time', 'inTime'), series('rejected', 'rejected')],
    },
    {
      name: 'correct responses within a second, per second; the line is the peak rate',
      series: [series('', 'inTime')],
      bound: peak,
    },
    {
      name: 'latency of accepted requests, p99, ms; the line is the bound',
      series: [series('', 'p99')],
      bound: IN_TIME_MS,
    },
    { name: 'slowest response of /health, ms', series: [{ name: '', values: watched.healthBySecond }] },
    { name: 'longest event-loop delay, ms', series: [{ name: '', values: watched.loopMs }] },
  ]
  return plot({
    title: `${SIZE.times} times the load that the service can handle`,
    duration: `${seconds.length} s`,
    panels,
    bands: [{ from: from / seconds.length, to: to / seconds.length }],
  })
}
