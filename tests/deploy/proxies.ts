import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@lockstep/testing/ports'
import { eventually, launch, newFolder, type RunningProcess } from '@lockstep/testing/processes'

const DEPLOY = new URL('../../deploy/', import.meta.url)
const read = (path: string) => readFile(new URL(path, DEPLOY), 'utf8')

/** Spellings of the path of the metrics that the service understands. */
export const metricsPaths = [
  '/metrics',
  '/metrics/',
  '/metrics?x=1',
  '/%6detrics',
  '/%6Detric%73',
  '/api/metrics',
  '/api/%6detrics',
]

/** A real proxy in front of two instances, with the configuration in deploy/ and other addresses and paths. */
export interface BoardProxy {
  baseUrl: string
  process: RunningProcess
  /** Its access and error logs. */
  log: () => Promise<string>
  /** Called before an instance is stopped: for nginx, creates the file that takes it out of rotation. */
  leaving: (instance: 0 | 1) => Promise<void>
  /** Resolves when the instance gets requests again. */
  back: (instance: 0 | 1) => Promise<void>
}

const responds = (url: string) =>
  fetch(url).then(
    (response) => response.text().then(() => response.ok),
    () => false,
  )

interface Limits {
  /** Overrides the connection limit per address. */
  connections?: number
}

export async function startHaproxy(ports: [number, number], { connections }: Limits = {}): Promise<BoardProxy> {
  const port = await freePort()
  const [one, two] = ports.map((each) => `127.0.0.1:${each}`)
  const env = {
    LOCKSTEP_BIND: `127.0.0.1:${port}`,
    LOCKSTEP_ONE: one,
    LOCKSTEP_TWO: two,
    ...(connections && { LOCKSTEP_CONNECTIONS: String(connections) }),
  }
  const process = launch('haproxy', ['-db', '-f', new URL('haproxy/haproxy.cfg', DEPLOY).pathname], {
    env: { ...env, PATH },
  })
  const baseUrl = `http://127.0.0.1:${port}`
  await eventually('HAProxy responds', async () => process.hasEnded() || (await responds(`${baseUrl}/ready`)))
  if (process.hasEnded()) throw new Error(process.output())
  const ups = (instance: 0 | 1) =>
    process.output().split(`Server instances/${['one', 'two'][instance]} is UP`).length - 1
  const seen = [0, 0]
  return {
    baseUrl,
    process,
    log: async () => process.output(),
    leaving: async (instance) => {
      seen[instance] = ups(instance)
    },
    back: async (instance) =>
      void (await eventually('HAProxy marks it as up', () => ups(instance) > (seen[instance] ?? 0))),
  }
}

export async function startNginx(ports: [number, number], { connections }: Limits = {}): Promise<BoardProxy> {
  const [port, folder] = await Promise.all([freePort(), newFolder()])
  const shipped = await read('nginx/lockstep.conf')
  const config = shipped
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:8001', `127.0.0.1:${ports[0]}`)
    .replaceAll('127.0.0.1:8002', `127.0.0.1:${ports[1]}`)
    .replaceAll(/\/(var\/log\/nginx|run\/lockstep)\//g, `${folder}/`)
    .replace(/(?<=limit_conn lockstep_clients )\d+/, (shipped) => String(connections ?? shipped))
  await writeFile(join(folder, 'lockstep.conf'), config)
  await writeFile(join(folder, 'nginx.conf'), nginxMainConfig(folder, process.getuid?.() === 0))
  const running = launch('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { env: { PATH } })
  const baseUrl = `http://127.0.0.1:${port}`
  await eventually('nginx responds', async () => running.hasEnded() || (await responds(`${baseUrl}/ready`)))
  if (running.hasEnded()) throw new Error(running.output())
  const file = (instance: 0 | 1) => join(folder, `${[8001, 8002][instance]}.leaving`)
  const readLogs = async () => {
    const logs = ['lockstep.log', 'lockstep-error.log', 'error.log'].map((name) => readFile(join(folder, name), 'utf8'))
    return [running.output(), ...(await Promise.all(logs))].join('\n')
  }
  return {
    baseUrl,
    process: running,
    log: readLogs,
    leaving: (instance) => writeFile(file(instance), ''),
    back: (instance) => rm(file(instance)),
  }
}

/** Caddy over plain HTTP, for clients that do not know its certificate authority. */
export async function startCaddy(ports: [number, number]): Promise<BoardProxy> {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const { process } = await launchCaddy(baseUrl, ports)
  await eventually('Caddy responds', async () => process.hasEnded() || (await responds(`${baseUrl}/ready`)))
  if (process.hasEnded()) throw new Error(process.output())
  return {
    baseUrl,
    process,
    log: async () => process.output(),
    leaving: async () => {},
    // It checks every 500 ms, and reports only failures.
    back: () => pause(1_500),
  }
}

/** Debian's Caddy with the shipped file, and its data in a new folder. Only environment variables differ from compose.yaml. */
export async function launchCaddy(domain: string, ports: [number, number], options = '') {
  const folder = await newFolder()
  const env = {
    PATH,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    DOMAIN: domain,
    CADDY_GLOBAL_OPTIONS: options,
    LOCKSTEP_INSTANCES: ports.map((port) => `127.0.0.1:${port}`).join(' '),
  }
  const file = new URL('caddy/Caddyfile', DEPLOY).pathname
  const process = launch('caddy', ['run', '--config', file], { env })
  return { process, folder }
}

const PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin'

/** A main nginx.conf that includes the shipped file. */
export const nginxMainConfig = (folder: string, isRoot: boolean) => `
${isRoot ? 'user root;' : ''}
daemon off;
worker_processes 2;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 4096; }
http {
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  include ${folder}/lockstep.conf;
}
`
