import { setTimeout as pause } from 'node:timers/promises'
import { JWT_SECRET } from '@lockstep/testing/load/environment'
import { Worker } from '@lockstep/testing/load/worker'
import {
  type PostgresStore,
  type ServiceProcess,
  type Store,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@lockstep/testing/processes'
import pg from 'pg'
import type { AttackOrder } from './attack-process.ts'
import type { BystanderOrder } from './bystander-process.ts'
import type { Sample } from './judge.ts'
import { MemoryWatch } from './memory-watch.ts'
import { type Preparation, type Prepared, prepare } from './prepare.ts'

export interface StageOptions {
  /** The service to run: another version of it, unless this one. */
  main?: string | undefined
  /** Settings that differ from the defaults of production. */
  settings: Record<string, string>
  limitBytes: number
  /** Further options of `redis-server`. */
  redis?: string[]
}

/** How the services run: with further settings, and how many instances of each. */
export interface Serving {
  settings: Record<string, string>
  instances: number
}

/** One of the two equal services: its database, its Redis, and its instances while they run. */
interface Place {
  databaseUrl: string
  redis: Store
  instances: ServiceProcess[]
}

const WARM_MS = 1_500
const QUICK_MS = 100
const QUICK_TIMES = 3
const SIDES = [0, 1] as const

/**
 * Two equal services on one PostgreSQL, each with a bystander. One is attacked, the other is the control: both bystanders
 * share the machine, the database server and the moment, and only one of them shares the service with the attacker.
 */
export class Stage {
  readonly bystanders = new Worker<BystanderOrder>(new URL('bystander-process.ts', import.meta.url))
  readonly attacker = new Worker<AttackOrder>(new URL('attack-process.ts', import.meta.url))
  readonly limitBytes: number
  private readonly options: StageOptions
  private readonly postgres: PostgresStore
  private readonly places: Place[]
  private readonly prepared = new Map<string, Promise<Prepared[]>>()
  private watch: MemoryWatch | undefined
  private serving = ''

  private constructor(options: StageOptions, postgres: PostgresStore, places: Place[]) {
    this.options = options
    this.limitBytes = options.limitBytes
    this.postgres = postgres
    this.places = places
  }

  static async open(options: StageOptions): Promise<Stage> {
    const postgres = await startPostgres({ settings: ['shared_buffers=128MB'] })
    const places = await Promise.all(
      SIDES.map(async (nth) => {
        const name = `greedy_${nth}`
        await onDatabase(postgres.url, (client) => client.query(`create database ${name}`))
        const databaseUrl = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
        return { databaseUrl, redis: await startRedis(...(options.redis ?? [])), instances: [] }
      }),
    )
    return new Stage(options, postgres, places)
  }

  get peakBytes() {
    return this.watch?.peakBytes ?? 0
  }

  /** Starts both services, unless they run already with the same settings, and lets the bystanders in. */
  async serve({ settings, instances }: Serving, { isFresh }: { isFresh: boolean }) {
    const wanted = JSON.stringify({ settings, instances })
    const isUp = wanted === this.serving && this.ended().length === 0
    if (isUp && !isFresh) return
    await this.stop()
    for (const place of this.places)
      for (let i = 0; i < instances; i++) place.instances.push(await this.startAt(place, settings))
    this.serving = wanted
    this.watch = new MemoryWatch(
      this.places.flatMap((place) => place.instances),
      this.limitBytes,
    )
    await this.bystanders.ask({ do: 'prepare', services: this.places.map((place) => ({ urls: urlsOf(place) })) })
    await this.bystanders.ask({ do: 'begin' })
    await pause(WARM_MS)
    const samples = (await this.bystanders.ask({ do: 'finish' })) as Sample[][]
    const failed = samples.flat().find(({ failure }) => failure !== undefined)
    if (failed) throw new Error(`Before any attack a bystander's ${failed.kind} failed: ${failed.failure}`)
  }

  private startAt({ databaseUrl, redis }: Place, settings: Record<string, string>): Promise<ServiceProcess> {
    const fixed = { ENVIRONMENT: 'production', LOG_LEVEL: 'info', JWT_SECRET }
    const own = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url }
    return startServiceProcess({ ...fixed, ...this.options.settings, ...settings, ...own }, this.options.main)
  }

  /** Stores at both services what an attack needs; what was stored before is used again. */
  async prepare(preparation: Preparation, owner: string): Promise<Prepared[]> {
    const key = JSON.stringify([preparation, owner])
    const stored =
      this.prepared.get(key) ??
      Promise.all(this.places.map((place, nth) => this.prepareAt(place, `127.0.${20 + nth}.1`, preparation)))
    this.prepared.set(key, stored)
    // The instances may be others by now.
    return (await stored).map((each, nth) => {
      const urls = urlsOf(this.places[nth] as Place)
      return { ...each, target: { ...each.target, urls } }
    })
  }

  /** By an instance without fair shares: an attacker who is paced would need an hour for what some scenarios begin with. */
  private async prepareAt(place: Place, address: string, preparation: Preparation): Promise<Prepared> {
    const unpaced = await this.startAt(place, { FAIR_SHARES: 'off' })
    try {
      return await prepare([unpaced.base_url], address, preparation)
    } finally {
      await unpaced.end('SIGKILL')
    }
  }

  /** Waits until both services answer quickly again, so that what is left of one attack does not count for the next. */
  async settle(patienceMs = 20_000) {
    const deadline = performance.now() + patienceMs
    for (let quick = 0; quick < QUICK_TIMES && performance.now() < deadline && this.ended().length === 0; ) {
      const begun = performance.now()
      await Promise.all(
        this.places.flatMap(urlsOf).map((url) =>
          fetch(`${url}/health`, { signal: AbortSignal.timeout(patienceMs) }).then(
            (response) => response.text(),
            () => pause(100),
          ),
        ),
      )
      quick = performance.now() - begun < QUICK_MS ? quick + 1 : 0
    }
  }

  /** How processes ended that should run. */
  ended(): string[] {
    return this.places
      .flatMap((place) => place.instances)
      .filter((instance) => instance.hasEnded())
      .map((instance) => `the process ended: ${lastWords(instance, this.peakBytes > this.limitBytes)}`)
  }

  /** What one value of a statement is at a service. */
  async ask(nth: number, text: string, values: unknown[]): Promise<number> {
    const { rows } = await onDatabase((this.places[nth] as Place).databaseUrl, (client) =>
      client.query<{ value: string }>(text, values),
    )
    return Number(rows[0]?.value ?? 0)
  }

  async stop() {
    this.watch?.[Symbol.dispose]()
    await this.bystanders.ask({ do: 'leave' })
    await Promise.all(this.places.flatMap((place) => place.instances.map((instance) => instance.end('SIGKILL'))))
    for (const place of this.places) place.instances = []
    this.serving = ''
  }

  async close() {
    await this.stop()
    await Promise.all([this.bystanders.end(), this.attacker.end()])
    await Promise.all(
      [this.postgres, ...this.places.map(({ redis }) => redis)].map((store) => store.process().end('SIGINT')),
    )
  }
}

const urlsOf = ({ instances }: Place) => instances.map(({ base_url }) => base_url)

async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function lastWords(instance: ServiceProcess, isKilled: boolean): string {
  if (isKilled) return 'killed at the memory limit'
  const [line] = instance
    .output()
    .split('\n')
    .filter((each) => /"level":(50|60)|Error/.test(each))
  return line === undefined ? 'without a word' : (/"message":"([^"]+)"/.exec(line)?.[1] ?? line.slice(0, 200))
}
