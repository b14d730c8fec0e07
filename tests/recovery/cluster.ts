import { readFileSync } from 'node:fs'
import { eventually, type PostgresStore, runAsPostgres, startPostgres } from '@lockstep/testing/processes'
import pg from 'pg'
import { blockOf, settingsOf } from './page.ts'

export interface Server extends PostgresStore {
  /** Its `cluster_name`, by which the primary identifies it as a standby. */
  name: string
}

/** Runs one query on a new connection. */
export async function query<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** The address of the service's database on a server. */
export const databaseOn = ({ url }: { url: string }) => Object.assign(new URL(url), { pathname: '/lockstep' }).href

/** A primary with an empty database. */
export const startPrimary = async (name: string): Promise<Server> => ({
  name,
  ...(await startPostgres({ settings: settingsOf('server', { NAME: name }) })),
})

/** A standby, created with the documented commands. */
export const startStandby = async (name: string, PRIMARY: string): Promise<Server> => ({
  name,
  ...(await startPostgres({
    settings: settingsOf('server', { NAME: name }),
    make: (DATA) => runAsPostgres(blockOf('standby'), { PRIMARY, DATA }),
  })),
})

/** Kills all processes of the server at once, like a machine that loses power. */
export const kill = (server: Server) => signalAll(server, 'SIGKILL')
/** Pauses all processes of the server and keeps its connections, like a machine that hangs. */
export const freeze = (server: Server) => signalAll(server, 'SIGSTOP')
export const thaw = (server: Server) => signalAll(server, 'SIGCONT')

/** Each PostgreSQL process has its own process group. The postmaster is paused first, so that it starts no new ones. */
function signalAll(server: Server, signal: NodeJS.Signals) {
  const { pid } = server.process()
  server.process().signal('SIGSTOP')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  for (const child of children) {
    try {
      process.kill(Number(child), signal)
    } catch {
      // It has already exited.
    }
  }
  server.process().signal(signal)
}

/** A primary with two synchronous standbys (ANY 1). Each server can become the primary. */
export async function startCluster() {
  const first = await startPrimary('server_1')
  await runAsPostgres(blockOf('synchronous'), { PRIMARY: first.url })
  const names = ['server_2', 'server_3']
  let primary = first
  let standbys = await Promise.all(names.map((each) => startStandby(each, first.url)))
  const standbysFollow = () =>
    eventually('both standbys follow', async () => {
      const rows = await query(primary.url, `select from pg_stat_replication where state = 'streaming'`)
      return rows.length === 2
    })
  await standbysFollow()

  /** Fails over with the documented commands. Returns the old primary. */
  const failOver = async (): Promise<Server> => {
    const gone = primary
    const received = await Promise.all(
      standbys.map(async (server) => {
        const [row] = await query<{ bytes: string }>(server.url, blockOf('received'))
        return { server, bytes: Number(row?.bytes) }
      }),
    )
    const [best, ...others] = received.toSorted((a, b) => b.bytes - a.bytes).map(({ server }) => server)
    if (!best) throw new Error('no standby left')
    await runAsPostgres(blockOf('promote'), { STANDBY: best.url })
    primary = best
    standbys = others
    for (const other of others) await runAsPostgres(blockOf('follow'), { STANDBY: other.url, PRIMARY: best.url })
    return gone
  }
  /** Starts a new standby with the name of a lost server. */
  const replace = async ({ name }: Server) => {
    standbys = [...standbys, await startStandby(name, primary.url)]
    await standbysFollow()
  }
  return { primary: () => primary, failOver, replace }
}
export type Cluster = Awaited<ReturnType<typeof startCluster>>
