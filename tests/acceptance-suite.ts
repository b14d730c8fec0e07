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
  exitCode: number | null
  results: Result[]
  /** The number of rows by outcome, for each part of the table. */
  summary: string[]
  seconds: number
}

/** Runs the acceptance suite as a command, with the address of a service. */
export async function runAcceptance(baseUrl: string, ...options: string[]): Promise<AcceptanceRun> {
  await mkdir(OUTPUT, { recursive: true })
  const file = fileURLToPath(new URL(`acceptance-${randomBytes(6).toString('hex')}.json`, OUTPUT))
  const started = performance.now()
  const { exitCode, output } = await new Promise<{ exitCode: number | null; output: string }>((resolve) => {
    const args = [SUITE, baseUrl, ...options, '--json', file]
    const suite = execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, stdout, stderr) =>
      resolve({ exitCode: suite.exitCode, output: stdout + stderr }),
    )
  })
  const seconds = (performance.now() - started) / 1_000
  const results = await readFile(file, 'utf8').catch(() => {
    throw new Error(`The suite ended with ${exitCode} and without a result: ${output}`)
  })
  await rm(file)
  return { exitCode, results: JSON.parse(results) as Result[], summary: output.match(SUMMARY) ?? [], seconds }
}

/** Two instances of the service as processes, on their own database. */
export async function startTwoInstances() {
  const name = `lockstep_acceptance_${randomBytes(6).toString('hex')}`
  const instances = await startInstances(2, { ...instanceSettings(databaseUrl(name), REDIS), LOG_LEVEL: 'info' })
  const [baseUrl, besideUrl] = instances.map((instance) => instance.baseUrl) as [string, string]
  const stop = async () => {
    await Promise.all(instances.map((instance) => instance.end()))
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  }
  return { baseUrl, besideUrl, stop }
}

/** The rows that failed, by id. */
export const failed = (results: Result[]) => results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
