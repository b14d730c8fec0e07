import { scopes } from '@lockstep/contract/operation'
import { problems } from '@lockstep/contract/problems'
import { closeCodes } from '@lockstep/contract/realtime'

/** The values of each label, or a description where a list would be long. Never an id or text from a client. */
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

const RESPONSE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const DELIVERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const WEBHOOK_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3_600, 86_400]
const WAIT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'] as const
export const LIMITS = [
  'login',
  'failed_login',
  'failed_login_address',
  'wrong_password',
  'registration',
  'bad_payload',
  'invalid_link',
  'request',
  'request_address',
  'upgrade',
  'search',
  'search_day',
  'new_token',
  'unknown_token',
  'new_member',
  'same_member',
  'token_member_change',
  'webhook_change',
  'webhook_test',
] as const
const JOBS = [
  'event_retention',
  'run_retention',
  'response_retention',
  'link_retention',
  'file_removal',
  'token_retention',
  'trash_retention',
  'inbox_retention',
  'webhook_retention',
  'daily_totals',
] as const
const CLOSE_REASONS = [...(Object.keys(closeCodes) as (keyof typeof closeCodes)[]), 'slow', 'flood', 'client'] as const
const codes = Object.keys(problems) as (keyof typeof problems)[]
/** The problems of load shedding: the request would succeed at another time. */
export const shedding = codes.filter((code) => problems[code].status === 503)

const route = {
  method: METHODS,
  route: 'template of the route; `none` for an unknown path, and for a request that was rejected before routing',
} as const

/** Every metric of the service. docs/metrics.md is generated from this. */
export const definitions = {
  lockstep_build_info: gauge('Always 1; the build is in the labels.', {
    version: 'version of the service',
    revision: 'its commit, or `unknown`',
  }),

  lockstep_http_requests_total: counter('Completed requests.', {
    ...route,
    status: 'status of the response; `aborted` when the client closed the connection before its end',
  }),
  lockstep_http_request_duration_seconds: histogram(
    'Time from the arrival of a request to the end of its response, including its waits.',
    RESPONSE_BUCKETS,
    route,
  ),
  lockstep_http_requests_in_flight: gauge('Requests that are not completed, including those that wait.'),
  lockstep_http_requests_waiting: gauge('Requests, and other work of users, that wait for a slot.'),
  lockstep_http_wait_seconds: histogram(
    'Time that they waited for a slot, also when they were rejected.',
    WAIT_BUCKETS,
  ),
  lockstep_http_problems_total: counter('Responses with an error, by problem code.', { code: codes }),
  lockstep_http_shed_total: counter('Requests rejected with 503 that the client should retry.', {
    code: shedding,
  }),
  lockstep_token_requests_total: counter('Requests with a known access token.', {
    scope: scopes,
    kind: ['personal', 'board'],
  }),
  lockstep_limit_refusals_total: counter(
    'Requests and sockets rejected by a rate limit. Not those of the byte budget.',
    { limit: LIMITS },
  ),
  lockstep_limit_uncounted_total: counter('Requests that Redis could not count for a rate limit.', {
    limit: LIMITS,
  }),

  lockstep_sockets: gauge('Open WebSocket connections, including those that are still being authorized.'),
  lockstep_live_boards: gauge('Boards with a socket on this instance, now or a moment ago.'),
  lockstep_socket_opens_total: counter('WebSocket connections that were accepted.'),
  lockstep_socket_closes_total: counter('Closed WebSocket connections, by reason.', {
    reason: CLOSE_REASONS,
  }),
  lockstep_socket_resumes_total: counter('Clients that reconnected with a position, by source of the missed events.', {
    source: ['nothing_missed', 'ring', 'log'],
  }),
  lockstep_socket_resyncs_total: counter('Clients that had to reload their board.'),
  lockstep_slow_clients: gauge('Connections whose send buffer is not draining.'),
  lockstep_slow_client_buffered_bytes: gauge('Bytes buffered for slow clients.'),

  lockstep_events_committed_total: counter('Events of changes that this instance committed.'),
  lockstep_deliveries_total: counter('Events written to sockets, counted for each socket.'),
  lockstep_delivery_seconds: histogram(
    'Time from the commit of an event until it is written to the last socket of this instance, without slow clients; once per event.',
    DELIVERY_BUCKETS,
    { source: ['here', 'bus', 'log'] },
  ),
  lockstep_log_fills_total: counter('Reads of the event log to fill a gap that the bus left.'),
  lockstep_log_fill_events_total: counter('Events read from the log to fill a gap that the bus left.'),
  lockstep_log_pages_total: counter('Reads of the event log for clients that are catching up.'),

  lockstep_redis_suspect: gauge('1 while Redis is degraded: messages may be lost.'),
  lockstep_redis_canary_age_seconds: gauge(
    'Time since this instance last received its own canary message through Redis.',
  ),
  lockstep_redis_messages_total: counter(
    'Messages through Redis. A dropped message was not sent, because too many were pending.',
    {
      direction: ['sent', 'received', 'dropped'],
    },
  ),

  lockstep_database_pool_connections: gauge('Connections to PostgreSQL.', { state: ['idle', 'busy'] }),
  lockstep_database_pool_max_connections: gauge('Maximum number of connections to PostgreSQL.'),
  lockstep_database_pool_waiting: gauge('Statements and transactions that wait for a connection.'),
  lockstep_database_pool_wait_seconds: histogram(
    'Time that statements and transactions waited for a connection.',
    WAIT_BUCKETS,
  ),
  lockstep_database_errors_total: counter('Errors of PostgreSQL and of its connections.', {
    kind: ['connection_lost', 'unreachable', 'lock_timeout', 'storage_full', 'other'],
  }),

  lockstep_clock_skew_seconds: gauge('Clock of PostgreSQL minus clock of this instance.'),

  lockstep_board_queue_waiting: gauge('Changes that wait for the turn of their user or their board.'),
  lockstep_board_queue_wait_seconds: histogram(
    'Time that changes waited for a turn: one value for that of the user, one for that of the board.',
    WAIT_BUCKETS,
  ),
  lockstep_argon2_waiting: gauge('Passwords that wait to be hashed.'),
  lockstep_argon2_wait_seconds: histogram('Time that passwords waited to be hashed.', WAIT_BUCKETS),

  lockstep_rule_runs_total: counter('Runs of automation rules.', {
    outcome: ['moved', 'already_there', 'assigned', 'already_assigned', 'failed'],
  }),
  lockstep_attachment_bytes_total: counter('Bytes of files that were stored or fetched.', {
    direction: ['stored', 'fetched'],
  }),
  lockstep_webhook_attempts_total: counter(
    'Attempts to send an event to a webhook. `rejected`: a response other than 2xx. `failed`: no response.',
    { outcome: ['accepted', 'rejected', 'failed'] },
  ),
  lockstep_webhook_delay_seconds: histogram(
    'Time between the commit of an event and its acceptance by a webhook.',
    WEBHOOK_BUCKETS,
  ),
  lockstep_webhooks_paused_total: counter(
    'Webhooks that were paused, because they failed for too long or returned 410.',
    {
      reason: ['failing', 'gone'],
    },
  ),
  lockstep_job_runs_total: counter('Runs of background jobs.', {
    job_name: JOBS,
    outcome: ['done', 'failed'],
  }),
  lockstep_job_removed_rows_total: counter('Rows that background jobs removed.', {
    job_name: JOBS,
  }),
}
