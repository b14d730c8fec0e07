import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { assertValid } from '@lockstep/testing/load/measure'
import { postgresPrograms } from '@lockstep/testing/processes'
import { median } from '@lockstep/testing/statistics'

const execute = promisify(execFile)

export interface PgbenchOptions {
  clients: number
  /** The duration, without the first second, in which plans and caches are filled. */
  seconds?: number
  /** Transactions of each client, instead of a duration. */
  transactions?: number
  /** Variables of the script. */
  define?: Record<string, number | string>
}

/** Runs a script with pgbench, PostgreSQL's load generator, with prepared statements. */
export async function pgbench(
  url: string,
  script: string,
  { clients, seconds, transactions, define = {} }: PgbenchOptions,
) {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-pgbench-'))
  try {
    await writeFile(join(folder, 'script.sql'), script)
    const length = seconds ? ['-T', String(seconds + 1), '-P', '1'] : ['-t', String(transactions), '-l']
    const variables = Object.entries(define).flatMap(([name, value]) => ['-D', `${name}=${value}`])
    const args = ['-n', '-M', 'prepared', '-f', 'script.sql', '-c', String(clients), '-j', String(Math.min(2, clients))]
    const program = join(postgresPrograms(), 'pgbench')
    const { stdout, stderr } = await execute(program, [...args, ...length, ...variables, url], { cwd: folder }).catch(
      (error: { stderr: string }) => {
        throw new Error(`pgbench: ${error.stderr.slice(0, 2_000)}`)
      },
    )
    const count = Number(/actually processed: (\d+)/.exec(stdout)?.[1])
    const hasFailures = /aborted|failed transactions: [1-9]/.test(stdout + stderr)
    assertValid(count > 0 && !hasFailures, `pgbench printed ${stdout}${stderr}`)
    const rates = [...stderr.matchAll(/^progress: [\d.]+ s, ([\d.]+) tps/gm)].map(([, rate]) => Number(rate))
    const overall = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1])
    const rate = rates.length > 1 ? rates.slice(1).reduce((sum, each) => sum + each, 0) / (rates.length - 1) : overall
    return { count, rate, ms: await medianTime(folder) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The median transaction time without the first one of each client. NaN for a run by duration, which logs no transactions. */
async function medianTime(folder: string): Promise<number> {
  const logs = (await readdir(folder)).filter((name) => name.startsWith('pgbench_log'))
  const lines = (await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')))).flatMap((text) =>
    text.trim().split('\n'),
  )
  const times = lines
    .map((line) => line.split(' ').map(Number))
    .filter(([, nth]) => nth !== 1)
    .map(([, , micros]) => (micros ?? 0) / 1_000)
  return median(times)
}
