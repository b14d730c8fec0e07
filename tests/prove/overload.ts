import type { LoadResult } from '@lockstep/testing/load/http-load'
import { IN_TIME_MS } from '@lockstep/testing/load/overload-checks'
import { plot } from '@lockstep/testing/plot'
import { median } from '@lockstep/testing/statistics'
import { type OverloadSize, type Rate, runOverload } from './overload-run.ts'
import { atLeast, atMost, collectFigures, equals, info, isTrue, type Progress, type Report } from './report.ts'

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
  pairs: 9,
  beforeSeconds: 5,
  overloadSeconds: Number(process.env['SECONDS'] ?? 60),
  afterSeconds: 10,
  withoutSeconds: 8,
  costSeconds: 4,
}
const RECOVERY_SECONDS = 5
const GOOD_PERCENT = 90
const HEARTBEAT_SECONDS = 30

/** Sends five times the load that the service can handle for a minute, then half of it. */
export async function prove(progress: Progress): Promise<Report> {
  const { alone, costs, pairs, overload, watched, unguarded, sockets, acknowledged, lost, wrong } = await runOverload(
    SIZE,
    progress,
  )
  const { result } = overload
  const from = SIZE.beforeSeconds
  const to = from + SIZE.overloadSeconds
  const during = result.seconds.slice(from, to)
  const after = result.seconds.slice(to)
  const each = (seconds: Second[], what: 'sent' | 'inTime' | 'late' | 'rejected') =>
    seconds.reduce((sum, second) => sum + second[what], 0) / seconds.length
  const perCore = ({ rate, free: cores }: Rate) => rate / cores
  const peak = median(pairs.map((pair) => pair.peak.rate))
  const shares = pairs.map((pair) => (100 * perCore(pair.overload)) / perCore(pair.peak))
  const goodput = each(during, 'inTime')
  const offered = each(during, 'sent')
  const most = Math.max(peak, goodput)
  const calmP99 = median(result.seconds.slice(0, from).map(({ p99 }) => p99))
  const unguardedShare = (100 * unguarded.inTime) / SIZE.withoutSeconds / peak

  const { figures, violations, add, fail } = collectFigures(progress)
  for (const what of wrong) fail(`a response that is neither correct nor a valid 503: ${what}`)
  for (const what of lost) fail(what)
  add(
    info('peak rate without other load', alone.rate, '/s'),
    info('peak rate beside the same load on another process', peak, '/s'),
    atLeast('goodput, share of that peak, median of the pairs', median(shares), GOOD_PERCENT, '%'),
    info('the same, lowest pair', Math.min(...shares), '%'),
    info('offered in the flood', offered, '/s'),
    atLeast('offered, relative to the peak', offered / most, SIZE.times, 'times'),
    info('rejected with 503', each(during, 'rejected'), '/s'),
    info('correct responses within a second', goodput, '/s'),
    equals('responses that are neither correct nor a valid 503', wrong.length, 0),
    info('latency before the flood, p99', calmP99, 'ms'),
    info('latency of accepted requests, p50', result.acceptedMs.p50, 'ms'),
    atMost('latency of accepted requests, p99', result.acceptedMs.p99, IN_TIME_MS, 'ms'),
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
    info('CPU time of an accepted request', costs.responseMicros, 'µs'),
    info('CPU time of a rejection', costs.rejectionMicros, 'µs'),
    atMost('rejection, relative to an accepted request', (100 * costs.rejectionMicros) / costs.responseMicros, 10, '%'),
    info('without admission control: goodput, share of the peak', unguardedShare, '%'),
    info('without admission control: latency, p99', unguarded.acceptedMs.p99, 'ms'),
    isTrue(
      'without admission control a bound is missed',
      unguardedShare < GOOD_PERCENT || unguarded.acceptedMs.p99 > IN_TIME_MS,
    ),
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
