import { readFileSync } from 'node:fs'
import { eventually, type PostgresStore, runAsPostgres, startPostgres } from '@lockstep/testing/processes'
import pg from 'pg'
import { blockOf, settingsOf } from './page.ts'

export interface Server extends PostgresStore {
  /** Its `cluster_name`, by which others know it as their standby. */
  name: string
}

/** One question to a server, on a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** The database of the service on a server. */
export const databaseOn = ({ url }: { url: string }) => Object.assign(new URL(url), { pathname: '/lockstep' }).href

/** A server with an empty database, that others may follow. */
export const startFirst = async (name: string): Promise<Server> => ({
  name,
  ...(await startPostgres({ settings: settingsOf('server', { NAME: name }) })),
})

/** A server that copies another and follows it, by the commands of the page. */
export const startStandby = async (name: string, PRIMARY: string): Promise<Server> => ({
  name,
  ...(await startPostgres({
    settings: settingsOf('server', { NAME: name }),
    make: (DATA) => runAsPostgres(blockOf('standby'), { PRIMARY, DATA }),
  })),
})

/** The server and every process of it stop at this instant: as when its machine stops, without a word to anybody. */
export const kill = (server: Server) => signalAll(server, 'SIGKILL')
/** Nothing of it moves, and its connections stay: as a machine that hangs. */
export const freeze = (server: Server) => signalAll(server, 'SIGSTOP')
export const thaw = (server: Server) => signalAll(server, 'SIGCONT')

/** Each process of PostgreSQL is in a group of its own. The postmaster is held meanwhile, so that no new ones come. */
function signalAll(server: Server, signal: NodeJS.Signals) {
  const { pid } = server.process()
  server.process().signal('SIGSTOP')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  for (const child of children) {
    try {
      process.kill(Number(child), signal)
    } catch {
      // It ended by itself meanwhile.
    }
  }
  server.process().signal(signal)
}

/** A primary and two standbys, of which one must have a commit before it is acknowledged. Each may become the primary. */
export async function startCluster() {
  const first = await startFirst('server_1')
  await runAsPostgres(blockOf('synchronous'), { PRIMARY: first.url })
  const names = ['server_2', 'server_3']
  let primary = first
  let standbys = await Promise.all(names.map((each) => startStandby(each, first.url)))
  const isFollowed = () =>
    eventually('both standbys follow', async () => {
      const rows = await ask(primary.url, `select from pg_stat_replication where state = 'streaming'`)
      return rows.length === 2
    })
  await isFollowed()

  /** What the page says is to be done when the primary is gone. Answers the server that is gone. */
  const failOver = async (): Promise<Server> => {
    const gone = primary
    const received = await Promise.all(
      standbys.map(async (server) => {
        const [row] = await ask<{ bytes: string }>(server.url, blockOf('received'))
        return { server, bytes: Number(row?.bytes) }
      }),
    )
    const [best, ...others] = received.toSorted((a, b) => b.bytes - a.bytes).map(({ server }) => server)
    if (!best) throw new Error('There is no standby')
    await runAsPostgres(blockOf('promote'), { STANDBY: best.url })
    primary = best
    standbys = others
    for (const other of others) await runAsPostgres(blockOf('follow'), { STANDBY: other.url, PRIMARY: best.url })
    return gone
  }
  /** A new server takes the place, and the name, of one that is gone. */
  const replace = async ({ name: free }: Server) => {
    standbys = [...standbys, await startStandby(free, primary.url)]
    await isFollowed()
  }
  return { primary: () => primary, failOver, replace }
}
export type Cluster = Awaited<ReturnType<typeof startCluster>>
