import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@redis/client'
import type pg from 'pg'
import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { collectGoals, is, told } from './goals.ts'
import { LoadClients } from './load-clients.ts'
import { makeAudience, makeIdleBoards, openPool, startBare } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'

/** Many boards with a few viewers each, for connections and heartbeats; few with many, so that deliveries outweigh changes. */
const FULL = {
  boards: 500,
  each: 10,
  crowds: 20,
  crowd: 100,
  rate: 500,
  changes: 3_000,
  quiet_seconds: 10,
  idle_seconds: 65,
}
const AT_ONCE = 8
/** Ticks a second, in which Linux accounts for processor time. */
const HZ = 100

/** What one change, one delivery, one connection and one heartbeat cost, in each process: what the scale plan is made of. */
export async function prove(progress: Progress, size = FULL): Promise<Report> {
  const { sections, violations, add } = collectGoals(progress)
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const settings = { DATABASE_URL: postgres.url, REDIS_URL: redis.url }
  const sql = openPool(postgres.url)
  const doorbell = await createClient({ url: redis.url }).connect()
  const load = new LoadClients(1)
  try {
    // Without a probe: it would cost more than a heartbeat.
    const service = await startBare(settings)
    const other = await startBare(settings)
    const audience = await makeAudience(sql, size.boards * size.each)
    const wide = await makeIdleBoards(sql, audience, size.boards, size.each)
    const deep = await makeIdleBoards(sql, audience, size.crowds, size.crowd)
    const places = await addColumns(sql, deep)
    const pids = {
      service: service.pid,
      other: other.pid,
      postgres: postgres.process().pid,
      redis: redis.process().pid,
    }
    /** Does something, and says what each process used for it, in microseconds of processor time. */
    const cost = async (work: () => Promise<unknown>) => {
      const before = used(pids)
      await work()
      const after = used(pids)
      return Object.fromEntries(Object.entries(after).map(([name, us]) => [name, us - (before[name] ?? 0)])) as Used
    }
    const write = (count = size.changes) => change(service.base_url, places, count)
    const watch = async (base_url: string, paths: string[]) => {
      await load.open(base_url, paths, size.rate)
      await load.until('all are there', ({ open }) => open === paths.length)
      // Everybody is told of everybody who comes later: that is over, too.
      await pause(1_000)
      await load.forget()
    }
    /** What the other instance uses for changes that are made here, with these viewers: it does nothing but hand them out. */
    const handOut = async (paths: string[], viewers: number) => {
      await watch(other.base_url, paths)
      const { other: us } = await cost(async () => {
        await write()
        await load.until('all have the events', (counts) => counts.events >= size.changes * viewers)
      })
      const { gaps, repeats } = await load.count()
      await load.close()
      return { us, wrong: gaps + repeats }
    }

    progress('changes that nobody watches')
    await write()
    const log_before = await logSize(sql)
    const alone = await cost(() => write())
    const log = await logSize(sql)
    const events = log.events - log_before.events

    progress('nothing happens')
    await pause(2_000)
    const nothing = await cost(() => pause(size.quiet_seconds * 1_000))

    progress(`${wide.length} connections`)
    const connecting = await cost(() => watch(service.base_url, wide))
    progress(`${size.idle_seconds} s of heartbeats`)
    await doorbell.configResetStat()
    const idle = await cost(() => pause(size.idle_seconds * 1_000))
    const { pings } = await load.count()
    const scripts = await commandStats(doorbell, 'evalsha')
    await load.close()

    progress('changes that few, and then many, watch at another instance')
    const few_each = size.crowd / 10
    const few = await handOut(
      deep.filter((_, nth) => nth % size.crowd < few_each),
      few_each,
    )
    await doorbell.configResetStat()
    const many = await handOut(deep, size.crowd)
    const published = await commandStats(doorbell, 'spublish')

    // Two equations: an event costs something, and each viewer of it.
    const delivery = (many.us - few.us) / (size.changes * (size.crowd - few_each))
    const foreign = few.us / size.changes - delivery * few_each
    add(
      'What one of each costs',
      `Processor time, as Linux accounts for it. ${size.changes} cards are added over ${size.crowds} boards by ${AT_ONCE} writers: with nobody connected; then with ${few_each}, and with ${size.crowd}, viewers on each board at another instance, whose costs tell an event from its deliveries. In between ${wide.length} viewers connect, ${size.each} to a board, and are pinged for ${size.idle_seconds} seconds; what an instance without viewers uses meanwhile is taken off.`,
      [
        told('a change, in the service', alone.service / size.changes, 'µs'),
        told('a change, in PostgreSQL', alone.postgres / size.changes, 'µs'),
        told('a delivery, in the service', delivery, 'µs'),
        told('an event from another instance, in the service', foreign, 'µs'),
        told('a publication, in Redis', published.usec_each, 'µs'),
        told('a connection, in the service', connecting.service / wide.length, 'µs'),
        told('a connection, in PostgreSQL', connecting.postgres / wide.length, 'µs'),
        told('a connection, in Redis', connecting.redis / wide.length, 'µs'),
        told('a heartbeat, in the service', (idle.service - idle.other) / pings, 'µs'),
        told(
          'a heartbeat, in PostgreSQL',
          (idle.postgres - (nothing.postgres * size.idle_seconds) / size.quiet_seconds) / pings,
          'µs',
        ),
        told('a refresh of presence, in Redis', scripts.usec_each, 'µs'),
        told('a head that is asked for, in PostgreSQL', await headMicroseconds(sql), 'µs'),
        is('events that came twice or not at all', few.wrong + many.wrong, 0),
      ],
    )
    add(
      'What is kept',
      'In the log of PostgreSQL for each change, and in memory by a service to which nobody is connected.',
      [
        told('the text of an event', (log.text - log_before.text) / events, 'bytes'),
        told('the log, with its indexes, for each event', (log.bytes - log_before.bytes) / events, 'bytes'),
        told('the write-ahead log for each change', (log.wal - log_before.wal) / size.changes, 'bytes'),
        told('resident memory of a service without connections', residentBytes(other.pid) / 2 ** 20, 'MiB'),
      ],
    )
    return { title: 'What one of each costs', setting: { ...size }, sections, violations }
  } finally {
    await load.end()
    doorbell.destroy()
    await sql.end()
    await endProcesses()
  }
}

