import { expect, test } from 'vitest'
import { proveLive } from './prove/client-live.ts'

test('[SYNC-20] two clients behind a failing line, and a service that is killed, end with the same board', async () => {
  const outcomes = await proveLive({ runs: 1, changes: 40, pause_ms: 60, kills: 1 }, console.log)
  expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
  expect(outcomes[0]?.confirmed).toBeGreaterThan(20)
}, 150_000)
