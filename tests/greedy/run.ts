import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { instanceSettings, type Stores, startStores } from '@lockstep/testing/environment'
import { Worker } from '@lockstep/testing/load/worker'
import { eventually, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { type AttackCommand, attacks, type Outcomes, type Scenario } from './attacks.ts'
import type { BystanderCommand } from './bystander-process.ts'
import type { Run, Sample } from './judge.ts'
import { type Account, type Prepared, prepare } from './prepare.ts'

export interface Pace {
  /** How often an attack starts. The samples of all starts are judged together. */
  starts: number
  attackMs: number
  warmUpMs: number
  calmMs: number
}

const DATABASE = 'lockstep'
const BYSTANDER_ADDRESS = '127.0.10.1'
const ATTACKER_ADDRESSES = ['127.0.20.1', '127.0.20.2']
/** How many of the crowd one start of an attack uses. */
const CROWD = 16
const QUICK_MS = 100
const SETTLE_MS = 20_000

/** PostgreSQL, Redis, the stored data, and the processes of the bystander and of two attackers. */
export class AttackEnvironment {
  private readonly bystander = new Worker<BystanderCommand>(new URL('bystander-process.ts', import.meta.url))
  private readonly attackers = ATTACKER_ADDRESSES.map(
    () => new Worker<AttackCommand>(new URL('attack-process.ts', import.meta.url)),
  )
  private readonly stores: Stores
  private readonly data: Prepared
  private starts = 0

  private constructor(stores: Stores, data: Prepared) {
    this.stores = stores
    this.data = data
  }

  /** Stores what the scenarios need, through a service without limits: with them it would take an hour. */
  static async open(scenarios: Scenario[], scale: number): Promise<AttackEnvironment> {
    const stores = await startStores({ postgres: { shared_buffers: '128MB' } })
    // In production the service does not create its database.
    await stores.createDatabase(DATABASE)
    const unlimited = await startService(stores, { RATE_LIMITS: 'off', QUOTAS: 'off' })
    const owners = scenarios.flatMap((each) => each.attacks.flatMap((name) => attacks[name].owner ?? []))
    const data = await prepare(unlimited.baseUrl, scale, [...new Set(owners)])
    await unlimited.end('SIGKILL')
    await stores.pool(DATABASE).query('vacuum analyze')
    return new AttackEnvironment(stores, data)
  }

  /** Runs one scenario against a service that has just started, with the default limits and quotas of production. */
  async run(scenario: Scenario, { starts, attackMs, warmUpMs, calmMs }: Pace): Promise<Run> {
    const { bystander, data } = this
    const service = await startService(this.stores)
    const place = { baseUrl: service.baseUrl, localAddress: BYSTANDER_ADDRESS, accounts: data.bystander }
    await bystander.run({ do: 'prepare', ...place })
    await bystander.run({ do: 'begin' })
    await pause(warmUpMs)
    await bystander.run({ do: 'finish' })
    const run: Run = { samples: [], peakBytes: 0, hasEnded: false, outcomes: {}, idle: [] }
    for (let start = 0; start < starts && !service.hasEnded(); start++) {
      await pause(calmMs)
      // One start must not affect the next. A service that stays slow is measured as it is.
      await eventually('it responds quickly', () => service.hasEnded() || isQuick(service), SETTLE_MS).catch(() => {})
      await bystander.run({ do: 'begin' })
      await Promise.all([pause(attackMs), this.attack(scenario, service, attackMs, run)])
      run.samples.push(...((await bystander.run({ do: 'finish' })) as Sample[]))
      run.peakBytes = Math.max(run.peakBytes, peakOf(service.pid))
    }
    run.hasEnded = service.hasEnded()
    run.idle = scenario.attacks.filter((name) => !run.outcomes[`${name} ${attacks[name].reaches}`])
    await service.end('SIGKILL')
    return run
  }

  private async attack({ attacks: names, isOneAddress }: Scenario, { baseUrl }: ServiceProcess, ms: number, run: Run) {
    const { bystander, crowd: all, owners } = this.data
    // The limits of an account last for a minute. Some attacks need accounts that have not used them up.
    const from = (CROWD * this.starts++) % Math.max(1, all.length)
    const crowd = all.slice(from, from + CROWD)
    const running = names.map(async (name, i) => {
      const { owner } = attacks[name]
      const account = (owner ? owners[owner] : crowd[0]) as Account
      const localAddress = (isOneAddress ? BYSTANDER_ADDRESS : ATTACKER_ADDRESSES[i]) as string
      const command = { name, baseUrl, localAddress, account, crowd, victims: [...bystander, ...all], ms }
      const outcomes = (await this.attackers[i]?.run(command)) as Outcomes
      for (const [outcome, count] of Object.entries(outcomes))
        run.outcomes[`${name} ${outcome}`] = count + (run.outcomes[`${name} ${outcome}`] ?? 0)
    })
    await Promise.all(running)
  }

  async close() {
    await Promise.all([this.bystander, ...this.attackers].map((worker) => worker.end()))
    await this.stores[Symbol.asyncDispose]()
  }
}

function startService(stores: Stores, settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const own = instanceSettings(stores.url(DATABASE), stores.redis.url)
  return startServiceProcess({ ...own, ENVIRONMENT: 'production', LOG_LEVEL: 'info', ...settings })
}

async function isQuick({ baseUrl }: ServiceProcess): Promise<boolean> {
  const begun = performance.now()
  const response = await fetch(`${baseUrl}/health`).catch(() => undefined)
  await response?.text()
  return response?.status === 200 && performance.now() - begun < QUICK_MS
}

/** Peak resident memory of a process, from the kernel, so that no peak between two samples is missed. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
  } catch {
    // It has ended.
    return 0
  }
}
