import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startServiceProcess } from '@lockstep/testing/processes'
import { databaseUrl, OUTPUT, onServer, REDIS } from '@lockstep/testing/template-database'
import type { Result } from './acceptance/run.ts'

const SUITE = fileURLToPath(new URL('acceptance/main.ts', import.meta.url))
/** What the summary says at the end of each part of the table. */
const SUMMARY = /^(specified|decided): .*$/gm

export interface Judgement {
  exit_code: number | null
  results: Result[]
  /** How many rows came out how, for each part of the table. */
  summary: string[]
  seconds: number
}

/** Runs the acceptance suite as anybody would: as a command, with the address of a service. */
export async function judge(base_url: string, ...options: string[]): Promise<Judgement> {
  await mkdir(OUTPUT, { recursive: true })
  const file = fileURLToPath(new URL(`acceptance-${randomBytes(6).toString('hex')}.json`, OUTPUT))
  const started = performance.now()
  const child = spawn(process.execPath, [SUITE, base_url, ...options, '--json', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const exit_code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const seconds = (performance.now() - started) / 1_000
  const results = await readFile(file, 'utf8').catch(() => {
    throw new Error(`The suite ended with ${exit_code} and without a result: ${output}`)
  })
  await rm(file)
  return { exit_code, results: JSON.parse(results) as Result[], summary: output.match(SUMMARY) ?? [], seconds }
}

/** Two instances of the service on a database of their own, each started as an operator would. */
export async function startJudged() {
  const name = `lockstep_acceptance_${randomBytes(6).toString('hex')}`
  const settings = {
    DATABASE_URL: databaseUrl(name),
    REDIS_URL: REDIS,
    JWT_SECRET: 'hush-hush-signing-secret-of-the-acceptance-suite',
    LOG_LEVEL: 'info',
  }
  const service = await startServiceProcess(settings)
  const beside = await startServiceProcess(settings)
  const stop = async () => {
    await Promise.all([service.end(), beside.end()])
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  }
  return { base_url: service.base_url, beside_url: beside.base_url, stop }
}

/** The rows that failed, by id. */
export const failed = (results: Result[]) => results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
