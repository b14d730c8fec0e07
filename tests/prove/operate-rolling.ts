import pg from 'pg'
import { freePort } from '../../packages/server/testing/ports.ts'
import {
  endProcesses,
  eventually,
  type ServiceProcess,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '../../packages/server/testing/processes.ts'
import { Clients, type Load, type Outcome } from '../deploy/load.ts'
import { type BoardProxy, startHaproxy, startNginx } from '../deploy/proxies.ts'
import { collectGoals, is, told } from './goals.ts'
import type { Progress, Report } from './report.ts'

export interface Rolled extends Outcome {
  restarts: number
  seconds: number
  exit_codes: (number | null)[]
  log: string
}
type Kind = 'HAProxy' | 'nginx'
const proxies: Record<Kind, (ports: [number, number]) => Promise<BoardProxy>> = {
  HAProxy: startHaproxy,
  nginx: startNginx,
}
const JWT_SECRET = 'hush-hush-signing-secret-of-the-rolling-restart'
/** What the proof sets; longer is what the deployment files say. How long a change may wait is not what is asked here. */
const UNREADY_SECONDS = 2
const DRAIN_SECONDS = 1

/** Two instances behind a real proxy, restarted one after the other, again and again, under clients that go on. */
export async function rollUnderLoad(kind: Kind, rounds: number, load: Load, progress: Progress): Promise<Rolled> {
  try {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    const DATABASE_URL = Object.assign(new URL(postgres.url), { pathname: '/lockstep' }).href
    const times = { UNREADY_SECONDS: String(UNREADY_SECONDS), DRAIN_SECONDS: String(DRAIN_SECONDS) }
    const settings = {
      DATABASE_URL,
      REDIS_URL: redis.url,
      JWT_SECRET,
      LOG_LEVEL: 'warn',
      TRUST_PROXY: '1',
      BOARD_WAIT_MS: '60000',
      ...times,
    }
    const ports: [number, number] = [await freePort(), await freePort()]
    const start = (instance: 0 | 1) => startServiceProcess({ ...settings, PORT: String(ports[instance]) })
    const instances: [ServiceProcess, ServiceProcess] = [await start(0), await start(1)]
    const proxy = await proxies[kind](ports)
    const clients = new Clients(proxy.base_url, load)
    await clients.start()

    const began = performance.now()
    const exit_codes: (number | null)[] = []
    for (let round = 1; round <= rounds; round++) {
      for (const instance of [0, 1] as const) {
        await proxy.leaving(instance)
        exit_codes.push(await instances[instance].end('SIGTERM'))
        instances[instance] = await start(instance)
        await eventually('it is ready', () => fetch(`${instances[instance].base_url}/ready`).then(({ ok }) => ok))
        await proxy.back(instance)
      }
      progress(
        `${kind}: ${round} of ${rounds} rounds, ${clients.requests} requests, ${clients.failures.length} failed${clients.failures[0] === undefined ? '' : `: ${clients.failures[0]}`}`,
      )
    }
    const seconds = (performance.now() - began) / 1_000
    const sql = new pg.Pool({ connectionString: DATABASE_URL, max: 2 })
    const outcome = await clients.stop(async (board_id) => {
      const events = 'select seq::int from board_events where board_id = $1 order by seq'
      const cards = 'select id from cards where board_id = $1'
      const [log, there] = await Promise.all([
        sql.query<{ seq: number }>(events, [board_id]),
        sql.query<{ id: string }>(cards, [board_id]),
      ])
      return { log: log.rows.map(({ seq }) => seq), cards: new Set(there.rows.map(({ id }) => id)) }
    })
    await sql.end()
    return { ...outcome, restarts: rounds * 2, seconds, exit_codes, log: await proxy.log() }
  } finally {
    await endProcesses()
  }
}

export async function prove(progress: Progress): Promise<Report> {
  const goals = collectGoals(progress)
  const load = { writers: 16, readers: 4, sockets: 50, pause_ms: 100 }
  for (const [kind, rounds] of [
    ['HAProxy', 20],
    ['nginx', 3],
  ] as const) {
    const rolled = await rollUnderLoad(kind, rounds, load, progress)
    const { restarts, seconds, requests, failed, longest_ms, reconnects, closes, events, lost, exit_codes } = rolled
    for (const sentence of [...failed, ...lost].slice(0, 10)) goals.fail(`${kind}: ${sentence}`)
    goals.add(
      `Rolling restarts behind ${kind}`,
      'Every request is sent once, without a key, and is expected to succeed. Every socket resumes where it left off; in the end what it was told is held against the log of its board, and what was acknowledged against the cards.',
      [
        told('restarts', restarts, ''),
        told('time', Math.round(seconds), 's'),
        told('requests', requests, ''),
        is('failed requests and handshakes', failed.length, 0),
        told('longest request', Math.round(longest_ms), 'ms'),
        told('sockets that were sent away and resumed', reconnects, ''),
        is('of these closed with another code than 1012', reconnects - (closes[1012] ?? 0), 0),
        told('events received', events, ''),
        is('events lost, repeated or out of order, and acknowledged writes that are gone', lost.length, 0),
        is('instances that did not exit with 0', exit_codes.filter((code) => code !== 0).length, 0),
      ],
    )
  }
  const setting = {
    ...load,
    unready_seconds: UNREADY_SECONDS,
    drain_seconds: DRAIN_SECONDS,
    boards: 6,
    board_wait_ms: 60_000,
  }
  return { title: 'Rolling restarts under load', setting, sections: goals.sections, violations: goals.violations }
}
