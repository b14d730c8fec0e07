import { expect, test } from 'vitest'
import { type Kind, restartUnderLoad } from './rolling-restarts.ts'

test.each<Kind>(['HAProxy', 'nginx', 'Caddy'])(
  '[SHIP-16] a rolling restart behind %s fails no request and loses no event',
  async (kind) => {
    const load = { writers: 16, readers: 4, sockets: 50, pauseMs: 100 }
    const outcome = await restartUnderLoad(kind, load)
    const { failed, lost, exitCodes, closes, reconnects, requests, events, log } = outcome
    expect(failed).toEqual([])
    expect(lost).toEqual([])
    expect(exitCodes).toEqual([0, 0])
    // Every socket was closed at least once, with the code for a restart.
    expect(reconnects).toBeGreaterThanOrEqual(load.sockets)
    expect(closes).toEqual({ 1012: reconnects })
    expect(requests).toBeGreaterThan(100)
    expect(events).toBeGreaterThan(100)
    if (kind !== 'HAProxy') return
    for (const server of ['one', 'two'])
      expect(log).toContain(`Server instances/${server} is DOWN, reason: Layer7 wrong status`)
  },
  300_000,
)
