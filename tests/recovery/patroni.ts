import { existsSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { freePort } from '@lockstep/testing/ports'
import {
  eventually,
  launch,
  newPostgresFolder,
  postgresPrograms,
  type RunningProcess,
  unprivileged,
} from '@lockstep/testing/processes'
import { query } from './cluster.ts'

const DEPLOY = new URL('../../deploy/patroni/', import.meta.url)
const NAMES = ['one', 'two', 'three'] as const
const READY_MS = 120_000

/** A PostgreSQL server and the Patroni that runs it. */
interface Member {
  name: string
  data: string
  postgresPort: number
  apiPort: number
  patroni: RunningProcess
}

/** Three PostgreSQL servers with Patroni, etcd and HAProxy, with the files in deploy/patroni and other addresses. */
export interface PatroniCluster {
  /** The address of the service's database, through HAProxy. */
  url: string
  /** Kills the primary and its Patroni at once, like a machine that loses power. Returns it, and when it was killed. */
  killPrimary: () => Promise<{ member: Member; at: number }>
  /** Starts a killed member again on its old data, and waits until a failover would lose nothing. */
  revive: (member: Member) => Promise<void>
  /** Kills everything: PostgreSQL is not a child of the test, and would go on. */
  stop: () => Promise<void>
}

export async function startPatroniCluster(): Promise<PatroniCluster> {
  const etcd = await startEtcd()
  const folder = await newPostgresFolder()
  const config = join(folder, 'patroni.yml')
  await writeFile(config, await shippedConfig(folder))
  const members: Member[] = []
  for (const name of NAMES) {
    const [postgresPort, apiPort] = [await freePort(), await freePort()]
    const member = { name, data: join(folder, name), postgresPort, apiPort }
    members.push({ ...member, patroni: startPatroni(member, config, etcd) })
  }
  const stop = async () => {
    await Promise.all(members.filter(({ patroni }) => !patroni.hasEnded()).map(kill))
  }
  const port = await freePort()
  const haproxy = launch('haproxy', ['-db', '-f', new URL('haproxy.cfg', DEPLOY).pathname], {
    env: { PATH: process.env['PATH'], PRIMARY_BIND: `127.0.0.1:${port}`, ...addressesOf(members) },
  })
  try {
    await isSafe(members)
    if (haproxy.hasEnded()) throw new Error(haproxy.output())
  } catch (error) {
    await stop()
    throw new Error(members.map(({ patroni }) => patroni.output()).join('\n'), { cause: error })
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/lockstep`,
    killPrimary: async () => {
      const primary = await eventually('there is a primary', () => primaryOf(members))
      const at = performance.now()
      await kill(primary)
      return { member: primary, at }
    },
    revive: async (member) => {
      member.patroni = startPatroni(member, config, etcd)
      await isSafe(members)
    },
    stop,
  }
}

/** The shipped configuration. PostgreSQL needs no passwords, and no safety against a loss of power, because only processes are killed. */
async function shippedConfig(folder: string) {
  const text = await readFile(new URL('patroni.yml', DEPLOY), 'utf8')
  return text
    .replace('/usr/lib/postgresql/15/bin', postgresPrograms())
    .replaceAll('0.0.0.0/0 scram-sha-256', '127.0.0.1/32 trust')
    .replace(
      /^ {2}bin_dir/m,
      `  parameters:\n    fsync: 'off'\n    shared_buffers: 16MB\n    unix_socket_directories: ${folder}\n  bin_dir`,
    )
}

function startPatroni(member: Omit<Member, 'patroni'>, config: string, etcd: string): RunningProcess {
  const { name, data, postgresPort, apiPort } = member
  const at = (port: number) => `127.0.0.1:${port}`
  return launch('patroni', [config], {
    // The checkout may be in a folder that the user of PostgreSQL may not enter.
    cwd: dirname(config),
    env: {
      PATH: process.env['PATH'],
      PATRONI_NAME: name,
      PATRONI_RESTAPI_LISTEN: at(apiPort),
      PATRONI_RESTAPI_CONNECT_ADDRESS: at(apiPort),
      PATRONI_POSTGRESQL_LISTEN: at(postgresPort),
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: at(postgresPort),
      PATRONI_POSTGRESQL_DATA_DIR: data,
      PATRONI_POSTGRESQL_PGPASS: `${data}.pgpass`,
      PATRONI_ETCD3_HOSTS: etcd,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_REPLICATION_USERNAME: 'replicator',
    },
    ...unprivileged(),
  })
}

/** One server instead of three, because only PostgreSQL fails here. */
async function startEtcd(): Promise<string> {
  const [folder, port, peerPort] = [await newPostgresFolder(), await freePort(), await freePort()]
  const [client, peer] = [port, peerPort].map((each) => `http://127.0.0.1:${each}`) as [string, string]
  const flags = {
    ...{ 'data-dir': folder, 'listen-client-urls': client, 'advertise-client-urls': client },
    ...{ 'listen-peer-urls': peer, 'initial-advertise-peer-urls': peer, 'initial-cluster': `default=${peer}` },
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const etcd = launch('etcd', args, { env: { PATH: process.env['PATH'] } })
  await eventually('etcd is ready', async () => etcd.hasEnded() || (await status(`${client}/health`)) === 200)
  if (etcd.hasEnded()) throw new Error(etcd.output())
  return `127.0.0.1:${port}`
}

const addressesOf = (members: Member[]) =>
  Object.fromEntries(
    members.flatMap(({ name, postgresPort, apiPort }) => [
      [`SERVER_${name.toUpperCase()}`, `127.0.0.1:${postgresPort}`],
      [`PATRONI_${name.toUpperCase()}`, String(apiPort)],
    ]),
  )

const status = (url: string) =>
  fetch(url).then(
    (response) => response.text().then(() => response.status),
    () => 0,
  )

async function primaryOf(members: Member[]): Promise<Member | undefined> {
  for (const member of members) if ((await status(`http://127.0.0.1:${member.apiPort}/primary`)) === 200) return member
  return undefined
}

/** Waits until both standbys have every commit, and Patroni knows it. */
const isSafe = (members: Member[]) =>
  eventually(
    'the cluster can fail over',
    async () => {
      const primary = await primaryOf(members)
      if (!primary) return false
      const answers = await Promise.all(members.map(({ apiPort }) => status(`http://127.0.0.1:${apiPort}/sync`)))
      const url = `postgres://postgres@127.0.0.1:${primary.postgresPort}/postgres`
      const following = await query(url, `select from pg_stat_replication where sync_state = 'sync'`).catch(() => [])
      return [answers.filter((each) => each === 200), following].every(({ length }) => length === NAMES.length - 1)
    },
    READY_MS,
  )

/** Kills Patroni first, so that it does not start PostgreSQL again, then all processes of PostgreSQL. */
async function kill({ patroni, data }: Member) {
  patroni.signal('SIGKILL')
  const file = join(data, 'postmaster.pid')
  if (existsSync(file)) killAll(Number(readFileSync(file, 'utf8').split('\n')[0]))
  await patroni.ended
}

/** The postmaster is paused first, so that it starts no new processes. */
function killAll(postmaster: number) {
  try {
    process.kill(postmaster, 'SIGSTOP')
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
    for (const pid of [...children.filter(Boolean).map(Number), postmaster]) process.kill(pid, 'SIGKILL')
  } catch {
    // It has already exited.
  }
}
