import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  type Assumed,
  assumed,
  capacity,
  limits,
  type Measured,
  readFigure,
  readMeasured,
  sources,
} from '../scripts/capacity.ts'
import { fillPlaces, rounded, scalingPicture, scalingTables } from '../scripts/scaling-page.ts'
import { prove } from './prove/capacity.ts'

const measured = readMeasured()
const RATES = [
  'boards',
  'events',
  'deliveries',
  'heartbeats',
  'commits_peak',
  'log_bytes_day',
  'bits_peak',
  'returning',
] as const

test('[SCALE-2] twice the sockets are twice the work; more people on a board are more deliveries, and no more changes', () => {
  const [one, two] = [capacity(100_000, measured), capacity(200_000, measured)]
  for (const rate of RATES) expect(two[rate]).toBeCloseTo(2 * one[rate])
  expect(two.instances).toBe(2 * one.instances)
  const crowded = capacity(100_000, measured, { ...assumed, sockets_per_board: 20 })
  expect(crowded.events).toBeCloseTo(one.events / 2)
  expect(crowded.deliveries).toBeCloseTo(one.deliveries)
})

test('[SCALE-2] boards that are kept together cost less, and nothing else changes', () => {
  const [chance, together] = [capacity(1e6, measured), capacity(1e6, measured, assumed, true)]
  expect(chance.places).toBeGreaterThan(9)
  expect(together.probes).toBeCloseTo(chance.boards / 2)
  expect(chance.probes / together.probes).toBeCloseTo(chance.places)
  expect(together.deliveries).toBe(chance.deliveries)
  // With one instance there is nothing to keep together.
  expect(capacity(5_000, measured)).toEqual(capacity(5_000, measured, assumed, true))
})

test('[SCALE-2] where we measured the whole, the model says about the same', () => {
  const scale = (heading: string, figure: string) => readFigure({ proof: 'realtime', heading, figure })
  const pings = scale('19000 idle sockets in one process', 'pings')
  expect((capacity(19_000, measured).heartbeats * 75) / pings).toBeCloseTo(1, 1)
  // One event to 10,000 viewers: measured on the clock of a busy machine, here as processor time.
  const spread_ms = scale('10000 viewers of one board', 'from the first viewer to the last, p50')
  const ratio = (10_000 * measured.delivery_us) / 1_000 / spread_ms
  expect(ratio).toBeGreaterThan(0.2)
  expect(ratio).toBeLessThan(5)
})

test('[SCALE-2] each limit is where the load passes it, and a cheaper part moves its own limit alone', () => {
  const found = limits(measured)
  expect(found.map(({ sockets }) => sockets)).toEqual(found.map(({ sockets }) => sockets).sort((a, b) => a - b))
  const database = found.find(({ what }) => what.includes('only the primary'))?.sockets ?? 0
  const half = assumed.database_cores * assumed.load
  expect(capacity(database, measured).writes_cores_peak).toBeGreaterThan(half)
  expect(capacity(database - 1, measured).writes_cores_peak).toBeLessThanOrEqual(half)
  const moved = limits({ ...measured, wal_bytes: 1, log_bytes: measured.log_bytes / 2 }).filter(
    ({ what, sockets }) => found.find((limit) => limit.what === what)?.sockets !== sockets,
  )
  expect(moved).toEqual([expect.objectContaining({ what: expect.stringContaining('The log of') })])
})

test.each(Object.keys(sources))('[SCALE-3] the tables and the picture follow from %s', (name) => {
  const changed: Measured = { ...measured, [name]: measured[name as keyof Measured] * 100 + 1_000 }
  const [before, after] = [scalingTables(measured), scalingTables(changed)]
  expect(after['capacity']).not.toBe(before['capacity'])
  expect(after['measured']).not.toBe(before['measured'])
})

test.each(Object.keys(assumed))('[SCALE-3] and from the assumption %s', (name) => {
  const changed: Assumed = { ...assumed, [name]: assumed[name as keyof Assumed] * 3 }
  const all = (a: Assumed) => [
    scalingTables(measured, a)['capacity'],
    scalingTables(measured, a)['limits'],
    scalingPicture(measured, a),
  ]
  expect(all(changed)).not.toEqual(all(assumed))
})

test('[SCALE-3] the page is made of what was measured last; a figure that is not there is an error', () => {
  const page = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8')
  expect(fillPlaces(page, scalingTables(measured))).toBe(page)
  expect(() => fillPlaces('nothing', { capacity: '' })).toThrow('The page needs one place for capacity')
  expect(() => readFigure({ proof: 'realtime', heading: 'Nothing', figure: 'nothing' })).toThrow(
    'There is no “nothing”',
  )
  expect([0.001, 0.083, 1.66, 16.7, 1_700, 43e6].map(rounded)).toEqual([
    '< 0.01',
    '0.083',
    '1.7',
    '17',
    '1.7 k',
    '43 M',
  ])
})

test('[SCALE-3] what is measured can be measured: the same on a small stage', { timeout: 120_000 }, async () => {
  const size = { boards: 4, each: 5, crowds: 2, crowd: 20, rate: 200, changes: 60, quiet_seconds: 1, idle_seconds: 1 }
  const { sections, violations } = await prove(() => {}, size)
  expect(violations).toEqual([])
  const text = JSON.stringify({ parts: [{ sections }] })
  for (const source of Object.values(sources)) {
    if (source.proof === 'capacity' && !/heartbeat|presence/.test(source.figure))
      expect(readFigure(source, text)).not.toBeNaN()
  }
})
