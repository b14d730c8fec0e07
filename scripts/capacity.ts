import { readFileSync } from 'node:fs'
import { HEARTBEAT_SECONDS } from '@lockstep/contract/realtime'
import { readConfig } from '../packages/server/src/config/read-config.ts'

/** A figure of a proof: where it stands, and its number. The unit is part of the name that it is given here. */
export interface Source {
  proof: string
  heading: string
  figure: string
}
const costs = (figure: string): Source => ({ proof: 'capacity', heading: 'What one of each costs', figure })
const kept = (figure: string): Source => ({ proof: 'capacity', heading: 'What is kept', figure })

/** What was measured, and where it is written down. Times are microseconds of one core. */
export const sources = {
  change_us: costs('a change, in the service'),
  change_postgres_us: costs('a change, in PostgreSQL'),
  delivery_us: costs('a delivery, in the service'),
  foreign_event_us: costs('an event from another instance, in the service'),
  publication_redis_us: costs('a publication, in Redis'),
  connection_us: costs('a connection, in the service'),
  connection_postgres_us: costs('a connection, in PostgreSQL'),
  connection_redis_us: costs('a connection, in Redis'),
  heartbeat_us: costs('a heartbeat, in the service'),
  heartbeat_postgres_us: costs('a heartbeat, in PostgreSQL'),
  presence_redis_us: costs('a refresh of presence, in Redis'),
  head_postgres_us: costs('a head that is asked for, in PostgreSQL'),
  event_bytes: kept('the text of an event'),
  log_bytes: kept('the log, with its indexes, for each event'),
  wal_bytes: kept('the write-ahead log for each change'),
  service_mib: kept('resident memory of a service without connections'),
  socket_kib: {
    proof: 'realtime',
    heading: '19000 idle sockets in one process',
    figure: 'resident memory for each socket',
  },
  board_load_ms: { proof: 'api', heading: 'A board that did not change', figure: 'the bare statement, p50' },
} satisfies Record<string, Source>
export type Measured = Record<keyof typeof sources, number>

/** What nobody measured: how people use boards, and what machines are bought. Change it to your own. */
export const assumptions = {
  sockets_per_board: { value: 10, means: 'people (or tabs) that look at one board at a time' },
  changes_per_board_minute: { value: 1, means: 'changes of a board that somebody looks at, in a minute, over the day' },
  peak: { value: 10, means: 'times the mean, in the busiest moments' },
  load: { value: 0.5, means: 'of a core that may be used at the peak; the rest is for whatever nobody thought of' },
  sockets_per_instance: { value: 10_000, means: 'connections planned for one process, half of what it takes at most' },
  database_cores: { value: 16, means: 'cores of the largest PostgreSQL that is no special order' },
  database_disk_bytes: { value: 2e12, means: 'bytes of log, or of files, that such a PostgreSQL is to hold' },
  delete_rows_per_second: { value: 2_000, means: 'old events that are removed row by row before it is felt' },
  loads_per_socket_hour: { value: 1, means: 'full boards that somebody asks for, in an hour, for each socket' },
  built_share: { value: 0.1, means: 'of them that have changed since, and are built anew' },
  file_bytes_per_board_day: { value: 500_000, means: 'bytes of files attached to a board in a day' },
  return_seconds: { value: 60, means: 'over which clients come back by themselves after everything was cut' },
  patience_ms: { value: 500, means: 'until the last viewer of a board sees a change' },
}
export type Assumed = Record<keyof typeof assumptions, number>
export const assumed = Object.fromEntries(
  Object.entries(assumptions).map(([name, { value }]) => [name, value]),
) as Assumed

/** How often an instance asks for the heads of its boards, in seconds (`realtime/hub.ts`). */
const RECONCILE_SECONDS = 2
const DAY_SECONDS = 86_400

/** Reads a figure from a proof. One that is not there is an error: nothing is made up. */
export function readFigure({ proof, heading, figure }: Source, text = readProof(proof)): number {
  const { parts } = JSON.parse(text) as {
    parts: { sections: { heading: string; table?: { rows: (string | number)[][] } }[] }[]
  }
  const section = parts.flatMap(({ sections }) => sections).find((each) => each.heading === heading)
  const value = Number.parseFloat(String(section?.table?.rows.find(([name]) => name === figure)?.[1]))
  if (Number.isNaN(value)) throw new Error(`There is no “${figure}” under “${heading}” in docs/proof/${proof}.json`)
  return value
}
const readProof = (proof: string) => readFileSync(new URL(`../docs/proof/${proof}.json`, import.meta.url), 'utf8')

/** A difference that was lost in the noise of the measurement can be below zero: it counts as nothing. */
export const readMeasured = (): Measured =>
  Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, Math.max(0, readFigure(source))]),
  ) as Measured

