import {
  type Assumed,
  assumed,
  assumptions,
  capacity,
  type Limit,
  type Load,
  largestAudience,
  limits,
  type Measured,
  sources,
} from './capacity.ts'
import { exceptions, scopes } from './catalogue.ts'

/** The sizes that the plan is drawn for: sockets that are connected at once. */
export const sizes = { 'a team of 50': 50, '10 k': 1e4, '100 k': 1e5, '1 M': 1e6, '10 M': 1e7 }

const [short, whole] = [1, 0].map((digits) => new Intl.NumberFormat('en', { maximumFractionDigits: digits })) as [
  Intl.NumberFormat,
  Intl.NumberFormat,
]
/** Two figures are enough for a plan: 1.7 k, 43 M. */
export function rounded(value: number): string {
  const [unit, divisor] = ([
    ['', 1],
    [' k', 1e3],
    [' M', 1e6],
    [' G', 1e9],
  ].findLast(([, least]) => Math.abs(value) >= Number(least)) as [string, number]) ?? ['', 1]
  const scaled = value / divisor
  if (scaled > 0 && scaled < 0.01) return '< 0.01'
  return `${scaled < 1 ? Number(scaled.toPrecision(2)) : (scaled < 10 ? short : whole).format(scaled)}${unit}`
}
function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const nth = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(value) / 3)))
  const scaled = value / 1e3 ** nth
  return `${(scaled < 10 ? short : whole).format(scaled)} ${units[nth]}`
}
const bits = (value: number) => bytes(value).replace(/k?B$|([MGTP])B$/, (unit) => `${unit.slice(0, -1)}bit/s`)
const both = (mean: number, peak: number) => `${rounded(mean)} / ${rounded(peak)}`

/** A row is made of the load with sockets spread by chance, and with those of a board kept together. */
const rows: [what: string, cell: (load: Load, together: Load) => string][] = [
  ['boards that somebody looks at', ({ boards }) => rounded(boards)],
  ['changes a second, mean / peak', ({ events, events_peak }) => both(events, events_peak)],
  ['deliveries a second, mean / peak', ({ deliveries, deliveries_peak }) => both(deliveries, deliveries_peak)],
  ['heartbeats a second', ({ heartbeats }) => rounded(heartbeats)],
  ['**instances**', ({ instances }) => `**${rounded(instances)}**`],
  ['cores they use at the peak', ({ service_cores_peak }) => rounded(service_cores_peak)],
  ['memory of all of them', ({ memory_bytes }) => bytes(memory_bytes)],
  ['to the clients, at the peak', ({ bits_peak }) => bits(bits_peak)],
  ['PostgreSQL: commits a second at the peak', ({ commits_peak }) => rounded(commits_peak)],
  ['PostgreSQL: cores at the peak', ({ postgres_cores_peak }) => rounded(postgres_cores_peak)],
  ['PostgreSQL: of them for loads of full boards', ({ loads_cores_peak }) => rounded(loads_cores_peak)],
  [
    'PostgreSQL: heads asked for, a second, by chance / together',
    (load, together) => both(load.probes, together.probes),
  ],
  [
    'PostgreSQL: log a day / kept',
    ({ log_bytes_day, log_bytes_kept }) => `${bytes(log_bytes_day)} / ${bytes(log_bytes_kept)}`,
  ],
  [
    'files a day / in a year',
    ({ file_bytes_day, file_bytes_year }) => `${bytes(file_bytes_day)} / ${bytes(file_bytes_year)}`,
  ],
  ['PostgreSQL: write-ahead log a day', ({ wal_bytes_day }) => bytes(wal_bytes_day)],
  [
    'Redis: messages in and out a second at the peak, by chance / together',
    (load, together) => both(load.redis_messages_peak, together.redis_messages_peak),
  ],
  [
    'Redis: presence scripts a second, by chance / together',
    (load, together) => both(load.presence, together.presence),
  ],
  [
    'Redis: cores at the peak, by chance / together',
    (load, together) => both(load.redis_cores_peak, together.redis_cores_peak),
  ],
  ['everybody back at once: connections a second', ({ returning }) => rounded(returning)],
  ['… cores of the instances', ({ returning_service_cores }) => rounded(returning_service_cores)],
  ['… cores of PostgreSQL', ({ returning_postgres_cores }) => rounded(returning_postgres_cores)],
  ['… cores of Redis', ({ returning_redis_cores }) => rounded(returning_redis_cores)],
]

