import { expect, test } from 'vitest'
import { type Kind, rollUnderLoad } from './rolling-restarts.ts'

test.each<Kind>(['HAProxy', 'nginx'])(
  '[SHIP-16] no request fails and no event is lost when instances behind %s restart one after the other',
  async (kind) => {
    const load = { writers: 16, readers: 4, sockets: 50, pause_ms: 100 }
    const rolled = await rollUnderLoad(kind, load)
    const { failed, lost, exit_codes, closes, reconnects, requests, events, log } = rolled
    expect(failed).toEqual([])
    expect(lost).toEqual([])
    expect(exit_codes).toEqual([0, 0])
    // Every socket was closed at least once, with the code for a restart.
    expect(reconnects).toBeGreaterThanOrEqual(load.sockets)
    expect(closes).toEqual({ 1012: reconnects })
    expect(requests).toBeGreaterThan(100)
    expect(events).toBeGreaterThan(100)
    if (kind === 'nginx') return
    for (const server of ['one', 'two'])
      expect(log).toContain(`Server instances/${server} is DOWN, reason: Layer7 wrong status`)
  },
  300_000,
)
