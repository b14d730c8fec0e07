/** Milliseconds of the harness's monotonic clock. */
export type Millis = number

export type WriteKind = 'create' | 'update' | 'move' | 'delete' | 'archive' | 'restore' | 'purge'

/** A write and its outcome. `unknown`: no response, or a 5xx; it may or may not have been applied. */
export interface Write {
  marker: string
  kind: WriteKind
  board_id: string
  card_id: string
  instance: number
  began: Millis
  ended: Millis
  outcome: 'ok' | 'rejected' | 'unknown'
  /** The status, or the connection error. */
  detail: string
  /** The board's position after it, from Board-Position. */
  seq: number
}

/** A received event. */
export interface Receipt {
  at: Millis
  type: string
  /** Undefined for a client without numbers. */
  seq: number | undefined
  /** The text without its number, which is the same for all clients. */
  body: string
}

export type ListenerKind = 'numbered' | 'plain' | 'slow' | 'guest'

/** One WebSocket connection. */
export interface Connection {
  id: number
  /** The listener, whose connections follow each other. */
  listener: number
  kind: ListenerKind
  board_id: string
  user_id: string
  instance: number
  since: number | undefined
  /** Time of the first message. */
  opened: Millis | undefined
  helloSeq: number | undefined
  resyncSeq: number | undefined
  receipts: Receipt[]
  /** Presence messages. */
  presence: { at: Millis; type: string; user_id: string }[]
  closed: Millis | undefined
  code: number | undefined
  /** Why the harness itself ended it, if it did. */
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
  /** Set for a fault of one instance. */
  instance: number | undefined
  detail: string
}

/** The removal of a member, and the later invitation. */
export interface Removal {
  board_id: string
  user_id: string
  seq: number
  at: Millis
  backSeq: number
  backAt: Millis
}

/** A board from GET, with its position. */
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
  /** The boards at creation, before any event. */
  created: Map<string, unknown>
  samples: Sample[]
  /** The output of each process. */
  outputs: string[]
  /** Periods in which the harness or an instance got no CPU time. Delays in them say nothing about the service. */
  stalls: { from: Millis; to: Millis; instance: number | undefined }[]
}

/** An event in the database. */
export interface LogRow {
  board_id: string
  seq: number
  type: string
  subject_id: string | null
  body: string
  /** Commit time recorded by PostgreSQL. */
  committed: Millis
}

export interface Dump {
  events: LogRow[]
  streams: { board_id: string; last_seq: number }[]
  /** Where each card is. `lost`: neither on its board nor archived or deleted, or both. */
  cards: { id: string; state: 'on the board' | 'archived' | 'deleted' | 'lost' }[]
}

/** The harness's clock as wall-clock time, like the commit times in the database. */
export const now = (): Millis => performance.timeOrigin + performance.now()