function table(head: string[], body: string[][]): string {
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The parts of docs/scaling.md that are made from figures, by the name of their place. */
export function scalingTables(m: Measured, a: Assumed = assumed): Record<string, string> {
  const loads = Object.values(sizes).map((sockets) => [capacity(sockets, m, a), capacity(sockets, m, a, true)] as const)
  return {
    measured: table(
      ['What was measured', 'Figure', 'Where'],
      Object.entries(sources).map(([name, { proof, heading, figure }]) => [
        `${figure}${proof === 'capacity' ? '' : ` (${heading})`}`,
        `${m[name as keyof Measured]} ${unitOf(name)}`,
        `[${proof}](proof/${proof}.md)`,
      ]),
    ),
    assumed: table(
      ['What is assumed', 'Figure', 'Meaning'],
      Object.entries(assumptions).map(([name, { means }]) => [
        `\`${name}\``,
        new Intl.NumberFormat('en').format(a[name as keyof Assumed]),
        means,
      ]),
    ),
    capacity: table(
      ['connected at once', ...Object.keys(sizes)],
      rows.map(([what, cell]) => [what, ...loads.map(([load, together]) => cell(load, together))]),
    ),
    limits: table(
      ['What gives way', 'at about … sockets', 'What then'],
      [
        ...limits(m, a).map(({ what, sockets, remedy }) => [what, rounded(sockets), remedy]),
        [
          `One board: its last viewer waits for ${a.patience_ms} ms`,
          `${rounded(largestAudience(m, a))} on one board and one instance`,
          'More instances: each hands out to its own viewers. Nothing is lost meanwhile, and other boards go on.',
        ],
      ],
    ),
    exceptions: table(
      ['Key', 'Why it does not hold the board', 'How it would be carried'],
      exceptions.map(({ keys, why, carried }) => [keys.map((key) => `\`${key}\``).join(', '), why, carried]),
    ),
    tables: table(
      ['Table', 'Why it is not spread by board'],
      Object.entries(scopes).flatMap(([name, scope]) => ('global' in scope ? [[`\`${name}\``, scope.global]] : [])),
    ),
  }
}

const unitOf = (name: string) =>
  ({ us: 'µs', bytes: 'bytes', kib: 'KiB', mib: 'MiB', ms: 'ms' })[name.slice(name.lastIndexOf('_') + 1)] ?? ''

/** Fills the places of a page: what stands between `<!-- name -->` and `<!-- /name -->`. Each must be there once. */
export function fillPlaces(page: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce((text, [name, content]) => {
    const [before, rest, ...more] = text.split(`<!-- ${name} -->`)
    const [, after, ...further] = rest?.split(`<!-- /${name} -->`) ?? []
    if (after === undefined || more.length + further.length > 0) throw new Error(`The page needs one place for ${name}`)
    return `${before}<!-- ${name} -->\n\n${content}\n\n<!-- /${name} -->${after}`
  }, page)
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [880, 460, 60, 20, 20, 150]
const [FEWEST, MOST, LEAST, HIGHEST] = [10, 1e8, 1e-3, 1e4]
const across = (sockets: number) =>
  LEFT + (Math.log10(sockets / FEWEST) / Math.log10(MOST / FEWEST)) * (WIDTH - LEFT - RIGHT)
const up = (cores: number) =>
  HEIGHT - BOTTOM - (Math.log10(Math.max(cores, LEAST) / LEAST) / Math.log10(HIGHEST / LEAST)) * (HEIGHT - TOP - BOTTOM)

/** Busy cores against sockets, both by powers of ten, with a mark where something gives way. */
export function scalingPicture(m: Measured, a: Assumed = assumed): string {
  const steps = Array.from({ length: 71 }, (_, i) => Math.round(FEWEST * 10 ** (i / 10)))
  const loads = steps.map((sockets) => capacity(sockets, m, a))
  const line = (color: string, of: (load: Load) => number) =>
    `<polyline fill="none" stroke="${color}" stroke-width="2.5" points="${loads.map((load) => `${across(load.sockets).toFixed(1)},${up(of(load)).toFixed(1)}`).join(' ')}"/>`
  const curves: [string, string, (load: Load) => number][] = [
    ['the instances', '#1d4ed8', (load) => load.service_cores_peak],
    ['PostgreSQL', '#b45309', (load) => load.postgres_cores_peak],
    ['Redis', '#b91c1c', (load) => load.redis_cores_peak],
  ]
  const powers = (low: number, high: number) =>
    Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, i) => low * 10 ** i)
  const text = (x: number, y: number, words: string, more = '') =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words}</text>`
  const marks = limits(m, a)
    .filter(({ sockets }) => sockets < MOST)
    .map(({ sockets }: Limit, i) => {
      const x = across(sockets)
      return `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#6b7280" stroke-dasharray="4 3"/>${text(x + 3, TOP + 12, String(i + 1), 'font-weight="bold"')}`
    })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#111827" role="img">
<title>Busy cores at the peak against connected sockets, and where something gives way</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
${powers(FEWEST, MOST)
  .map(
    (n) =>
      `<line x1="${across(n).toFixed(1)}" x2="${across(n).toFixed(1)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#e5e7eb"/>${text(across(n), HEIGHT - BOTTOM + 16, rounded(n), 'text-anchor="middle"')}`,
  )
  .join('\n')}
${powers(LEAST, HIGHEST)
  .map(
    (n) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up(n).toFixed(1)}" y2="${up(n).toFixed(1)}" stroke="#e5e7eb"/>${text(LEFT - 6, up(n) + 4, n < 1 ? String(n) : rounded(n), 'text-anchor="end"')}`,
  )
  .join('\n')}
${marks.join('\n')}
${curves.map(([, color, of]) => line(color, of)).join('\n')}
${curves.map(([name, color], i) => `<rect x="${LEFT + 10}" y="${TOP + 8 + i * 18}" width="14" height="4" fill="${color}"/>${text(LEFT + 30, TOP + 14 + i * 18, `cores of ${name}`)}`).join('\n')}
${text(WIDTH - RIGHT, HEIGHT - BOTTOM + 32, 'connected sockets', 'text-anchor="end"')}
${limits(m, a)
  .map(({ what, sockets }, i) => text(LEFT, HEIGHT - BOTTOM + 50 + i * 16, `${i + 1}  ${what}: ${rounded(sockets)}`))
  .join('\n')}
</svg>
`
}
