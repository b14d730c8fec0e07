import { median, percentile } from './statistics.ts'

export interface Panel {
  name: string
  /** Values at equal distances over the whole time. */
  series: { name?: string; values: readonly number[] }[]
  /** A limit, drawn as a dashed line. */
  bound?: number
}
/** A shaded part of the time. Both ends are shares of the whole, from 0 to 1. */
export interface Band {
  from: number
  to: number
  label?: string
  color?: string
}
export interface Chart {
  title: string
  /** The length of the time, for example `60 s`. */
  duration: string
  panels: Panel[]
  bands?: Band[]
  columns?: 1 | 2
}

const [WIDTH, LEFT, RIGHT, PLOT, GAP, LABEL, LABEL_ROWS] = [1_000, 60, 20, 100, 44, 13, 4]
const COLORS = ['#3d5a80', '#6a994e', '#c2410c']
const BAND_COLOR = '#e07a5f'
/** More points would be indistinguishable: neighbours are replaced by their median. */
const MAX_POINTS = 220

/** Panels over the same time as an SVG image. Every axis starts at zero. */
export function plot({ title, duration, panels, bands = [], columns = 1 }: Chart): string {
  const top = 50 + (bands.some(({ label }) => label) ? LABEL_ROWS * LABEL : 0)
  const height = top + Math.ceil(panels.length / columns) * (PLOT + GAP) - GAP + 20
  const width = WIDTH / columns
  const plotWidth = width - LEFT - RIGHT
  const parts = [
    ...Array.from({ length: columns }, (_, column) =>
      bands.map((band, i) => drawBand(band, i, column * width + LEFT, plotWidth, height - 20)),
    ).flat(),
    ...panels.map((panel, i) =>
      drawPanel(panel, {
        x: (i % columns) * width + LEFT,
        y: top + Math.floor(i / columns) * (PLOT + GAP),
        width: plotWidth,
        duration,
      }),
    ),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11" role="img">
<title>${title}</title>
<rect width="${WIDTH}" height="${height}" fill="white"/>
<text x="${LEFT}" y="18" font-size="14">${title}</text>
${parts.join('\n')}
</svg>
`
}

function drawBand(
  { from, to, label, color = BAND_COLOR }: Band,
  nth: number,
  x: number,
  width: number,
  bottom: number,
) {
  const y = 28 + (label ? (nth % LABEL_ROWS) * LABEL : 0)
  const start = x + from * width
  const text = label
    ? `<text x="${(start + 2).toFixed(1)}" y="${y + 10}" font-size="9" fill="${color}">${label}</text>`
    : ''
  return `<rect x="${start.toFixed(1)}" y="${y}" width="${Math.max(2, (to - from) * width).toFixed(1)}" height="${bottom - y}" fill="${color}" opacity="0.14"/>${text}`
}

interface Area {
  x: number
  y: number
  width: number
  duration: string
}

function drawPanel({ name, series, bound }: Panel, { x, y, width, duration }: Area) {
  const all = series.flatMap(({ values }) => values.filter(Number.isFinite))
  const highest = Math.max(1e-9, ...all)
  // A few extreme values do not flatten the rest: they are cut off, and named in the title.
  const max = Math.max(bound ?? 0, Math.min(highest, percentile(all, 99) * 1.3 || highest) * 1.08)
  const bottom = y + PLOT
  const heightOf = (value: number) => bottom - (Math.min(max, Number.isFinite(value) ? value : 0) / max) * PLOT
  const lines = series.map(({ name: legend = '', values }, nth) => {
    const points = thinned(values).map(
      (value, i, { length }) => `${(x + ((i + 0.5) / length) * width).toFixed(1)},${heightOf(value).toFixed(1)}`,
    )
    const at = x + width - 80 * (series.length - nth - 1)
    return `<text x="${at}" y="${y - 6}" text-anchor="end" fill="${COLORS[nth]}">${legend}</text><polyline fill="none" stroke="${COLORS[nth]}" stroke-width="1.4" points="${points.join(' ')}"/>`
  })
  return [
    `<text x="${x}" y="${y - 6}">${name}${highest > max ? `, highest ${short(highest)}` : ''}</text>`,
    `<path d="M${x} ${y}V${bottom}H${x + width}" fill="none" stroke="#999"/>`,
    `<text x="${x - 6}" y="${y + 8}" text-anchor="end">${short(max)}</text><text x="${x - 6}" y="${bottom}" text-anchor="end">0</text>`,
    `<text x="${x + width}" y="${bottom + 13}" text-anchor="end">${duration}</text>`,
    bound === undefined
      ? ''
      : `<line x1="${x}" y1="${heightOf(bound)}" x2="${x + width}" y2="${heightOf(bound)}" stroke="#999" stroke-dasharray="4 4"/>`,
    ...lines,
  ].join('')
}

function thinned(values: readonly number[]): number[] {
  const step = Math.max(1, Math.ceil(values.length / MAX_POINTS))
  return Array.from({ length: Math.ceil(values.length / step) }, (_, i) =>
    median(values.slice(i * step, (i + 1) * step)),
  )
}
const short = (value: number) => (value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2))))
