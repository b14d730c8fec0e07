import { plot } from '@lockstep/testing/plot'
import { delaysOf } from './check-delivery.ts'
import type { Dump, FaultKind, History } from './history.ts'

const STEP_MS = 500

const colorOf = (kind: FaultKind) =>
  /Redis|subscriptions|messages|fail over/.test(kind)
    ? '#e07a5f'
    : kind.includes('instance')
      ? '#3d5a80'
      : /PostgreSQL|backends/.test(kind)
        ? '#6a994e'
        : '#8d8d9b'

/** A run over time: the faults, the writes and deliveries, and the longest delay of a delivery. */
export function timeline({ began, ended, writes, ...history }: History, dump: Dump, title: string): string {
  const length = Math.ceil((ended - began) / STEP_MS)
  const [written, delivered, delay] = [1, 2, 3].map(() => Array.from({ length }, () => 0)) as [
    number[],
    number[],
    number[],
  ]
  const stepAt = (time: number) => Math.min(length - 1, Math.max(0, Math.floor((time - began) / STEP_MS)))
  const count = (list: number[], time: number) => {
    list[stepAt(time)] = (list[stepAt(time)] ?? 0) + 1_000 / STEP_MS
  }
  for (const write of writes) if (write.outcome === 'ok') count(written, write.ended)
  for (const { receipts } of history.connections) for (const { at } of receipts) count(delivered, at)
  for (const { committed, ms } of delaysOf({ began, ended, writes, ...history }, dump))
    delay[stepAt(committed)] = Math.max(delay[stepAt(committed)] ?? 0, ms)
  const shareOf = (time: number) => (time - began) / (ended - began)
  return plot({
    title,
    duration: `${((ended - began) / 1_000).toFixed(0)} s`,
    panels: [
      { name: 'writes acknowledged, per second', series: [{ values: written }] },
      { name: 'events delivered, per second', series: [{ values: delivered }] },
      { name: 'longest time from the commit to a reader, ms', series: [{ values: delay }], bound: 3_000 },
    ],
    bands: history.faults.map((fault) => ({
      from: shareOf(fault.began),
      to: shareOf(fault.ended),
      label: [fault.kind, fault.instance, fault.detail].filter((part) => part !== undefined && part !== '').join(' '),
      color: colorOf(fault.kind),
    })),
  })
}
