import { median } from '@lockstep/testing/load/measure'
import { quantile } from '../rig/history.ts'
import type { InstanceSample, Sample, StoreSample } from './sampler.ts'

const [WIDTH, LEFT, RIGHT, PLOT, GAP, TOP, COLUMNS] = [1_000, 46, 14, 84, 46, 62, 2]
const PANEL = WIDTH / COLUMNS
const COLOURS = ['#1d4ed8', '#c2410c']
/** As many points as can be told apart. */
const POINTS = 220

/** What is drawn: of both instances, or of a store. */
const panels: [title: string, of: (sample: Sample) => number[]][] = [
  ['resident memory, MiB', each('rss_mib')],
  ['heap in use, MiB', each('heap_mib')],
  ['event-loop lag, 99 %, ms', each('lag_p99_ms')],
  ['event-loop lag, half, ms', each('lag_p50_ms')],
  ['wait for a connection, mean, ms', each('pool_wait_ms')],
  ['wait for a connection, 99 %, ms', each('pool_wait_p99_ms')],
  ['requests a second', each('requests_per_second')],
  ['latency, 99 %, ms', each('latency_p99_ms')],
  ['open sockets', each('sockets')],
  ['open files', each('files')],
  ['PostgreSQL: boards and files, MiB', one('content_mib')],
  ['Redis, MiB', one('redis_mib')],
]
function each(name: keyof InstanceSample) {
  return ({ instances }: Sample) => instances.map((instance) => instance[name])
}
function one(name: keyof StoreSample) {
  return ({ stores }: Sample) => [stores[name]]
}

/** Everything over time, one small plot for each, the warm-up shaded. Each begins at zero: what grows is seen to grow. */
export function picture(samples: readonly Sample[], title: string): string {
  const rows = Math.ceil(panels.length / COLUMNS)
  const height = TOP + rows * (PLOT + GAP)
  const minutes = (samples.at(-1)?.at_s ?? 0) / 60
  const parts = panels.flatMap(([name, of], i) => {
    const [x, y] = [(i % COLUMNS) * PANEL, TOP + Math.floor(i / COLUMNS) * (PLOT + GAP)]
    return panel(name, samples.map(of), { x, y, minutes })
  })
  const legend = COLOURS.map(
    (colour, i) =>
      `<rect x="${LEFT + i * 110}" y="30" width="14" height="4" fill="${colour}"/><text x="${LEFT + 20 + i * 110}" y="36">instance ${i + 1}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11" fill="#111827" role="img">
<title>${title}</title>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${LEFT}" y="20" font-size="14">${title}</text>
${[...legend, `<rect x="${LEFT + 220}" y="27" width="14" height="10" fill="#f3f4f6" stroke="#9ca3af"/><text x="${LEFT + 240}" y="36">warming up</text>`].join('')}
${parts.join('\n')}
</svg>
`
}

function panel(name: string, values: number[][], { x, y, minutes }: { x: number; y: number; minutes: number }) {
  const [from, to, bottom] = [x + LEFT, x + PANEL - RIGHT, y + PLOT]
  const all = values.flat()
  const highest = Math.max(...all)
  // One moment does not flatten all others: what lies far above is cut off, and told.
  const most = Math.min(highest, quantile(all, 0.99) * 1.3) * 1.08 || 1
  const up = (value: number) => bottom - (Math.min(most, value) / most) * PLOT
  const lines = COLOURS.slice(0, values[0]?.length ?? 0).map((colour, nth) => {
    const own = thinned(values.map((both) => both[nth] ?? 0))
    const points = own.map(
      (value, i) => `${(from + ((i + 0.5) / own.length) * (to - from)).toFixed(1)},${up(value).toFixed(1)}`,
    )
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.3" points="${points.join(' ')}"/>`
  })
  const highestTold = highest > most ? `, highest ${short(highest)}` : ''
  return [
    `<rect x="${from}" y="${y}" width="${((to - from) / 3).toFixed(1)}" height="${PLOT}" fill="#f3f4f6"/>`,
    `<path d="M${from} ${y}V${bottom}H${to}" fill="none" stroke="#9ca3af"/>`,
    `<text x="${from}" y="${y - 6}">${name}${highestTold}</text>`,
    `<text x="${from - 5}" y="${y + 9}" text-anchor="end">${short(most)}</text><text x="${from - 5}" y="${bottom}" text-anchor="end">0</text>`,
    `<text x="${to}" y="${bottom + 13}" text-anchor="end">${short(minutes)} min</text>`,
    ...lines,
  ]
}

/** Medians of neighbours, when there are more than can be seen. */
function thinned(values: readonly number[]): number[] {
  const step = Math.max(1, Math.ceil(values.length / POINTS))
  return Array.from({ length: Math.ceil(values.length / step) }, (_, i) =>
    median(values.slice(i * step, (i + 1) * step)),
  )
}
const short = (value: number) => (value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2))))
