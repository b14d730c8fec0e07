import { expect, test } from 'vitest'
import { rollUnderLoad } from '../prove/operate-rolling.ts'

test('[SHIP-16] instances behind a proxy are restarted one after the other, and nobody notices', async () => {
  const load = { writers: 16, readers: 4, sockets: 50, pause_ms: 100 }
  const rolled = await rollUnderLoad('HAProxy', 1, load, console.log)
  const { failed, lost, exit_codes, closes, reconnects, requests, events, log } = rolled
  expect(failed).toEqual([])
  expect(lost).toEqual([])
  expect(exit_codes).toEqual([0, 0])
  // Everybody was sent away at least once, and with the code that says to come back.
  expect(reconnects).toBeGreaterThanOrEqual(load.sockets)
  expect(closes).toEqual({ 1012: reconnects })
  expect(requests).toBeGreaterThan(100)
  expect(events).toBeGreaterThan(100)
  for (const server of ['one', 'two'])
    expect(log).toContain(`Server instances/${server} is DOWN, reason: Layer7 wrong status`)
}, 300_000)
