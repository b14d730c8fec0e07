/** Drawings by hand: bars and lines on logarithmic axes, readable without colour. */
const COLOURS = ['#3d405b', '#e07a5f', '#6a994e', '#3d5a80', '#bc6c25', '#8d8d9b', '#9b2226']
const colourOf = (nth: number) => COLOURS[nth % COLOURS.length] as string
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const label = (x: number, y: number, text: string, anchor = 'start', size = 11) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}">${escaped(text)}</text>`
const short = (value: number) =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))

function sheet(width: number, height: number, title: string, parts: string[]) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="white"/>
${label(16, 22, title, 'start', 14)}
${parts.join('\n')}
</svg>
`
}

/** Groups of bars from left to right, one under the other, with their values; lengths are logarithmic. */
export function bars(title: string, groups: { name: string; values: Record<string, number> }[]): string {
  const [left, width, step] = [220, 900, 17]
  const all = groups.flatMap(({ values }) => Object.values(values)).filter((value) => value > 0)
  const least = Math.log10(Math.min(...all)) - 0.3
  const most = Math.log10(Math.max(...all))
  const x = (value: number) => left + ((Math.log10(value) - least) / (most - least || 1)) * (width - left - 80)
  let y = 44
  const parts = groups.flatMap(({ name, values }) => {
    const heading = label(16, y, name, 'start', 12)
    y += 6
    const lines = Object.entries(values).map(([what, value], nth) => {
      y += step
      const bar = `<rect x="${left}" y="${y - 11}" width="${(x(value) - left).toFixed(1)}" height="12" fill="${colourOf(nth)}"/>`
      return bar + label(left - 8, y, what, 'end') + label(x(value) + 6, y, short(value))
    })
    y += 26
    return [heading, ...lines]
  })
  return sheet(width, y, title, parts)
}

/** Shares of what was aimed at: a bar that reaches the line meets its goal. */
export function shares(title: string, rows: { name: string; share: number; text: string }[]): string {
  const [left, width, step] = [380, 1_080, 20]
  const most = 1.5
  const x = (share: number) => left + (Math.min(most, share) / most) * (width - left - 260)
  const height = 60 + rows.length * step
  const parts = rows.map(({ name, share, text }, nth) => {
    const y = 56 + nth * step
    const bar = `<rect x="${left}" y="${y - 11}" width="${(x(share) - left).toFixed(1)}" height="13" fill="${share >= 1 ? '#6a994e' : '#e07a5f'}"/>`
    return bar + label(left - 8, y, name, 'end') + label(x(share) + 6, y, text)
  })
  const line = `<line x1="${x(1)}" y1="36" x2="${x(1)}" y2="${height - 16}" stroke="#333" stroke-dasharray="4 4"/>`
  return sheet(width, height, title, [...parts, line])
}

/** Lines over a factor of growth, both axes logarithmic: a slope of one is proportional. */
export function lines(title: string, series: { name: string; points: [x: number, y: number][] }[]): string {
  const [left, top, right, bottom, width] = [60, 44, 560, 340, 900]
  const points = series.flatMap((one) => one.points)
  const range = (values: number[]) => {
    const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))]
    return { low, span: high - low || 1 }
  }
  const [xs, ys] = [range(points.map(([x]) => x)), range(points.map(([, y]) => y))]
  const x = (value: number) => left + ((Math.log10(value) - xs.low) / xs.span) * (right - left)
  const y = (value: number) => bottom - ((Math.log10(value) - ys.low) / ys.span) * (bottom - top)
  const parts = series.flatMap(({ name, points: own }, nth) => {
    const path = own.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`)
    const mark = (at: string) =>
      `<circle cx="${at.split(',')[0]}" cy="${at.split(',')[1]}" r="3" fill="${colourOf(nth)}"/>`
    return [
      `<polyline fill="none" stroke="${colourOf(nth)}" stroke-width="1.5" stroke-dasharray="${nth % 3 === 0 ? '' : `${4 * (nth % 3)} 3`}" points="${path.join(' ')}"/>`,
      ...path.map(mark),
      `<rect x="${right + 30}" y="${top + nth * 18 - 9}" width="10" height="10" fill="${colourOf(nth)}"/>`,
      label(right + 46, top + nth * 18, name),
    ]
  })
  const ticks = [...new Set(points.map(([px]) => px))].map((px) => label(x(px), bottom + 18, `${short(px)}×`, 'middle'))
  const ends = [Math.min, Math.max].map((pick) => pick(...points.map(([, py]) => py)))
  const axis = `<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="#888"/>`
  return sheet(width, bottom + 34, title, [
    axis,
    ...parts,
    ...ticks,
    ...ends.map((end) => label(left - 6, y(end) + 4, short(end), 'end')),
  ])
}
