import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { instanceSettings } from '@lockstep/testing/environment'
import { errorsIn } from '@lockstep/testing/log-errors'
import { eventually, newFolder, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { MARK } from '@lockstep/testing/secrets'

const COLLECTOR = new URL('collector.ts', import.meta.url).href
const METRICS_TOKEN = `${MARK}-token-of-the-metrics-endpoint`
/** Small, so that the board cache is full before the measurement starts. */
export const BOARD_CACHE_BYTES = 2 ** 20

export interface Instance extends ServiceProcess {
  metricsToken: string
  /** The errors in its log so far. */
  errors: () => Promise<string[]>
}

/** Two instances with production settings and rate limits. Their logs contain every request, so they go to files. */
export async function startInstances(databaseUrl: string, redisUrl: string): Promise<Instance[]> {
  const folder = await newFolder()
  const settings = {
    ...instanceSettings(databaseUrl, redisUrl),
    LOG_LEVEL: 'info',
    ENVIRONMENT: 'production',
    NODE_ENV: 'production',
    NODE_OPTIONS: `--import=${COLLECTOR}`,
    METRICS_TOKEN,
    BOARD_CACHE_BYTES: String(BOARD_CACHE_BYTES),
    // All users have the same address.
    MAX_REGISTRATIONS_PER_HOUR: '100000',
    MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: '10000000',
    MAX_SOCKETS_PER_ADDRESS: '20000',
  }
  const start = async (nth: number): Promise<Instance> => {
    const log = join(folder, `instance-${nth}.jsonl`)
    const service = await startServiceProcess(settings, undefined, log)
    const isReady = () => fetch(`${service.baseUrl}/ready`).then(({ ok }) => ok)
    await eventually('the service is ready', () => isReady().catch(() => false))
    return { ...service, metricsToken: METRICS_TOKEN, errors: () => errorsOf(log) }
  }
  // The first one migrates the database.
  return [await start(1), await start(2)]
}

/** Reads line by line: after an hour the log is too long for one string. */
async function errorsOf(log: string): Promise<string[]> {
  const errors: string[] = []
  for await (const line of createInterface({ input: createReadStream(log) })) errors.push(...errorsIn(line))
  return errors
}
