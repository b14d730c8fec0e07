import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { REVISION, VERSION } from '../platform/version.ts'
import { definitions, type Labels } from './metric-definitions.ts'

type Definitions = typeof definitions
/** The values of each label: one of a list, or a string from a bounded set. */
type LabelValues<L extends Labels> = { [K in keyof L]: L[K] extends readonly (infer V extends string)[] ? V : string }

export interface CounterMeter<L extends Labels> {
  inc: (labels: LabelValues<L>, by?: number) => void
  /** Sets the total of something that is counted elsewhere. */
  total: (labels: LabelValues<L>, value: number) => void
}
export interface GaugeMeter<L extends Labels> {
  set: (labels: LabelValues<L>, value: number) => void
}
export interface HistogramMeter<L extends Labels> {
  observe: (labels: LabelValues<L>, value: number) => void
}
type MeterOf<D> = D extends { kind: 'counter'; labels: infer L extends Labels }
  ? CounterMeter<L>
  : D extends { kind: 'gauge'; labels: infer L extends Labels }
    ? GaugeMeter<L>
    : D extends { kind: 'histogram'; labels: infer L extends Labels }
      ? HistogramMeter<L>
      : never
/** Every metric of the service, by name. */
export type Meters = { [N in keyof Definitions]: MeterOf<Definitions[N]> }

const silent = { inc: () => {}, total: () => {}, set: () => {}, observe: () => {} }

/** The metrics of one instance. When no metrics endpoint is configured, nothing is counted. Gauges are read at each scrape. */
export class Metrics {
  readonly meters: Meters
  readonly isOn: boolean
  private readonly registry = new Registry()
  private readonly scrapeHooks: (() => void)[] = []

  constructor(isOn: boolean) {
    this.isOn = isOn
    const made = Object.entries(definitions).map(([name, definition]) => [
      name,
      isOn ? makeMeter(name, definition, this.registry) : silent,
    ])
    // The compiler cannot infer through `Object.entries` that each meter has the type of its definition.
    this.meters = Object.fromEntries(made) as Meters
    this.meters.lockstep_build_info.set({ version: VERSION, revision: REVISION ?? 'unknown' }, 1)
  }

  /** Calls the hook before each scrape, to update gauges. */
  onScrape(hook: () => void) {
    this.scrapeHooks.push(hook)
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    for (const hook of this.scrapeHooks) hook()
    const parts = await Promise.all([this.registry.metrics(), processMetrics().metrics()])
    return parts.join('\n')
  }

  get type(): string {
    return this.registry.contentType
  }
}

function makeMeter(name: string, definition: Definitions[keyof Definitions], registry: Registry) {
  const { kind, help } = definition
  const labels: Labels = definition.labels
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry] }
  if (kind === 'gauge') return new Gauge(options)
  // Every series starts at zero: a rate over a series that appears later would miss its first increase.
  if (kind === 'histogram') {
    const histogram = new Histogram({ ...options, buckets: [...definition.buckets] })
    for (const values of combinations(labels)) histogram.zero(values)
    return histogram
  }
  const counter = new Counter(options)
  for (const values of combinations(labels)) counter.inc(values, 0)
  return {
    inc: (values: Record<string, string>, by?: number) => counter.inc(values, by),
    total: (values: Record<string, string>, value: number) => {
      counter.remove(values)
      counter.inc(values, value)
    },
  }
}

/** All combinations of label values, if every label lists its values. */
function combinations(labels: Labels): Record<string, string>[] {
  let all: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return []
    all = all.flatMap((combination) => values.map((value) => ({ ...combination, [label]: value })))
  }
  return all
}

/** Default metrics of the library whose names break the conventions of Prometheus. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
]
let processRegistry: Registry | undefined
/** Memory, CPU, event loop and garbage collection. One registry per process, because a test may run several services in it. */
function processMetrics(): Registry {
  if (processRegistry) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry, eventLoopUtilizationTimeout: 1_000 })
  for (const name of misnamed) processRegistry.removeSingleMetric(name)
  return processRegistry
}
