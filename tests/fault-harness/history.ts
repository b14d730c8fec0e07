/** All times are milliseconds of one monotonic clock, that of the rig. */
export type Millis = number

export type WriteKind = 'create' | 'update' | 'move' | 'delete'

/** A write and what its writer knows of it. `unknown`: no answer, or a 5xx; it may or may not have happened. */
export interface Write {
  marker: string
  kind: WriteKind
  board_id: string
  card_id: string
  instance: number
  began: Millis
  ended: Millis
  outcome: 'ok' | 'refused' | 'unknown'
  /** The status, or what went wrong on the way. */
  detail: string
  /** The board's number after it, from Board-Position. */
  seq: number
}

/** A message as it came. */
export interface Receipt {
  at: Millis
  type: string
  /** Undefined for a client that did not ask for numbers. */
  seq: number | undefined
  /** The text without its number: the same for everybody. */
  body: string
}

export type ListenerKind = 'numbered' | 'plain' | 'slow' | 'guest'

/** One connection, from its opening to its end. */
export interface Connection {
  id: number
  /** Connections of the same listener follow each other. */
  listener: number
  kind: ListenerKind
  board_id: string
  user_id: string
  instance: number
  since: number | undefined
  /** When the first message came: from then on it is served. */
  opened: Millis | undefined
  hello_seq: number | undefined
  resync_seq: number | undefined
  receipts: Receipt[]
  /** Who came and went, as it was told. */
  presence: { at: Millis; type: string; user_id: string }[]
  closed: Millis | undefined
  code: number | undefined
  /** Why the rig itself ended it, if it did. */
  endedByHarness: 'reset' | 'over' | undefined
}

export type FaultKind =
  | 'kill instance'
  | 'drain instance'
  | 'freeze instance'
  | 'kill Redis'
  | 'freeze Redis'
  | 'cut subscriptions'
  | 'lose messages'
  | 'fail over'
  | 'restart PostgreSQL'
  | 'end backends'
  | 'reset clients'
  | 'remove member'

export interface Fault {
  kind: FaultKind
  began: Millis
  ended: Millis
  /** For a fault of one instance. */
  instance: number | undefined
  detail: string
}

/** A removal of a member, and his return. */
export interface Removal {
  board_id: string
  user_id: string
  seq: number
  at: Millis
  back_seq: number
  back_at: Millis
}

/** A whole board as it was read, with the position that came with it. */
export interface Snapshot {
  board_id: string
  seq: number
  board: unknown
}

export interface Sample {
  at: Millis
  instance: number
  rss_mib: number
}

export interface History {
  seed: number
  began: Millis
  ended: Millis
  writes: Write[]
  connections: Connection[]
  faults: Fault[]
  removals: Removal[]
  snapshots: Snapshot[]
  /** The boards as they were made, before any event. */
  created: Map<string, unknown>
  samples: Sample[]
  /** What each process said. */
  outputs: string[]
  /**
   * When the machine gave the rig itself, or an instance, no time to run: what was measured then says nothing about the
   * service.
   */
  stalls: { from: Millis; to: Millis; instance: number | undefined }[]
}

/** An event as the database has it. */
export interface LogRow {
  board_id: string
  seq: number
  type: string
  subject_id: string | null
  body: string
  /** When it was committed, by the database's own record. */
  committed: Millis
}

export interface Dump {
  events: LogRow[]
  streams: { board_id: string; last_seq: number }[]
}

/** The database keeps wall-clock times; this is the rig's clock in the same measure. */
export const now = (): Millis => performance.timeOrigin + performance.now()