interface Place {
  board_id: string
  column_id: string
  /** Of somebody who may write there. */
  token: string
}
/** A column on each of the boards that these paths of sockets lead to. */
async function addColumns(sql: pg.Pool, paths: string[]): Promise<Place[]> {
  const members = new Map(paths.map((path) => path.slice('/ws/boards/'.length).split('?token=') as [string, string]))
  const { rows } = await sql.query<Place>(
    `insert into columns (board_id, id, title, color, is_done_column, rank)
     select id, gen_random_uuid(), 'To do', '#6b7280', false, 0 from unnest($1::uuid[]) as id
     returning board_id, id as column_id`,
    [[...members.keys()]],
  )
  return rows.map((row) => ({ ...row, token: members.get(row.board_id) ?? '' }))
}

/** Adds cards on all boards in turn, a few at a time, each by a member. */
async function change(base_url: string, places: Place[], count: number) {
  const description = 'What is to be done, by whom, and how we shall know that it is. '.repeat(4)
  let next = 0
  const writer = async () => {
    while (next < count) {
      const { board_id, column_id, token } = places[next++ % places.length] as Place
      const response = await fetch(`${base_url}/boards/${board_id}/columns/${column_id}/cards`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'Card', description }),
      })
      await response.text()
      if (response.status !== 201) throw new Error(`A card could not be added: ${response.status}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, writer))
}

type Used = Record<'service' | 'other' | 'postgres' | 'redis', number>

/** The processor time of processes and of their children, in microseconds. PostgreSQL counts those that have ended too. */
function used(pids: Record<string, number>): Record<string, number> {
  const rows = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const text = readIfThere(`/proc/${pid}/stat`)
      // The name of the program, in brackets, may hold anything; what counts comes after it.
      const fields = text
        .replace(/^.*\) /s, '')
        .split(' ')
        .map(Number)
      const [own, ended] = [(fields[11] ?? 0) + (fields[12] ?? 0), (fields[13] ?? 0) + (fields[14] ?? 0)]
      return text === '' ? [] : [{ pid: Number(pid), parent: fields[1], own, ended }]
    })
  const ticksOf = (pid: number) =>
    rows.reduce((sum, row) => sum + (row.pid === pid ? row.own + row.ended : row.parent === pid ? row.own : 0), 0)
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, (ticksOf(pid) * 1e6) / HZ]))
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const residentBytes = (pid: number) => Number(/VmRSS:\s+(\d+) kB/.exec(readIfThere(`/proc/${pid}/status`))?.[1]) * 1_024

async function logSize(sql: pg.Pool) {
  const { rows } = await sql.query<{ events: number; text: number; bytes: number; wal: number }>(
    `select count(*)::float8 as events, coalesce(sum(length(body)), 0)::float8 as text,
       pg_total_relation_size('board_events')::float8 as bytes, (pg_current_wal_lsn() - '0/0')::float8 as wal
     from board_events`,
  )
  return rows[0] as { events: number; text: number; bytes: number; wal: number }
}

/** One statement asks for the heads of many boards: what each of them takes. */
async function headMicroseconds(sql: pg.Pool): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 50; i++) {
    const { rows } = await sql.query<{ 'QUERY PLAN': [{ 'Execution Time': number; Plan: { 'Actual Rows': number } }] }>(
      `explain (analyze, timing off, format json)
       select board_id, epoch, last_seq from board_stream where board_id = any (array(select board_id from board_stream))`,
    )
    const [{ 'Execution Time': ms, Plan: plan }] = (rows[0] as (typeof rows)[0])['QUERY PLAN']
    times.push((ms * 1_000) / plan['Actual Rows'])
  }
  return times.sort((a, b) => a - b)[25] as number
}

async function commandStats(client: { info: (section: string) => Promise<string> }, command: string) {
  const line = new RegExp(`cmdstat_${command}:calls=(\\d+),usec=(\\d+),usec_per_call=([\\d.]+)`).exec(
    await client.info('commandstats'),
  )
  return { calls: Number(line?.[1]), usec_each: Number(line?.[3]) }
}
