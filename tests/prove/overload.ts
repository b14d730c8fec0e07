import { median } from '@lockstep/testing/load/measure'
import { IN_TIME_MS } from './overload-judge.ts'
import type { Moment } from './overload-load.ts'
import { overTime } from './overload-picture.ts'
import { type FloodSize, type Rate, runFlood } from './overload-run.ts'
import { atLeast, atMost, collectFigures, equals, info, isTrue, type Progress, type Report } from './report.ts'

const SIZE: FloodSize = {
  boards: 500,
  cards: 30,
  watched: 100,
  watchers: 2,
  times: 5,
  connections: 1_000,
  warm_seconds: 20,
  askers: [20, 40, 80],
  peak_seconds: 4,
  pairs: 9,
  before_seconds: 5,
  flood_seconds: Number(process.env['SECONDS'] ?? 60),
  after_seconds: 10,
  without_seconds: 8,
  cost_seconds: 4,
}
const RECOVERY_SECONDS = 5
const GOOD_PERCENT = 90
const HEARTBEAT_SECONDS = 30

/** Sends five times the load that the service can handle for a minute, then half of it. */
export async function prove(progress: Progress): Promise<Report> {
  const { alone, costs, pairs, flood, watched, unguarded, sockets, acknowledged, lost, wrong } = await runFlood(
    SIZE,
    progress,
  )
  const { outcome } = flood
  const from = SIZE.before_seconds
  const to = from + SIZE.flood_seconds
  const during = outcome.moments.slice(from, to)
  const after = outcome.moments.slice(to)
  const each = (moments: Moment[], what: 'offered' | 'good' | 'late' | 'shed') =>
    moments.reduce((sum, moment) => sum + moment[what], 0) / moments.length
  const perCore = ({ rate, free: cores }: Rate) => rate / cores
  const peak = median(pairs.map((pair) => pair.peak.rate))
  const shares = pairs.map((pair) => (100 * perCore(pair.flood)) / perCore(pair.peak))
  const goodput = each(during, 'good')
  const offered = each(during, 'offered')
  const most = Math.max(peak, goodput)
  const quiet_p99 = median(outcome.moments.slice(0, from).map(({ p99 }) => p99))
  const unguarded_share = (100 * unguarded.good) / SIZE.without_seconds / peak

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
    info('rejected with 503', each(during, 'shed'), '/s'),
    info('correct responses within a second', goodput, '/s'),
    equals('responses that are neither correct nor a valid 503', wrong.length, 0),
    info('latency before the flood, p99', quiet_p99, 'ms'),
    info('latency of accepted requests, p50', outcome.let_in.p50, 'ms'),
    atMost('latency of accepted requests, p99', outcome.let_in.p99, IN_TIME_MS, 'ms'),
    info('latency of rejections, p99', outcome.sent_away.p99, 'ms'),
    atMost('slowest response of /health', Math.max(...watched.health_ms), 1_000, 'ms'),
    equals('responses of /health other than 200', watched.unhealthy, 0),
    info('longest event-loop delay', Math.max(...watched.loop_ms), 'ms'),
    atMost('recovered after the flood within', recoveredAfter(after, quiet_p99), RECOVERY_SECONDS, 's'),
    equals('sockets still open', sockets.counts.open, sockets.expected),
    atLeast('pings', sockets.counts.pings, sockets.expected * Math.floor(SIZE.flood_seconds / HEARTBEAT_SECONDS)),
    equals('events received by the sockets', sockets.counts.events, sockets.events),
    equals('gaps and duplicates', sockets.counts.gaps + sockets.counts.repeats, 0),
    info('changes acknowledged', acknowledged),
    equals('acknowledged changes missing in the log', lost.length, 0),
    info('CPU time of an accepted request', costs.answer_us, 'µs'),
    info('CPU time of a rejection', costs.refusal_us, 'µs'),
    atMost('rejection, relative to an accepted request', (100 * costs.refusal_us) / costs.answer_us, 10, '%'),
    info('without admission control: goodput, share of the peak', unguarded_share, '%'),
    info('without admission control: latency, p99', unguarded.let_in.p99, 'ms'),
    isTrue(
      'without admission control a bound is missed',
      unguarded_share < GOOD_PERCENT || unguarded.let_in.p99 > IN_TIME_MS,
    ),
  )
  const caption =
    'Requests offered, accepted and rejected, their latency, /health and event-loop delay, for each second'
  return { figures, violations, picture: { caption, svg: picture(outcome.moments, watched, peak, from, to) } }
}

/** Seconds until no request is rejected or late any more, and p99 is at most 100 ms or twice what it was before. */
function recoveredAfter(moments: Moment[], quiet_p99: number): number {
  const isWell = ({ shed, late, p99 }: Moment) => shed === 0 && late === 0 && p99 <= Math.max(100, 2 * quiet_p99)
  return moments.findLastIndex((moment) => !isWell(moment)) + 1
}

function picture(
  moments: Moment[],
  watched: { health_by_second: number[]; loop_ms: number[] },
  peak: number,
  from: number,
  to: number,
) {
  const series = (name: string, what: keyof Moment) => ({ name, values: moments.map((moment) => moment[what]) })
  const panels = [
    {
      name: 'requests per second',
      series: [series('offered', 'offered'), series('in time', 'good'), series('rejected', 'shed')],
    },
    {
      name: 'correct responses within a second, per second; the line is the peak rate',
      series: [series('', 'good')],
      bound: peak,
    },
    {
      name: 'latency of accepted requests, p99, ms; the line is the bound',
      series: [series('', 'p99')],
      bound: IN_TIME_MS,
    },
    { name: 'slowest response of /health, ms', series: [{ name: '', values: watched.health_by_second }] },
    { name: 'longest event-loop delay, ms', series: [{ name: '', values: watched.loop_ms }] },
  ]
  return overTime(`${SIZE.times} times the load that the service can handle`, panels, from, to)
}
