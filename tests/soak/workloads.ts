import { Worker } from '@lockstep/testing/load/worker'
import { emptyReport, type WorkloadOptions, type WorkloadReport } from './workload.ts'
import type { WorkloadCommand } from './workload-process.ts'

/** Workloads in their own processes, so that they share no thread with the service or with the measurement. */
export class Workloads {
  private readonly workers: Worker<WorkloadCommand>[]
  /** Processes that exited before they were stopped. */
  readonly exits: string[] = []
  private isOver = false

  constructor(count: number) {
    this.workers = Array.from({ length: count }, () => {
      const worker = new Worker<WorkloadCommand>(new URL('workload-process.ts', import.meta.url))
      void worker.exited.then((code) => !this.isOver && this.exits.push(`a workload exited with ${code}`))
      return worker
    })
  }

  start = (options: WorkloadOptions[]) =>
    this.runAll((nth) => ({ do: 'start', options: options[nth] as WorkloadOptions }))

  report = () => this.runAll(() => ({ do: 'report' }))

  async stop(): Promise<WorkloadReport> {
    const report = await this.runAll(() => ({ do: 'stop' }))
    await this.end()
    return report
  }

  async end() {
    this.isOver = true
    await Promise.all(this.workers.map((worker) => worker.end()))
  }

  /** The sum of all reports. A process that has exited reports nothing. */
  private async runAll(commandOf: (nth: number) => WorkloadCommand): Promise<WorkloadReport> {
    const reports = await Promise.all(
      this.workers.map((worker, nth) => worker.run(commandOf(nth)).catch(() => emptyReport())),
    )
    return (reports as WorkloadReport[]).reduce(sumOf, emptyReport())
  }
}

function sumOf(a: WorkloadReport, b: WorkloadReport): WorkloadReport {
  const sum = (x: Record<string, number>, y: Record<string, number>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(x), ...Object.keys(y)])].map((key) => [key, (x[key] ?? 0) + (y[key] ?? 0)]),
    )
  return {
    actions: sum(a.actions, b.actions),
    rejections: sum(a.rejections, b.rejections),
    settled: sum(a.settled, b.settled),
    live: a.live + b.live,
    unchanged: a.unchanged + b.unchanged,
    cuts: a.cuts + b.cuts,
    stalls: a.stalls + b.stalls,
    reconnects: a.reconnects + b.reconnects,
    compared: a.compared + b.compared,
    failures: [...a.failures, ...b.failures],
  }
}
