import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { instanceSettings, startInstances } from '@lockstep/testing/environment'
import { databaseUrl, OUTPUT, onServer, REDIS } from '@lockstep/testing/template-database'
import type { Result } from './acceptance/run.ts'

const SUITE = fileURLToPath(new URL('acceptance/main.ts', import.meta.url))
/** The summary lines of the suite. */
const SUMMARY = /^(specified|decided): .*$/gm

export interface AcceptanceRun {
  exit_code: number | null
  results: Result[]
  /** The number of rows by outcome, for each part of the table. */
  summary: string[]
  seconds: number
}

/** Runs the acceptance suite as a command, with the address of a service. */
export async function runAcceptance(base_url: string, ...options: string[]): Promise<AcceptanceRun> {
  await mkdir(OUTPUT, { recursive: true })
  const file = fileURLToPath(new URL(`acceptance-${randomBytes(6).toString('hex')}.json`, OUTPUT))
  const started = performance.now()
  const { exit_code, output } = await new Promise<{ exit_code: number | null; output: string }>((resolve) => {
    const args = [SUITE, base_url, ...options, '--json', file]
    const suite = execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, stdout, stderr) =>
      resolve({ exit_code: suite.exitCode, output: stdout + stderr }),
    )
  })
  const seconds = (performance.now() - started) / 1_000
  const results = await readFile(file, 'utf8').catch(() => {
    throw new Error(`The suite ended with ${exit_code} and without a result: ${output}`)
  })
  await rm(file)
  return { exit_code, results: JSON.parse(results) as Result[], summary: output.match(SUMMARY) ?? [], seconds }
}

/** Two instances of the service as processes, on their own database. */
export async function startTwoInstances() {
  const name = `lockstep_acceptance_${randomBytes(6).toString('hex')}`
  const instances = await startInstances(2, { ...instanceSettings(databaseUrl(name), REDIS), LOG_LEVEL: 'info' })
  const [base_url, beside_url] = instances.map((instance) => instance.base_url) as [string, string]
  const stop = async () => {
    await Promise.all(instances.map((instance) => instance.end()))
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  }
  return { base_url, beside_url, stop }
}

/** The rows that failed, by id. */
export const failed = (results: Result[]) => results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
