const WIDTH = 1_000
const LEFT = 60
const RIGHT = 20
const PLOT = 110
const GAP = 40
const COLOURS = ['#3d405b', '#6a994e', '#e07a5f']

export interface Panel {
  name: string
  /** One value for each second. */
  series: { name: string; values: number[] }[]
  /** What must not be passed. */
  bound?: number
}

/** Panels over the same seconds, one under the other; the seconds between `from` and `to` are shaded. */
export function overTime(title: string, panels: Panel[], from: number, to: number): string {
  const seconds = Math.max(1, ...panels.flatMap(({ series }) => series.map(({ values }) => values.length)))
  const x = (second: number) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT)
  const height = 40 + panels.length * (PLOT + GAP)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<rect x="${x(from).toFixed(1)}" y="26" width="${(x(to) - x(from)).toFixed(1)}" height="${height - 46}" fill="#e07a5f" opacity="0.1"/>`,
    `<text x="${LEFT}" y="16" font-size="14">${title}</text>`,
    ...panels.map((panel, nth) => draw(panel, 54 + nth * (PLOT + GAP), x)),
    `<text x="${WIDTH - RIGHT}" y="${height - 6}" text-anchor="end">${seconds} s</text>`,
    '</svg>\n',
  ].join('\n')
}

function draw({ name, series, bound }: Panel, top: number, x: (second: number) => number): string {
  const most = Math.max(1, bound ?? 0, ...series.flatMap(({ values }) => values.filter(Number.isFinite)))
  const y = (value: number) => top + PLOT - (value / most) * PLOT
  const line = (at: number, dashes = '') =>
    `<line x1="${LEFT}" y1="${y(at)}" x2="${WIDTH - RIGHT}" y2="${y(at)}" stroke="#999"${dashes && ` stroke-dasharray="${dashes}"`}/>`
  return [
    `<text x="${LEFT}" y="${top - 6}">${name}</text>`,
    `<text x="${LEFT - 6}" y="${top + 8}" text-anchor="end">${Math.round(most)}</text>`,
    `<text x="${LEFT - 6}" y="${top + PLOT}" text-anchor="end">0</text>`,
    line(0),
    bound === undefined ? '' : line(bound, '4 4'),
    ...series.map(({ name: of, values }, nth) => {
      const points = values.map(
        (value, i) => `${x(i + 0.5).toFixed(1)},${y(Number.isFinite(value) ? value : 0).toFixed(1)}`,
      )
      const legend = `<text x="${WIDTH - RIGHT - 90 * (series.length - nth - 1)}" y="${top - 6}" text-anchor="end" fill="${COLOURS[nth]}">${of}</text>`
      return `${legend}<polyline fill="none" stroke="${COLOURS[nth]}" stroke-width="1.5" points="${points.join(' ')}"/>`
    }),
  ].join('')
}
