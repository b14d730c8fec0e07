import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@lockstep/testing/ports'
import { eventually, launch, newFolder, type RunningProcess } from '@lockstep/testing/processes'
import { errorsIn } from '../fuzz/watch.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))
const COLLECTOR = new URL('collector.ts', import.meta.url).href
/**
 * What full boards may take in memory. Deleted ones stay until there is no more room: with little, the room is taken
 * before anything is measured.
 */
export const BOARD_CACHE_BYTES = 2 ** 20

export interface Instance extends RunningProcess {
  base_url: string
  metrics_token: string
  /** What it logged as an error so far, and what it said that is no line of its log. */
  errors: () => Promise<string[]>
}

/** Two instances as an operator starts them, with the limits on, and a log of every request that goes to a file. */
export async function startInstances(DATABASE_URL: string, REDIS_URL: string): Promise<Instance[]> {
  const folder = await newFolder()
  const secret = () => `hush-hush-${randomBytes(24).toString('hex')}`
  const [JWT_SECRET, METRICS_TOKEN] = [secret(), secret()]
  const settings = {
    ENVIRONMENT: 'production',
    NODE_ENV: 'production',
    NODE_OPTIONS: `--import=${COLLECTOR}`,
    DATABASE_URL,
    REDIS_URL,
    JWT_SECRET,
    METRICS_TOKEN,
    BOARD_CACHE_BYTES: String(BOARD_CACHE_BYTES),
    // All users come from one address.
    MAX_REGISTRATIONS_PER_HOUR: '100000',
    MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: '10000000',
    MAX_SOCKETS_PER_ADDRESS: '20000',
  }
  const start = async (nth: number): Promise<Instance> => {
    const log = join(folder, `instance-${nth}.jsonl`)
    const port = String(await freePort())
    // The shell makes room for the service, which keeps its number.
    const command = ['-c', 'exec "$0" "$1" >"$2" 2>&1', process.execPath, MAIN, log]
    const service = launch('/bin/sh', command, { env: { PATH: process.env['PATH'], ...settings, PORT: port } })
    const base_url = `http://127.0.0.1:${port}`
    const isReady = () => fetch(`${base_url}/ready`).then(({ ok }) => ok)
    await eventually('the service is ready', async () => {
      if (service.hasEnded()) throw new Error(`The service did not start: ${(await errorsOf(log)).join('\n')}`)
      return isReady().catch(() => false)
    })
    return { ...service, base_url, metrics_token: METRICS_TOKEN, errors: () => errorsOf(log) }
  }
  // The first one brings the schema.
  return [await start(1), await start(2)]
}

/** Line by line: after an hour the log is too long for one string. */
async function errorsOf(log: string): Promise<string[]> {
  const errors: string[] = []
  for await (const line of createInterface({ input: createReadStream(log) })) errors.push(...errorsIn(line))
  return errors
}
