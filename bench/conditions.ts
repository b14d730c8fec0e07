import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { settingsOf } from '@lockstep/testing/environment'
import { busyShare, rounded } from '@lockstep/testing/load/measure'
import { postgresPrograms } from '@lockstep/testing/processes'
import { median } from '@lockstep/testing/statistics'
import { POOL } from './environment.ts'
import type { Size } from './size.ts'

export interface Conditions {
  date: string
  commit: string
  [what: string]: string | number
}

/** Everything needed to judge the figures or to repeat the run. */
export async function readConditions(size: Size, isSmoke: boolean, pinned: string): Promise<Conditions> {
  const busy = await busyShare(isSmoke ? 100 : 3_000)
  const postgresVersion = run(join(postgresPrograms(), 'postgres'), '--version').replace(/^.*?(\d[\d.]*).*$/, '$1')
  return {
    date: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    commit:
      run('git', 'rev-parse', '--short', 'HEAD') +
      (run('git', 'status', '--porcelain', 'packages', 'bench/*.ts') && ' with changes'),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split('.', 2).join('.')}`,
    pinned,
    'CPU load before the run': `${Math.round(busy * 100)} %`,
    'fdatasync of a page': `${rounded(syncMicros())} µs`,
    'Node.js': process.versions.node,
    PostgreSQL: `${postgresVersion}: ${settingsOf(size.postgres).join(', ')}`,
    Redis: run('redis-server', '--version').replace(/^.*v=(\S+).*$/, '$1'),
    service: 'ENVIRONMENT=development (no rate limits), LOG_LEVEL=warn (no access log)',
    'connections to PostgreSQL': POOL,
    boards: size.boards,
    rounds: size.rounds,
    'load window': `${size.windowMs} ms`,
    network: 'loopback',
  }
}

/** The output of a command; empty when it fails. */
function run(command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

/** Microseconds to write a page and flush it to disk: the lower bound of a commit. */
function syncMicros(): number {
  const file = join(tmpdir(), `lockstep-sync-${process.pid}`)
  const page = Buffer.alloc(8_192, 1)
  const descriptor = openSync(file, 'w')
  try {
    const times = Array.from({ length: 50 }, () => {
      const startedAt = performance.now()
      writeSync(descriptor, page, 0, page.length, 0)
      fdatasyncSync(descriptor)
      return (performance.now() - startedAt) * 1_000
    })
    return median(times)
  } finally {
    closeSync(descriptor)
    rmSync(file)
  }
}
