import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@lockstep/testing/ports'
import { eventually, newFolder, type RunningProcess } from '@lockstep/testing/processes'
import { type Image, runInImage } from './image.ts'
import { type Stores, services, startValkey } from './stores.ts'

export interface Instance extends RunningProcess {
  baseUrl: string
  port: number
  /** Runs the health check of the image. Returns its exit code. */
  checkHealth: () => Promise<number | null>
}

/** Runs the services of compose.yaml in containers, with their settings and secrets, and the stores of the test. */
export async function openCompose(image: Image, stores: Stores) {
  const folder = join(await newFolder(), 'secrets')
  await mkdir(folder)
  const redis = await startValkey(stores.secrets)
  const values = ['database_url', 'migrator_database_url', 'jwt_secret'].map((name) => [name, stores.addressOf(name)])
  for (const [name, value] of [...values, ['redis_url', redis]])
    await writeFile(join(folder, name ?? ''), `${value}\n`, { mode: 0o644 })
  const run = (name: 'one' | 'migrate', command = services[name].command, settings: Record<string, string> = {}) => {
    const { environment, secrets } = services[name]
    const files = secrets.map((secret) => [join(folder, secret), `/run/secrets/${secret}`] as const)
    return runInImage(image, command ?? image.config.Cmd, { ...environment, ...settings }, files)
  }

  /** Starts an instance. All share the network of this machine, so each has its own ports. */
  async function startInstance(settings: Record<string, string> = {}): Promise<Instance> {
    const [port, metricsPort] = [await freePort(), await freePort()]
    const ports = {
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: String(metricsPort),
    }
    const env = { RATE_LIMITS: 'off', REGISTRATION: 'open', ...ports, ...settings }
    const running = await run('one', undefined, env)
    const baseUrl = `http://127.0.0.1:${port}`
    const isReady = () =>
      fetch(`${baseUrl}/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    await eventually('the instance is ready', async () => running.hasEnded() || (await isReady()))
    if (running.hasEnded()) throw new Error(`The image does not start: ${running.output()}`)
    const [, ...healthcheck] = image.config.Healthcheck.Test
    const checkHealth = async () => (await run('one', healthcheck, env)).ended
    return { ...running, baseUrl, port, checkHealth }
  }
  return { run, startInstance }
}
export type ComposeServices = Awaited<ReturnType<typeof openCompose>>
