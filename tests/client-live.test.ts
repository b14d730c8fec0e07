import { expect, test } from 'vitest'
import { runLiveClients } from './client-live/run.ts'

test('[SYNC-20] two clients on a faulty connection to a service that is killed end with the same board', async () => {
  const outcomes = await runLiveClients({ runs: 1, changes: 40, pauseMs: 60, kills: 1 })
  expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
  expect(outcomes[0]?.confirmed).toBeGreaterThan(20)
}, 150_000)
