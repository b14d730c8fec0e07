import { endProcesses } from '@lockstep/testing/processes'
import { median, percentileOfSorted } from '@lockstep/testing/statistics'
import { type LatencySize, measureWriteLatency, type WriteLatency } from '../webhook-harness/write-latency.ts'
import { atMost, collectFigures, type Figure, info, type Progress, type Report } from './report.ts'

/** One board in ten has a webhook. */
const SOME: LatencySize = { boards: 500, webhooks: 50, pairs: 12, windowSeconds: 8 }
/** Every write is sent. */
const ALL: LatencySize = { boards: 50, webhooks: 50, pairs: 4, windowSeconds: 8 }
const MOST = 1.05

/** Webhooks hardly slow down writes. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, missedTimes, add, addTimes } = collectFigures(progress)
  try {
    const some = await measureWriteLatency(SOME, progress)
    addTimes(...figuresOf(some, 'one board in ten has a webhook', MOST))
    const all = await measureWriteLatency(ALL, progress)
    add(...figuresOf(all, 'every board has a webhook'))
    add(info('CPU time of a delivery, service', all.cpu.service, 'µs'))
    add(info('CPU time of a delivery, PostgreSQL', all.cpu.postgres, 'µs'))
  } finally {
    await endProcesses()
  }
  return { figures, violations, missedTimes }
}

function figuresOf({ rate, deliveries, p95, ratios }: WriteLatency, which: string, most?: number): Figure[] {
  const ratio = `${which}: ratio of them, median of ${ratios.length} pairs`
  return [
    info(`${which}: writes per second`, rate),
    info(`${which}: deliveries`, deliveries),
    info(`${which}: p95 of a write while webhooks are disabled`, p95.without, 'ms'),
    info(`${which}: p95 of a write while webhooks are sent`, p95.with, 'ms'),
    most === undefined ? info(ratio, median(ratios)) : atMost(ratio, median(ratios), most),
    info(`${which}: lower quartile of the ratio`, percentileOfSorted(ratios, 25)),
    info(`${which}: upper quartile of the ratio`, percentileOfSorted(ratios, 75)),
  ]
}
