import { endProcesses } from '@lockstep/testing/processes'
import { median, percentileOfSorted } from '@lockstep/testing/statistics'
import { type LatencySize, measureWriteLatency } from '../webhook-harness/write-latency.ts'
import { atMost, collectFigures, info, type Progress, type Report } from './report.ts'

const FULL: LatencySize = { boards: 50, pairs: 16, windowSeconds: 8 }
const MOST = 1.05

/** Webhooks hardly slow down writes. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, add } = collectFigures(progress)
  try {
    const { capacity, rate, p95, ratios, deliveries, cpu } = await measureWriteLatency(FULL, progress)
    add(
      info('writes per second at most', capacity),
      info('writes per second while measured', rate),
      info('webhook deliveries', deliveries),
      info('CPU time of a delivery, service', cpu.service, 'µs'),
      info('CPU time of a delivery, PostgreSQL', cpu.postgres, 'µs'),
      info('p95 of a write without webhooks', p95.without, 'ms'),
      info('p95 of a write with 50 webhooks', p95.with, 'ms'),
      atMost(`ratio of them, median of ${ratios.length} pairs`, median(ratios), MOST),
      info('the same, lower quartile', percentileOfSorted(ratios, 25)),
      info('the same, upper quartile', percentileOfSorted(ratios, 75)),
    )
  } finally {
    await endProcesses()
  }
  return { figures, violations }
}
