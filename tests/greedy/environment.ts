import { setTimeout as pause } from 'node:timers/promises'
import { instanceSettings, type Stores, startStores } from '@lockstep/testing/environment'
import { Worker } from '@lockstep/testing/load/worker'
import { type ServiceProcess, type Store, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import type { AttackCommand } from './attack-process.ts'
import type { BystanderCommand } from './bystander-process.ts'
import type { Sample } from './judge.ts'
import { MemoryWatch } from './memory-watch.ts'
import { type Preparation, type Prepared, prepare } from './prepare.ts'

export interface EnvironmentOptions {
  /** Main module of another version of the service. */
  main?: string | undefined
  /** Settings that differ from the production defaults. */
  settings: Record<string, string>
  limitBytes: number
  /** Further options of `redis-server`. */
  redis?: string[]
}

/** Additional settings, and the number of instances of each service. */
export interface ServiceOptions {
  settings: Record<string, string>
  instances: number
}

/** One of the two equal services: its database, its Redis, and its running instances. */
interface Service {
  database: string
  redis: Store
  instances: ServiceProcess[]
}

const WARM_MS = 1_500
const QUICK_MS = 100
const QUICK_TIMES = 3

/**
 * Two equal services on one PostgreSQL, each with a bystander. One is attacked, the other is the control: both bystanders
 * use the same machine and database server at the same time, but only one of them shares the service with the attacker.
 */
export class AttackEnvironment {
  readonly bystanders = new Worker<BystanderCommand>(new URL('bystander-process.ts', import.meta.url))
  readonly attacker = new Worker<AttackCommand>(new URL('attack-process.ts', import.meta.url))
  readonly limitBytes: number
  private readonly options: EnvironmentOptions
  private readonly stores: Stores
  private readonly services: Service[]
  private readonly prepared = new Map<string, Promise<Prepared[]>>()
  private watch: MemoryWatch | undefined
  private running = ''

  private constructor(options: EnvironmentOptions, stores: Stores, services: Service[]) {
    this.options = options
    this.limitBytes = options.limitBytes
    this.stores = stores
    this.services = services
  }

  static async open(options: EnvironmentOptions): Promise<AttackEnvironment> {
    const redis = options.redis ?? []
    const stores = await startStores({ postgres: { shared_buffers: '128MB' }, redis })
    const services = [stores.redis, await startRedis(...redis)].map((store, nth) => ({
      database: `service_${nth}`,
      redis: store,
      instances: [],
    }))
    // In production the service does not create its database.
    for (const { database } of services) await stores.createDatabase(database)
    return new AttackEnvironment(options, stores, services)
  }

  get peakBytes() {
    return this.watch?.peakBytes ?? 0
  }

  /** Starts both services and their bystanders, unless they already run with the same settings. */
  async start({ settings, instances }: ServiceOptions, { isFresh }: { isFresh: boolean }) {
    const wanted = JSON.stringify({ settings, instances })
    const isRunning = wanted === this.running && this.ended().length === 0
    if (isRunning && !isFresh) return
    await this.stop()
    for (const service of this.services)
      for (let i = 0; i < instances; i++) service.instances.push(await this.startInstance(service, settings))
    this.running = wanted
    this.watch = new MemoryWatch(
      this.services.flatMap((service) => service.instances),
      this.limitBytes,
    )
    await this.bystanders.run({ do: 'prepare', services: this.services.map((service) => ({ urls: urlsOf(service) })) })
    await this.bystanders.run({ do: 'begin' })
    await pause(WARM_MS)
    const samples = (await this.bystanders.run({ do: 'finish' })) as Sample[][]
    const failed = samples.flat().find(({ failure }) => failure !== undefined)
    if (failed) throw new Error(`Before any attack a bystander's ${failed.kind} failed: ${failed.failure}`)
  }

  private startInstance({ database, redis }: Service, settings: Record<string, string>): Promise<ServiceProcess> {
    const own = { ...instanceSettings(this.stores.url(database), redis.url), LOG_LEVEL: 'info' }
    return startServiceProcess(
      { ...own, ENVIRONMENT: 'production', ...this.options.settings, ...settings },
      this.options.main,
    )
  }

  /** Creates the data that an attack needs at both services, once for each preparation. */
  async prepare(preparation: Preparation, owner: string): Promise<Prepared[]> {
    const key = JSON.stringify([preparation, owner])
    const stored =
      this.prepared.get(key) ??
      Promise.all(this.services.map((service, nth) => this.prepareAt(service, `127.0.${20 + nth}.1`, preparation)))
    this.prepared.set(key, stored)
    // The instances may have been restarted since.
    return (await stored).map((each, nth) => {
      const urls = urlsOf(this.services[nth] as Service)
      return { ...each, target: { ...each.target, urls } }
    })
  }

  /** Through an instance without fair shares: with them, some preparations would take an hour. */
  private async prepareAt(service: Service, address: string, preparation: Preparation): Promise<Prepared> {
    const unpaced = await this.startInstance(service, { FAIR_SHARES: 'off' })
    try {
      return await prepare([unpaced.baseUrl], address, preparation)
    } finally {
      await unpaced.end('SIGKILL')
    }
  }

  /** Waits until both services respond quickly again, so that one attack does not affect the next. */
  async settle(patienceMs = 20_000) {
    const deadline = performance.now() + patienceMs
    for (let quick = 0; quick < QUICK_TIMES && performance.now() < deadline && this.ended().length === 0; ) {
      const begun = performance.now()
      await Promise.all(
        this.services.flatMap(urlsOf).map((url) =>
          fetch(`${url}/health`, { signal: AbortSignal.timeout(patienceMs) }).then(
            (response) => response.text(),
            () => pause(100),
          ),
        ),
      )
      quick = performance.now() - begun < QUICK_MS ? quick + 1 : 0
    }
  }

  /** Describes how processes ended that should be running. */
  ended(): string[] {
    return this.services
      .flatMap((service) => service.instances)
      .filter((instance) => instance.hasEnded())
      .map((instance) => `the process ended: ${lastError(instance, this.peakBytes > this.limitBytes)}`)
  }

  /** The column `value` of a query on the database of a service. */
  async query(nth: number, text: string, values: unknown[]): Promise<number> {
    const pool = this.stores.pool((this.services[nth] as Service).database)
    const { rows } = await pool.query<{ value: string }>(text, values)
    return Number(rows[0]?.value ?? 0)
  }

  async stop() {
    this.watch?.[Symbol.dispose]()
    await this.bystanders.run({ do: 'leave' })
    await Promise.all(this.services.flatMap(({ instances }) => instances.map((instance) => instance.end('SIGKILL'))))
    for (const service of this.services) service.instances = []
    this.running = ''
  }

  async close() {
    await this.stop()
    await Promise.all([this.bystanders.end(), this.attacker.end()])
    await this.stores[Symbol.asyncDispose]()
  }
}

const urlsOf = ({ instances }: Service) => instances.map(({ baseUrl }) => baseUrl)

function lastError(instance: ServiceProcess, isKilled: boolean): string {
  if (isKilled) return 'killed at the memory limit'
  const [line] = instance
    .output()
    .split('\n')
    .filter((each) => /"level":"(error|fatal)"|Error/.test(each))
  return line === undefined
    ? 'without an error in its log'
    : (/"message":"([^"]+)"/.exec(line)?.[1] ?? line.slice(0, 200))
}
