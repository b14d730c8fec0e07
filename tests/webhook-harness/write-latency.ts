import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { withCpu } from '@lockstep/testing/load/measure'
import { eventually, inherited, launch, type ServiceProcess } from '@lockstep/testing/processes'
import { median, percentile } from '@lockstep/testing/statistics'
import { type HarnessBoard, HarnessService } from './environment.ts'

export interface LatencySize {
  /** Boards that are written to, and how many of them have a webhook. */
  boards: number
  webhooks: number
  pairs: number
  windowSeconds: number
}
export interface WriteLatency {
  /** Writes per second: half of what is possible. */
  rate: number
  /** Medians of the seconds of all windows, in milliseconds. */
  p95: { without: number; with: number }
  /** The ratio of each pair of windows, sorted. */
  ratios: number[]
  deliveries: number
  /** CPU time of a delivery in microseconds: what windows with webhooks take more than those without. */
  cpu: { service: number; postgres: number }
}

const USERS = 10
const CAPACITY_SECONDS = 5
const CAPACITY_WRITERS = 16
/** Instances learn within this time that a board has webhooks, or none. */
const SWITCH_MS = 6_500
/** CPU times, and the 95th percentile of each second, in milliseconds. */
interface Window {
  p95s: number[]
  service: number
  postgres: number
}
const NONE: Window = { p95s: [], service: 0, postgres: 0 }
const RECEIVER = fileURLToPath(new URL('receiver-process.ts', import.meta.url))

/**
 * Measures how much longer writes take while events are sent to webhooks. The percentile is taken per second, and the median of
 * the seconds counts: a moment in which the machine stands still changes one second, and not the whole window.
 */
export async function measureWriteLatency(
  { boards: count, webhooks, pairs, windowSeconds }: LatencySize,
  progress: (line: string) => void,
): Promise<WriteLatency> {
  await using service = await HarnessService.start(1, {})
  const receiver = launch(process.execPath, [RECEIVER], { env: inherited })
  const port = await eventually('the receiver listens', () => /^\d+/.exec(receiver.output())?.[0])
  const instance = service.instances[0] as ServiceProcess
  const boards = await service.makeBoards(count, USERS)
  for (const board of boards.slice(0, webhooks)) await service.makeWebhook(board, `http://127.0.0.1:${port}/hook`)
  const load = new SteadyLoad(instance.baseUrl, boards)
  const setWebhooks = async (isOn: boolean) => {
    // A webhook that was disabled does not catch up.
    await service.query(
      `update webhooks hook set is_enabled = $1, seq = stream.last_seq, fence = fence + 1, held_until = null
       from board_stream stream where stream.board_id = hook.board_id`,
      [isOn],
    )
    await pause(SWITCH_MS)
  }
  const sent = async () => {
    const [row] = await service.query<{ count: number }>('select count(*)::int as count from webhook_deliveries')
    return row?.count ?? 0
  }
  const pids = { service: instance.pid, postgres: service.stores.postgres.process().pid }
  const measure = async (rate: number): Promise<Window> => {
    const { result: times, cpu } = await withCpu(pids, () => load.times(rate, windowSeconds))
    const secondOf = (nth: number) => times.slice(Math.floor(nth * rate), Math.floor((nth + 1) * rate))
    return { p95s: Array.from({ length: windowSeconds }, (_, nth) => percentile(secondOf(nth), 95)), ...cpu }
  }

  await setWebhooks(false)
  await load.capacity(CAPACITY_SECONDS)
  const capacity = await load.capacity(CAPACITY_SECONDS)
  const rate = capacity / 2
  progress(`${Math.round(capacity)} writes per second at most`)
  // Code that sends has to be compiled too.
  await setWebhooks(true)
  await measure(rate)
  const sentBefore = await sent()
  const windows: { without: Window; with: Window }[] = []
  for (let nth = 0; nth < pairs; nth++) {
    const pair = { without: NONE, with: NONE }
    // Every second pair begins with the other one, so that a trend of the machine cancels out.
    for (const which of nth % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      await setWebhooks(which === 'with')
      pair[which] = await measure(rate)
    }
    windows.push(pair)
    const shown = (which: 'without' | 'with') => `${median(pair[which].p95s).toFixed(2)} ms ${which}`
    progress(`p95 ${shown('without')}, ${shown('with')} webhooks`)
  }
  load.close()
  await receiver.end()
  const deliveries = (await sent()) - sentBefore
  const medianOf = (which: 'without' | 'with') => median(windows.flatMap((pair) => pair[which].p95s))
  const cpuOf = (what: 'service' | 'postgres') =>
    (windows.reduce((sum, pair) => sum + pair.with[what] - pair.without[what], 0) * 1_000) / deliveries
  return {
    ...{ rate, deliveries },
    p95: { without: medianOf('without'), with: medianOf('with') },
    ratios: windows.map((pair) => median(pair.with.p95s) / median(pair.without.p95s)).toSorted((a, b) => a - b),
    cpu: { service: cpuOf('service'), postgres: cpuOf('postgres') },
  }
}

/** Changes cards of all boards in turn. */
class SteadyLoad {
  private readonly baseUrl: string
  private readonly boards: HarnessBoard[]
  private clients: HttpClient[] = []
  private nth = 0

  constructor(baseUrl: string, boards: HarnessBoard[]) {
    this.baseUrl = baseUrl
    this.boards = boards
  }

  /** Writes per second of writers that wait for each response. */
  async capacity(seconds: number): Promise<number> {
    this.connect()
    const end = performance.now() + seconds * 1_000
    let written = 0
    const writer = async () => {
      for (; performance.now() < end; written++) await this.write()
    }
    await Promise.all(Array.from({ length: CAPACITY_WRITERS }, writer))
    return written / seconds
  }

  /** Milliseconds of writes that begin at a fixed rate, counted from when they should have begun. */
  async times(rate: number, seconds: number): Promise<number[]> {
    this.connect()
    const began = performance.now()
    const running: Promise<number>[] = []
    for (let nth = 0; nth < rate * seconds; nth++) {
      const due = began + (nth * 1_000) / rate
      while (performance.now() < due) await pause(Math.max(1, due - performance.now()))
      running.push(this.write().then(() => performance.now() - due))
    }
    return Promise.all(running)
  }

  close() {
    for (const client of this.clients) client.close()
  }

  /** New connections for each window: between windows the service closes idle ones, and a request on such a one would fail. */
  private connect() {
    this.close()
    this.clients = this.boards.map(({ token }) => new HttpClient(this.baseUrl, token))
  }

  private async write() {
    const nth = this.nth++ % this.boards.length
    const path = `/cards/${this.boards[nth]?.card_id}`
    const response = await this.clients[nth]?.json('PATCH', path, { title: `Title ${this.nth}` })
    if (response?.status !== 200) throw new Error(`A card could not be changed: ${response?.status}`)
  }
}
