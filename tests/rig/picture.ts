import { delaysOf } from './check-delivery.ts'
import type { Dump, Fault, History } from './history.ts'

const WIDTH = 1_000
const LEFT = 60
const BANDS_TOP = 28
const BAND = 13
const PLOT = 110
const GAP = 34
const ROWS = 4
const STEP_MS = 500

const colour = ({ kind }: Fault) =>
  kind.includes('Redis') || kind === 'cut subscriptions' || kind === 'lose messages' || kind === 'fail over'
    ? '#e07a5f'
    : kind.includes('instance')
      ? '#3d5a80'
      : kind.includes('PostgreSQL') || kind === 'end backends'
        ? '#6a994e'
        : '#8d8d9b'

/** A run over time: what failed, how much was written and delivered, and how far behind the worst reader was. */
export function timeline(history: History, dump: Dump, title: string): string {
  const { began, ended } = history
  const seconds = (ended - began) / 1_000
  const x = (at: number) => LEFT + ((at - began) / (ended - began)) * (WIDTH - LEFT - 20)
  const steps = Math.ceil((ended - began) / STEP_MS)
  const written = Array.from({ length: steps }, () => 0)
  const delivered = [...written]
  const worst = [...written]
  const at = (time: number) => Math.min(steps - 1, Math.max(0, Math.floor((time - began) / STEP_MS)))
  const raise = (list: number[], i: number, by: number) => {
    list[i] = (list[i] ?? 0) + by
  }
  for (const write of history.writes) if (write.outcome === 'ok') raise(written, at(write.ended), 1_000 / STEP_MS)
  for (const { receipts } of history.connections) for (const r of receipts) raise(delivered, at(r.at), 1_000 / STEP_MS)
  for (const { committed, ms } of delaysOf(history, dump)) {
    const i = at(committed)
    worst[i] = Math.max(worst[i] ?? 0, ms)
  }

  const top = (i: number) => BANDS_TOP + ROWS * BAND + GAP + i * (PLOT + GAP)
  const height = top(3)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="${LEFT}" y="16" font-size="14">${title}</text>`,
    ...history.faults.map((fault, i) => band(fault, x, BANDS_TOP + (i % ROWS) * BAND, top(2) + PLOT)),
    plot(written, top(0), 'writes acknowledged, in a second', '#3d405b', seconds),
    plot(delivered, top(1), 'events delivered, in a second', '#3d405b', seconds),
    plot(worst, top(2), 'time from commit to the last reader, in ms (worst)', '#9b2226', seconds, 3_000),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

function band(fault: Fault, x: (at: number) => number, y: number, bottom: number): string {
  const from = x(fault.began)
  const width = Math.max(2, x(fault.ended) - from)
  const label = `${fault.kind}${fault.instance === undefined ? '' : ` ${fault.instance}`}${fault.detail && ` ${fault.detail}`}`
  return [
    `<rect x="${from.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${bottom - y}" fill="${colour(fault)}" opacity="0.16"/>`,
    `<text x="${(from + 2).toFixed(1)}" y="${y + 10}" font-size="9" fill="${colour(fault)}">${label}</text>`,
  ].join('')
}

function plot(values: number[], top: number, name: string, stroke: string, seconds: number, bound?: number): string {
  const most = Math.max(1, bound ?? 0, ...values)
  const y = (value: number) => top + PLOT - (value / most) * PLOT
  const step = (WIDTH - LEFT - 20) / values.length
  const points = values.map((value, i) => `${(LEFT + (i + 0.5) * step).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  const right = WIDTH - 20
  return [
    `<text x="${LEFT}" y="${top - 5}">${name}</text>`,
    `<text x="${LEFT - 6}" y="${top + 8}" text-anchor="end">${Math.round(most)}</text>`,
    `<text x="${LEFT - 6}" y="${top + PLOT}" text-anchor="end">0</text>`,
    `<line x1="${LEFT}" y1="${top + PLOT}" x2="${right}" y2="${top + PLOT}" stroke="#999"/>`,
    bound === undefined
      ? ''
      : `<line x1="${LEFT}" y1="${y(bound)}" x2="${right}" y2="${y(bound)}" stroke="${stroke}" stroke-dasharray="4 4"/>`,
    `<polyline fill="none" stroke="${stroke}" stroke-width="1.5" points="${points}"/>`,
    `<text x="${right}" y="${top + PLOT + 13}" text-anchor="end">${seconds.toFixed(0)} s</text>`,
  ].join('')
}