/** What a number of connected sockets asks of everything. Rates are for each second, cores are cores that are busy. */
export function capacity(sockets: number, m: Measured, a: Assumed = assumed, areBoardsTogether = false) {
  const boards = Math.ceil(sockets / a.sockets_per_board)
  const events = (boards * a.changes_per_board_minute) / 60
  const events_peak = events * a.peak
  const deliveries = events * a.sockets_per_board
  const deliveries_peak = deliveries * a.peak
  const heartbeats = sockets / HEARTBEAT_SECONDS
  const own_us = events_peak * m.change_us + deliveries_peak * m.delivery_us + heartbeats * m.heartbeat_us
  /** By sockets and by cores; each process has one core for its event loop. */
  const instances = Math.max(Math.ceil(sockets / a.sockets_per_instance), Math.ceil(own_us / 1e6 / a.load))
  // On how many instances a board has viewers: on one, where the balancer sees to it; otherwise as chance has it.
  const places = areBoardsTogether ? 1 : instances * (1 - (1 - 1 / instances) ** a.sockets_per_board)
  const foreign_peak = areBoardsTogether ? 0 : (events_peak * places * (instances - 1)) / instances
  const presence = (boards * places) / HEARTBEAT_SECONDS
  const probes = (boards * places) / RECONCILE_SECONDS
  const cores = (us: number) => us / 1e6
  const writes_cores_peak = cores(
    events_peak * m.change_postgres_us + heartbeats * m.heartbeat_postgres_us + probes * m.head_postgres_us,
  )
  const loads_peak = (sockets * a.loads_per_socket_hour * a.peak) / 3_600
  const loads_cores_peak = (loads_peak * a.built_share * m.board_load_ms) / 1_000
  const returning = sockets / a.return_seconds
  return {
    sockets,
    boards,
    events,
    events_peak,
    deliveries,
    deliveries_peak,
    heartbeats,
    instances,
    places,
    service_cores_peak: cores(own_us + foreign_peak * m.foreign_event_us),
    memory_bytes: sockets * m.socket_kib * 2 ** 10 + instances * m.service_mib * 2 ** 20,
    commits_peak: events_peak,
    writes_cores_peak,
    loads_cores_peak,
    postgres_cores_peak: writes_cores_peak + loads_cores_peak,
    file_bytes_day: boards * a.file_bytes_per_board_day,
    file_bytes_year: boards * a.file_bytes_per_board_day * 365,
    log_bytes_day: events * DAY_SECONDS * m.log_bytes,
    log_bytes_kept: events * DAY_SECONDS * m.log_bytes * retentionDays(),
    wal_bytes_day: events * DAY_SECONDS * m.wal_bytes,
    redis_messages_peak: events_peak * (1 + places),
    redis_cores_peak: cores(events_peak * m.publication_redis_us + presence * m.presence_redis_us),
    presence,
    probes,
    bits_peak: deliveries_peak * m.event_bytes * 8,
    returning,
    returning_service_cores: cores(returning * m.connection_us),
    returning_postgres_cores: cores(returning * m.connection_postgres_us),
    returning_redis_cores: cores(returning * m.connection_redis_us),
  }
}
export type Load = ReturnType<typeof capacity>

const settings = readConfig({})
export const retentionDays = () => settings.EVENT_RETENTION_DAYS
export const maxSockets = () => settings.MAX_SOCKETS

/** How many viewers one board can have until the last of them waits for longer than somebody is patient. */
export const largestAudience = (m: Measured, a: Assumed = assumed) => (a.patience_ms * 1_000) / m.delivery_us

export interface Limit {
  what: string
  sockets: number
  remedy: string
}

/** What gives way, and at how many sockets: the smallest number of them at which a figure of the load is over its limit. */
export function limits(m: Measured, a: Assumed = assumed): Limit[] {
  const at = (isOver: (load: Load) => boolean) => {
    let [low, high] = [1, 1e9]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (isOver(capacity(middle, m, a))) high = middle
      else low = middle
    }
    return high
  }
  const database = a.database_cores * a.load
  const found: Limit[] = [
    {
      what: 'One process: its connections',
      sockets: maxSockets(),
      remedy: 'A second instance behind a balancer. Nothing else changes: instances know nothing of each other.',
    },
    {
      what: `Old events, removed row by row: ${a.delete_rows_per_second} a second`,
      sockets: at(({ events }) => events > a.delete_rows_per_second),
      remedy: 'Partitions of `board_events` by day: a day is dropped at once.',
    },
    {
      what: `The log of ${retentionDays()} days on one disk`,
      sockets: at(({ log_bytes_kept }) => log_bytes_kept > a.database_disk_bytes),
      remedy: 'A shorter `EVENT_RETENTION_DAYS` first; then partitions by day, and a larger disk.',
    },
    {
      what: `PostgreSQL: everything on ${a.database_cores} cores`,
      sockets: at(({ postgres_cores_peak }) => postgres_cores_peak > database),
      remedy: 'Read replicas, for building large boards: a read may be a moment late, and its position says so.',
    },
    {
      what: `PostgreSQL: what only the primary can do, on ${a.database_cores} cores`,
      sockets: at(({ writes_cores_peak }) => writes_cores_peak > database),
      remedy: 'Distribution by `board_id`, by an engine that does it: the application never routes.',
    },
    {
      what: 'The files of a year on one disk',
      sockets: at(({ file_bytes_year }) => file_bytes_year > a.database_disk_bytes),
      remedy: 'Object storage, as another `FileStore`; records stay where they are.',
    },
    {
      what: 'Redis: one core for publications and presence',
      sockets: at(({ redis_cores_peak }) => redis_cores_peak > a.load),
      remedy:
        'A balancer that keeps the sockets of a board together; then Redis Cluster: boards are in 256 hash tags already, and the same commands work there.',
    },
    {
      what: `Everybody back within ${a.return_seconds} s, in PostgreSQL`,
      sockets: at(({ returning_postgres_cores }) => returning_postgres_cores > database),
      remedy:
        'Clients come back more slowly (they do, by themselves, when they are refused with 1013), or by signed tickets that need no look.',
    },
  ]
  return found.sort((one, other) => one.sockets - other.sockets)
}
