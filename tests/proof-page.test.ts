import { expect, test } from 'vitest'
import { proofPage, type Results, resultsText } from '../scripts/proof-page.ts'
import { atLeast, atMost, collectFigures, equals, info, isTrue } from './prove/report.ts'

const run = {
  command: 'npm run prove -- soak',
  commit: 'abc',
  date: '2026-01-02',
  seconds: 3_600,
  machine: '2 cores',
  violations: [],
  figures: [info('requests', 12_345), atMost('latency', 2.34567, 10, 'ms')],
}
const results: Results = { soak: run, overload: { ...run, violations: ['one'], picture: 'A minute' } }

test('the page has a section for each stored run, in the order of the suites, and names those without a run', () => {
  const page = proofPage(results)
  expect(page.match(/^## .+/gm)).toEqual(['## Five times the load', '## An hour of mixed load'])
  expect(page).toContain('| requests | 12,345 |  |  |\n| latency | 2.35 ms | ≤ 10 ms | yes |')
  expect(page).toContain('60 minutes on 2 cores. No violations.')
  expect(page).toContain('**1 violation.**\n\n- one\n')
  expect(page).toContain('![A minute](overload.svg)')
  expect(page).toMatch(/No run is stored yet: `npm run prove -- realtime`, /)
})

test('the stored results are JSON with one line for each figure', () => {
  expect(JSON.parse(resultsText(results))).toEqual(results)
  expect(resultsText(results)).toContain('\n      {"what":"requests","value":12345},\n')
})

test('a figure that misses its bound is a violation', () => {
  const { figures, violations, add } = collectFigures(() => {})
  add(equals('lost', 0, 0), isTrue('running', true), atLeast('pings', 2, 2), info('size', 5))
  expect(violations).toEqual([])
  add(equals('lost', 1, 0), isTrue('running', false), atLeast('pings', 1, 2), atMost('size', Number.NaN, 5, 'MiB'))
  expect(violations).toEqual([
    'lost: 1 instead of 0',
    'running: no instead of yes',
    'pings: 1 instead of ≥ 2',
    'size: NaN MiB instead of ≤ 5 MiB',
  ])
  expect(figures).toHaveLength(8)
})
