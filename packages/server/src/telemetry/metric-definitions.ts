import { problems } from '@lockstep/contract/problems'
import { closeCodes } from '@lockstep/contract/realtime'

/** For each label its values, or a sentence about them where a list would be long. Never an id, never what a client wrote. */
export type Labels = Record<string, readonly string[] | string>

const counter = <const L extends Labels = Record<never, never>>(help: string, labels: L = {} as L) => ({
  kind: 'counter' as const,
  help,
  labels,
})
const gauge = <const L extends Labels = Record<never, never>>(help: string, labels: L = {} as L) => ({
  kind: 'gauge' as const,
  help,
  labels,
})
const histogram = <const L extends Labels = Record<never, never>>(
  help: string,
  buckets: readonly number[],
  labels: L = {} as L,
) => ({ kind: 'histogram' as const, help, labels, buckets })

const ANSWERS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const DELIVERIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const WAITS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'] as const
export const LIMITS = [
  'login',
  'failed_login',
  'failed_login_address',
  'wrong_password',
  'registration',
  'bad_payload',
  'request',
  'request_address',
  'upgrade',
  'search',
  'search_day',
] as const
const JOBS = ['event_retention', 'run_retention', 'response_retention', 'file_removal'] as const
const goodbyes = [...(Object.keys(closeCodes) as (keyof typeof closeCodes)[]), 'slow', 'flood', 'client'] as const
const codes = Object.keys(problems) as (keyof typeof problems)[]
/** The problems by which the service sends work away that it would have done at a better time. */
export const shedding = codes.filter((code) => problems[code].status === 503)

const route = {
  method: METHODS,
  route: 'template of the route; `none` for what is no route, or was sent away before it was looked for',
} as const

/** Every metric of the service. The page of the documents is made from this. */
export const definitions = {
  lockstep_build_info: gauge('Always 1; the version is the label.', { version: 'version of the service' }),

  lockstep_http_requests_total: counter('Requests that are over.', {
    ...route,
    status: 'status that was answered; `aborted` when the client did not wait for it',
  }),
  lockstep_http_request_duration_seconds: histogram(
    'From the place that a request got to the end of its answer.',
    ANSWERS,
    route,
  ),
  lockstep_http_requests_in_flight: gauge('Requests that have a place and are not answered yet.'),
  lockstep_http_requests_waiting: gauge('Requests that wait for a place.'),
  lockstep_http_wait_seconds: histogram('How long a request waited for a place, also one that was sent away.', WAITS),
  lockstep_http_problems_total: counter('Requests that were answered with a problem.', { code: codes }),
  lockstep_http_shed_total: counter('Requests that were rejected with 503, to be sent again later.', {
    code: shedding,
  }),
  lockstep_limit_refusals_total: counter('Requests and sockets that were one too many.', { limit: LIMITS }),
  lockstep_limit_uncounted_total: counter('Counts of the rate limits that could not be kept in Redis.', {
    limit: LIMITS,
  }),

  lockstep_sockets: gauge('Open WebSocket connections, those at the door included.'),
  lockstep_live_boards: gauge('Boards that somebody here follows, or followed until a moment ago.'),
  lockstep_socket_opens_total: counter('WebSocket connections that were let in.'),
  lockstep_socket_closes_total: counter('WebSocket connections that ended, by who ended them and why.', {
    reason: goodbyes,
  }),
  lockstep_socket_resumes_total: counter('Clients that came back and told where they left off.', {
    source: ['nothing_missed', 'ring', 'log'],
  }),
  lockstep_socket_resyncs_total: counter('Clients that were told to load their board anew.'),
  lockstep_slow_clients: gauge('Connections that take nothing at the moment.'),
  lockstep_slow_client_buffered_bytes: gauge('What is kept for connections that take nothing at the moment.'),

  lockstep_events_committed_total: counter('Events of changes that this instance committed.'),
  lockstep_deliveries_total: counter('Events written to sockets, counted for each socket.'),
  lockstep_delivery_seconds: histogram(
    'From the commit of an event until it was written to the last socket of this instance that takes it; once for each event.',
    DELIVERIES,
    { source: ['here', 'bus', 'log'] },
  ),
  lockstep_log_fills_total: counter('Reads of the log for events that the bus did not bring in time.'),
  lockstep_log_fill_events_total: counter(
    'Events that were found in the log because the bus did not bring them in time.',
  ),
  lockstep_log_pages_total: counter('Reads of the log for clients that are behind.'),

  lockstep_redis_suspect: gauge('1 while messages through Redis may be getting lost.'),
  lockstep_redis_canary_age_seconds: gauge('How long ago this instance last heard itself through Redis.'),
  lockstep_redis_messages_total: counter(
    'Messages through Redis; dropped ones were not sent for too much was under way.',
    {
      direction: ['sent', 'heard', 'dropped'],
    },
  ),

  lockstep_database_pool_connections: gauge('Connections to PostgreSQL.', { state: ['idle', 'busy'] }),
  lockstep_database_pool_max_connections: gauge('Connections to PostgreSQL that there may be at most.'),
  lockstep_database_pool_waiting: gauge('Statements and transactions that wait for a connection.'),
  lockstep_database_pool_wait_seconds: histogram('How long a connection was waited for.', WAITS),
  lockstep_database_errors_total: counter('What went wrong with PostgreSQL.', {
    kind: ['connection_lost', 'unreachable', 'lock_timeout', 'storage_full', 'other'],
  }),

  lockstep_clock_skew_seconds: gauge(
    'How far the clock of PostgreSQL is ahead of the clock of this instance; negative when it is behind.',
  ),

  lockstep_board_queue_waiting: gauge('Changes that wait for their turn on a board.'),
  lockstep_board_queue_wait_seconds: histogram('How long a change waited for its turn on its board.', WAITS),
  lockstep_argon2_waiting: gauge('Passwords that wait to be hashed.'),
  lockstep_argon2_wait_seconds: histogram('How long a password waited to be hashed.', WAITS),

  lockstep_rule_runs_total: counter('Runs of automation rules.', {
    outcome: ['moved', 'already_there', 'assigned', 'already_assigned', 'failed'],
  }),
  lockstep_attachment_bytes_total: counter('Bytes of files that were stored and fetched.', {
    direction: ['stored', 'fetched'],
  }),
  lockstep_job_runs_total: counter('Runs of background jobs.', {
    job_name: JOBS,
    outcome: ['done', 'failed'],
  }),
  lockstep_job_removed_rows_total: counter('Rows that background jobs removed.', {
    job_name: JOBS,
  }),
}
