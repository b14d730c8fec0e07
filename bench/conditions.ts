import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { postgresPrograms } from '../packages/server/testing/processes.ts'
import { busyShare, median, rounded } from './measure.ts'
import type { Size } from './size.ts'
import { POOL } from './stage.ts'

export interface Conditions {
  date: string
  commit: string
  [what: string]: string | number
}

/** All that one must know to judge the figures, or to measure them again. */
export async function readConditions(size: Size, isSmoke: boolean): Promise<Conditions> {
  const busy = await busyShare(isSmoke ? 100 : 3_000)
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit:
      said('git', 'rev-parse', '--short', 'HEAD') +
      (said('git', 'status', '--porcelain', 'packages', 'bench/*.ts') && ' with changes'),
    machine: `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split('.', 2).join('.')}`,
    'busy with other work before the run': `${Math.round(busy * 100)} %`,
    'fdatasync of a page': `${rounded(syncMicros())} µs`,
    'Node.js': process.versions.node,
    PostgreSQL: `${said(join(postgresPrograms(), 'postgres'), '--version').replace(/^.*?(\d[\d.]*).*$/, '$1')}: ${Object.entries(
      size.postgres,
    )
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')}`,
    Redis: said('redis-server', '--version').replace(/^.*v=(\S+).*$/, '$1'),
    service: 'ENVIRONMENT=development: no rate limits; LOG_LEVEL=warn: no line for each request',
    'connections of the service to PostgreSQL': POOL,
    boards: size.boards,
    rounds: size.rounds,
    'window of load': `${size.window_ms} ms`,
    network: 'loopback; the load, the service and its stores share the cores',
  }
}

function said(command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

/** What a commit waits for at least: a page written and forced to the disk. */
function syncMicros(): number {
  const file = join(tmpdir(), `lockstep-sync-${process.pid}`)
  const page = Buffer.alloc(8_192, 1)
  const open = openSync(file, 'w')
  try {
    const times = Array.from({ length: 50 }, () => {
      const begun = performance.now()
      writeSync(open, page, 0, page.length, 0)
      fdatasyncSync(open)
      return (performance.now() - begun) * 1_000
    })
    return median(times)
  } finally {
    closeSync(open)
    rmSync(file)
  }
}
