import { median } from '../../bench/measure.ts'
import { atLeast, atMost, collectGoals, is, told, yes } from './goals.ts'
import { IN_TIME_MS } from './overload-judge.ts'
import type { Moment } from './overload-load.ts'
import { overTime } from './overload-picture.ts'
import { type FloodSize, type Rate, runFlood } from './overload-run.ts'
import type { Progress, Report } from './report.ts'

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

/** Five times as much is asked of the service as it can do, for a minute; then it is left in peace. */
export async function prove(progress: Progress): Promise<Report> {
  const { alone, costs, pairs, flood, watched, unguarded, sockets, acknowledged, lost, wrong } = await runFlood(
    SIZE,
    progress,
  )
  const { outcome, cpu, free } = flood
  const from = SIZE.before_seconds
  const to = from + SIZE.flood_seconds
  const during = outcome.moments.slice(from, to)
  const after = outcome.moments.slice(to)
  const each = (moments: Moment[], what: 'offered' | 'good' | 'late' | 'shed') =>
    moments.reduce((sum, moment) => sum + moment[what], 0) / moments.length
  const perCore = ({ rate, free: cores }: Rate) => rate / cores
  const peak = median(pairs.map((pair) => pair.peak.rate))
  const peak_per_core = median(pairs.map((pair) => perCore(pair.peak)))
  const shares = pairs.map((pair) => (100 * perCore(pair.flood)) / perCore(pair.peak))
  const goodput = each(during, 'good')
  const offered = each(during, 'offered')
  const most = Math.max(peak, goodput)
  const quiet_p99 = median(outcome.moments.slice(0, from).map(({ p99 }) => p99))
  const unguarded_share = (100 * unguarded.good) / SIZE.without_seconds / peak

  const goals = collectGoals(progress)
  for (const what of wrong) goals.fail(`answers that are neither right nor a right 503: ${what}`)
  for (const what of lost) goals.fail(what)
  goals.add(
    'What is offered, and what is done',
    `Half of the requests read a full board of ${SIZE.cards} cards, the others move, change and create cards, on ${SIZE.boards} boards; ${sockets.expected} sockets watch ${SIZE.watched} of them. Before anything is measured, an instance has worked for ${SIZE.warm_seconds} s. The peak is what the service does for ${alone.at_once} who wait for their answers before they ask again. In the flood requests come at ${SIZE.times} times the peak, whether or not others were answered, on ${SIZE.connections} connections that are open already, as those of a proxy are. What counts is answered rightly within ${IN_TIME_MS} ms. Those who ask need the machine, too: so goodput is held against the peak beside others who ask for all the rest, of a process that does nothing but send them away. And the machine does other things: so both are measured in turns, ${SIZE.pairs} times for ${SIZE.peak_seconds} s each, for each core that was left, and the goal is for the median.`,
    [
      told('peak, with nobody else asking', alone.rate, '/s'),
      told('peak, beside others who ask as much elsewhere', peak, '/s'),
      atLeast('goodput, of that peak, median of the pairs', median(shares), GOOD_PERCENT, '%'),
      told('the pair with the least', Math.min(...shares), '%'),
      told('the pair with the most', Math.max(...shares), '%'),
      told(`offered, for ${SIZE.flood_seconds} s`, offered, '/s'),
      atLeast('offered, of that peak and of what is done in the flood', offered / most, SIZE.times, 'times'),
      told('sent away', each(during, 'shed'), '/s'),
      told('answered rightly, in time', goodput, '/s'),
      told('of the peak, for each core that was left', (100 * goodput) / free / peak_per_core, '%'),
      told('of the peak with nobody else asking', (100 * goodput) / alone.rate, '%'),
      told('cores that were left, in hundredths', free * 100),
      told('answered rightly, but late', each(during, 'late'), '/s'),
      told('requests that could not be sent', outcome.unsent),
      is('answers that are neither right nor a right 503', wrong.length, 0),
    ],
  )
  goals.add(
    'How long it takes',
    'From the request to the end of the answer, for those who asked in the flood. Health is asked ten times a second by a process of its own, on a new connection each time.',
    [
      told('p99 before the flood, median of the seconds', quiet_p99, 'ms'),
      told('p50 of those who were let in', outcome.let_in.p50, 'ms'),
      atMost('p99 of those who were let in', outcome.let_in.p99, IN_TIME_MS, 'ms'),
      told('p50 until somebody was sent away', outcome.sent_away.p50, 'ms'),
      told('p99 until somebody was sent away', outcome.sent_away.p99, 'ms'),
      atMost('slowest answer of /health', Math.max(...watched.health_ms), 1_000, 'ms'),
      is('answers of /health that were not 200', watched.unhealthy, 0),
      told('the event loop was held at most', Math.max(...watched.loop_ms), 'ms'),
    ],
    [
      {
        name: 'minute',
        caption:
          'Requests offered, answered and sent away, the time they took, health and event loop, second by second',
        svg: picture(outcome.moments, watched, peak, from, to),
      },
    ],
  )
  goals.add(
    'Afterwards',
    'Half of the peak is asked for, as before. Recovered: from then on nobody is sent away or late, and p99 is at most twice what it was before the flood, or 100 ms.',
    [
      atMost('recovered after', recoveredAfter(after, quiet_p99), RECOVERY_SECONDS, 's'),
      told(
        'sent away afterwards, in all',
        after.reduce((sum, { shed }) => sum + shed, 0),
      ),
    ],
  )
  goals.add(
    'Those who watch',
    `Sockets are pinged every ${HEARTBEAT_SECONDS} s and must answer within 10; each counts the events of its board.`,
    [
      is('sockets that are still open', sockets.counts.open, sockets.expected),
      atLeast('pings', sockets.counts.pings, sockets.expected * Math.floor(SIZE.flood_seconds / HEARTBEAT_SECONDS)),
      is('events that reached them', sockets.counts.events, sockets.events),
      is('gaps', sockets.counts.gaps, 0),
      is('repetitions', sockets.counts.repeats, 0),
      told('changes that were acknowledged', acknowledged),
      is('acknowledged changes that are not in the log', lost.length, 0),
    ],
  )
  goals.add(
    'What it costs',
    `Processor time of one instance, without a probe, that was flooded for ${SIZE.warm_seconds} s before: for a request that is answered, at the peak; for one that is sent away, at the rate of the flood, while whoever has a place waits for a lock. Below it, what each took in the minute of the flood and in the rest around it.`,
    [
      told('a request that is answered', costs.answer_us, 'µs'),
      told('a request that is sent away', costs.refusal_us, 'µs'),
      atMost('the second, of the first', (100 * costs.refusal_us) / costs.answer_us, 10, '%'),
      ...Object.entries(cpu).map(([who, ms]) => told(`${who}, of a core`, ms / 10 / outcome.moments.length, '%')),
    ],
  )
  goals.add(
    'Without the door',
    `The same flood for ${SIZE.without_seconds} s, after the same warm-up, at an instance that lets everybody in (\`MAX_REQUESTS_AT_ONCE=1000000\`). It must miss a goal, else the figures above prove nothing.`,
    [
      told('goodput, of the peak', unguarded_share, '%'),
      told('p99 of those who were let in', unguarded.let_in.p99, 'ms'),
      yes('it misses a goal', unguarded_share < GOOD_PERCENT || unguarded.let_in.p99 > IN_TIME_MS),
    ],
  )
  return {
    title: 'Five times as much as can be done',
    setting: { ...SIZE, cards: SIZE.cards ?? 0, askers: SIZE.askers.join(', ') },
    sections: goals.sections,
    violations: goals.violations,
  }
}

/** After how many seconds all is as it was, and stays so. */
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
      name: 'requests in a second',
      series: [series('offered', 'offered'), series('answered', 'good'), series('sent away', 'shed')],
    },
    { name: 'answered in time, in a second; the line is the peak', series: [series('', 'good')], bound: peak },
    {
      name: 'p99 of those who were let in, ms; the line is what counts as in time',
      series: [series('', 'p99')],
      bound: IN_TIME_MS,
    },
    { name: 'slowest answer of /health, ms', series: [{ name: '', values: watched.health_by_second }] },
    { name: 'longest wait of the event loop, ms', series: [{ name: '', values: watched.loop_ms }] },
  ]
  return overTime(`${SIZE.times} times as much as can be done`, panels, from, to)
}
