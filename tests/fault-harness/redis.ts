import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@lockstep/testing/ports'
import { eventually, launch, newFolder, type RunningProcess, startRedis } from '@lockstep/testing/processes'
import type { Random } from '@lockstep/testing/random'
import { createClient } from '@redis/client'
import { startRespProxy } from './resp-proxy.ts'

/** A Redis setup with fault injection. */
export interface RedisSetup {
  /** The URL for the instances. */
  url: string
  /** Kills Redis, or a primary of the cluster. Returns a function that restarts it empty. */
  kill: () => Promise<() => Promise<void>>
  /** Freezes Redis, or a primary. Returns a function that resumes it. */
  freeze: () => Promise<() => Promise<void>>
  cutSubscriptions: () => Promise<void>
  /** Drops a share of the messages. Only with a proxy in between. */
  lose: ((share: number) => void) | undefined
  lost: () => number
  /** Makes a replica take over. Only in a cluster. */
  failOver: (() => Promise<void>) | undefined
  close: () => Promise<void>
}

/** Runs one command on a new connection. */
async function runCommand(url: string, ...command: string[]): Promise<unknown> {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 2_000 } })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(command)
  } finally {
    client.destroy()
  }
}

export async function startStandalone(random: Random): Promise<RedisSetup & { directUrl: string }> {
  const redis = await startRedis()
  const proxy = await startRespProxy(redis.url, random.next)
  return {
    url: proxy.url,
    directUrl: redis.url,
    kill: async () => {
      await redis.process().end('SIGKILL')
      return () => redis.start()
    },
    freeze: async () => {
      redis.process().signal('SIGSTOP')
      return async () => redis.process().signal('SIGCONT')
    },
    cutSubscriptions: async () => void (await runCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
    lose: proxy.lose,
    lost: proxy.lost,
    failOver: undefined,
    close: async () => {
      proxy.close()
      redis.process().signal('SIGCONT')
      if (!redis.process().hasEnded()) await redis.process().end('SIGKILL')
    },
  }
}

interface Node {
  port: number
  url: string
  process: RunningProcess
  start: () => void
}

/** Three primaries, each with a replica. */
export async function startCluster(random: Random): Promise<RedisSetup> {
  const folder = await newFolder()
  const nodes: Node[] = []
  for (let i = 0; i < 6; i++) nodes.push(await startNode(folder))
  await Promise.all(nodes.map(({ url }) => eventually(`${url} responses`, () => isUp(url))))
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']
  await promisify(execFile)('redis-cli', create)
  const isWhole = async (url: string) => String(await runCommand(url, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
  await Promise.all(nodes.map(({ url }) => eventually('the cluster is whole', () => isWhole(url))))
  const ofRole = (flag: 'master' | 'slave') => nodesOf(nodes, flag)

  return {
    url: nodes.map(({ url }) => url).join(','),
    kill: async () => {
      const node = random.pick(await ofRole('master'))
      await end(node)
      return async () => {
        node.start()
        await eventually('the node is back', () => isUp(node.url))
      }
    },
    freeze: async () => {
      const { process } = random.pick(await ofRole('master'))
      process.signal('SIGSTOP')
      return async () => process.signal('SIGCONT')
    },
    cutSubscriptions: async () => {
      await Promise.all(nodes.map(({ url }) => runCommand(url, 'CLIENT', 'KILL', 'TYPE', 'pubsub')))
    },
    lose: undefined,
    lost: () => 0,
    failOver: async () => {
      const replica = random.pick(await ofRole('slave'))
      await runCommand(replica.url, 'CLUSTER', 'FAILOVER')
      await eventually('the replica has taken over', async () => (await ofRole('master')).includes(replica))
    },
    close: async () => void (await Promise.all(nodes.map(end))),
  }
}

/** The nodes with a role, according to the first reachable node. */
async function nodesOf(nodes: Node[], flag: 'master' | 'slave'): Promise<Node[]> {
  for (const { url } of nodes) {
    const text = await runCommand(url, 'CLUSTER', 'NODES').then(String, () => '')
    const lines = text.split('\n').filter((line) => line.includes(flag) && !line.includes('fail'))
    const found = nodes.filter(({ port }) => lines.some((line) => line.includes(`:${port}@`)))
    if (found.length > 0) return found
  }
  throw new Error(`No ${flag} in the cluster`)
}

async function startNode(folder: string): Promise<Node> {
  const port = await freePort()
  const options = {
    port,
    'cluster-port': await freePort(),
    bind: '127.0.0.1',
    save: '',
    appendonly: 'no',
    'cluster-enabled': 'yes',
    'cluster-node-timeout': 2_000,
    'cluster-config-file': `${port}.conf`,
    dir: folder,
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const run = () => launch('redis-server', args)
  const node: Node = {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: run(),
    start: () => {
      node.process = run()
    },
  }
  return node
}

async function end({ process }: Node) {
  if (process.hasEnded()) return
  process.signal('SIGCONT')
  await process.end('SIGKILL')
}

const isUp = (url: string) =>
  runCommand(url, 'PING').then(
    () => true,
    () => pause(50, false),
  )
