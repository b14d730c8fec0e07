import { plot } from '@lockstep/testing/plot'
import type { InstanceSample, Sample, StoreSample } from './sampler.ts'

const panels: [name: string, of: (sample: Sample) => number[]][] = [
  ['resident memory, MiB', ofInstances('rss_mib')],
  ['heap in use, MiB', ofInstances('heap_mib')],
  ['event-loop lag, p99, ms', ofInstances('lag_p99_ms')],
  ['event-loop lag, p50, ms', ofInstances('lag_p50_ms')],
  ['wait for a connection, mean, ms', ofInstances('pool_wait_ms')],
  ['wait for a connection, p99, ms', ofInstances('pool_wait_p99_ms')],
  ['requests per second', ofInstances('requests_per_second')],
  ['latency, p99, ms', ofInstances('latency_p99_ms')],
  ['open sockets', ofInstances('sockets')],
  ['open files', ofInstances('files')],
  ['PostgreSQL: boards and files, MiB', ofStore('content_mib')],
  ['Redis, MiB', ofStore('redis_mib')],
]
function ofInstances(name: keyof InstanceSample) {
  return ({ instances }: Sample) => instances.map((instance) => instance[name])
}
function ofStore(name: keyof StoreSample) {
  return ({ stores }: Sample) => [stores[name]]
}

/** All samples over time, one panel for each measure. The warm-up is shaded. */
export function chartOf(samples: readonly Sample[], title: string): string {
  return plot({
    title,
    duration: `${((samples.at(-1)?.atS ?? 0) / 60).toFixed(0)} min`,
    columns: 2,
    bands: [{ from: 0, to: 1 / 3, color: '#9ca3af' }],
    panels: panels.map(([name, of]) => {
      const values = samples.map(of)
      const count = values[0]?.length ?? 0
      const series = Array.from({ length: count }, (_, nth) => ({
        name: count > 1 ? `instance ${nth + 1}` : '',
        values: values.map((all) => all[nth] ?? 0),
      }))
      return { name, series }
    }),
  })
}
