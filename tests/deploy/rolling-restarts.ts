import { freePort } from '@lockstep/testing/ports'
import {
  endProcesses,
  eventually,
  type ServiceProcess,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@lockstep/testing/processes'
import pg from 'pg'
import { Clients, type Load, type Outcome } from './load.ts'
import { type BoardProxy, startCaddy, startHaproxy, startNginx } from './proxies.ts'

export interface RestartOutcome extends Outcome {
  exitCodes: (number | null)[]
  /** The log of the proxy. */
  log: string
}
export type Kind = 'Caddy' | 'HAProxy' | 'nginx'
const proxies: Record<Kind, (ports: [number, number]) => Promise<BoardProxy>> = {
  Caddy: startCaddy,
  HAProxy: startHaproxy,
  nginx: startNginx,
}
const JWT_SECRET = 'hush-hush-signing-secret-of-the-rolling-restart'
/** Shorter than in the deployment files, to keep the test short. */
const UNREADY_SECONDS = 2
const DRAIN_SECONDS = 1

/** Restarts two instances behind a real proxy, one after the other, while clients keep working. */
export async function restartUnderLoad(kind: Kind, load: Load): Promise<RestartOutcome> {
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
      // How long a change may wait for its board is not tested here.
      BOARD_WAIT_MS: '60000',
      ...times,
    }
    const ports: [number, number] = [await freePort(), await freePort()]
    const start = (instance: 0 | 1) => startServiceProcess({ ...settings, PORT: String(ports[instance]) })
    const instances: [ServiceProcess, ServiceProcess] = [await start(0), await start(1)]
    const proxy = await proxies[kind](ports)
    const clients = new Clients(proxy.baseUrl, load)
    await clients.start()

    const exitCodes: (number | null)[] = []
    for (const instance of [0, 1] as const) {
      await proxy.leaving(instance)
      exitCodes.push(await instances[instance].end('SIGTERM'))
      instances[instance] = await start(instance)
      await eventually('the new instance is ready', () =>
        fetch(`${instances[instance].baseUrl}/ready`).then(({ ok }) => ok),
      )
      await proxy.back(instance)
    }
    const sql = new pg.Pool({ connectionString: DATABASE_URL, max: 2 })
    const outcome = await clients.stop(async (board_id) => {
      const events = 'select seq::int from board_events where board_id = $1 order by seq'
      const cards = 'select id from cards where board_id = $1'
      const [log, existing] = await Promise.all([
        sql.query<{ seq: number }>(events, [board_id]),
        sql.query<{ id: string }>(cards, [board_id]),
      ])
      return { log: log.rows.map(({ seq }) => seq), cards: new Set(existing.rows.map(({ id }) => id)) }
    })
    await sql.end()
    return { ...outcome, exitCodes, log: await proxy.log() }
  } finally {
    await endProcesses()
  }
}
