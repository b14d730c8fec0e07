/** A question to Prometheus, and what its lines are called. */
interface Query {
  expr: string
  legend: string
}
interface Panel {
  title: string
  /** How Grafana writes the values. */
  unit: 's' | 'bytes' | 'Bps' | 'ops' | 'short' | 'percentunit'
  queries: Query[]
}

const ours = 'job="lockstep",instance=~"$instance"'
/** Whoever asks how it goes is no user, and an instance that leaves says 503 to him by design. */
const PROBES_LEFT_OUT = 'route!~"/health|/ready|/live|/metrics"'
const RATE = '[$__rate_interval]'
/** What happens in a second, by some labels. */
const rate = (name: string, by = '', only = '') =>
  `sum${by && ` by (${by})`} (rate(${name}{${ours}${only && `,${only}`}}${RATE}))`
const quantile = (q: number, name: string, by = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (rate(${name}_bucket{${ours}}${RATE})))`
const quantiles = (name: string): Query[] => [
  { expr: quantile(0.5, name), legend: 'half' },
  { expr: quantile(0.99, name), legend: '99 %' },
]
const level = (name: string, legend = '{{instance}}'): Query => ({ expr: `${name}{${ours}}`, legend })
const total = (name: string, legend: string): Query => ({ expr: `sum (${name}{${ours}})`, legend })

/** The rows of the dashboard, from what users notice down to what explains it. */
export const rows: { title: string; panels: Panel[] }[] = [
  {
    title: 'What is promised',
    panels: [
      {
        title: 'Requests that failed, of the last hour',
        unit: 'percentunit',
        queries: [
          {
            expr: `(sum (rate(lockstep_http_requests_total{${ours},status=~"5..",${PROBES_LEFT_OUT}}[1h])) or vector(0)) / sum (rate(lockstep_http_requests_total{${ours},${PROBES_LEFT_OUT}}[1h]))`,
            legend: 'goal: at most 0.05 %',
          },
        ],
      },
      {
        title: 'Events delivered within 250 ms, of the last hour',
        unit: 'percentunit',
        queries: [
          {
            expr: `sum (rate(lockstep_delivery_seconds_bucket{${ours},le="0.25"}[1h])) / sum (rate(lockstep_delivery_seconds_count{${ours}}[1h]))`,
            legend: 'goal: at least 99.9 %',
          },
        ],
      },
      { title: 'Instances', unit: 'short', queries: [{ expr: `up{${ours}}`, legend: '{{instance}}' }] },
      {
        title: 'Versions',
        unit: 'short',
        queries: [{ expr: `sum by (version) (lockstep_build_info{${ours}})`, legend: '{{version}}' }],
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by route',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_http_requests_total', 'method, route'), legend: '{{method}} {{route}}' }],
      },
      {
        title: 'Requests by status',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_http_requests_total', 'status'), legend: '{{status}}' }],
      },
      {
        title: 'Duration by route, 99 %',
        unit: 's',
        queries: [
          {
            expr: quantile(0.99, 'lockstep_http_request_duration_seconds', 'method, route'),
            legend: '{{method}} {{route}}',
          },
        ],
      },
      { title: 'Duration', unit: 's', queries: quantiles('lockstep_http_request_duration_seconds') },
      { title: 'In flight', unit: 'short', queries: [level('lockstep_http_requests_in_flight')] },
      { title: 'Waiting for a place', unit: 'short', queries: [level('lockstep_http_requests_waiting')] },
      { title: 'Wait for a place', unit: 's', queries: quantiles('lockstep_http_wait_seconds') },
      {
        title: 'Problems',
        unit: 'ops',
        queries: [{ expr: `${rate('lockstep_http_problems_total', 'code')} > 0`, legend: '{{code}}' }],
      },
      {
        title: 'Sent away with 503',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_http_shed_total', 'code'), legend: '{{code}}' }],
      },
      {
        title: 'One too many',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_limit_refusals_total', 'limit'), legend: '{{limit}}' }],
      },
      {
        title: 'Limits not counted in Redis',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_limit_uncounted_total', 'limit'), legend: '{{limit}}' }],
      },
    ],
  },
  {
    title: 'Real time',
    panels: [
      { title: 'From commit to delivery', unit: 's', queries: quantiles('lockstep_delivery_seconds') },
      {
        title: 'From commit to delivery, 99 % by source',
        unit: 's',
        queries: [{ expr: quantile(0.99, 'lockstep_delivery_seconds', 'source'), legend: '{{source}}' }],
      },
      {
        title: 'Events and deliveries',
        unit: 'ops',
        queries: [
          { expr: rate('lockstep_events_committed_total'), legend: 'events committed' },
          { expr: rate('lockstep_deliveries_total'), legend: 'deliveries' },
        ],
      },
      {
        title: 'Sockets',
        unit: 'short',
        queries: [level('lockstep_sockets'), total('lockstep_live_boards', 'boards with sockets')],
      },
      {
        title: 'Sockets that come and go',
        unit: 'ops',
        queries: [
          { expr: rate('lockstep_socket_opens_total'), legend: 'opened' },
          { expr: rate('lockstep_socket_closes_total', 'reason'), legend: 'closed: {{reason}}' },
        ],
      },
      {
        title: 'Clients that came back',
        unit: 'ops',
        queries: [
          { expr: rate('lockstep_socket_resumes_total', 'source'), legend: '{{source}}' },
          { expr: rate('lockstep_socket_resyncs_total'), legend: 'told to load the board anew' },
        ],
      },
      {
        title: 'Read from the log',
        unit: 'ops',
        queries: [
          { expr: rate('lockstep_log_fills_total'), legend: 'gaps' },
          { expr: rate('lockstep_log_fill_events_total'), legend: 'events in gaps' },
          { expr: rate('lockstep_log_pages_total'), legend: 'pages for clients that are behind' },
        ],
      },
      { title: 'Slow clients', unit: 'short', queries: [level('lockstep_slow_clients')] },
      { title: 'Kept for slow clients', unit: 'bytes', queries: [level('lockstep_slow_client_buffered_bytes')] },
    ],
  },
  {
    title: 'Redis and PostgreSQL',
    panels: [
      { title: 'Redis is suspect', unit: 'short', queries: [level('lockstep_redis_suspect')] },
      { title: 'Clock of PostgreSQL ahead', unit: 's', queries: [level('lockstep_clock_skew_seconds')] },
      { title: 'Age of the canary', unit: 's', queries: [level('lockstep_redis_canary_age_seconds')] },
      {
        title: 'Messages through Redis',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_redis_messages_total', 'direction'), legend: '{{direction}}' }],
      },
      {
        title: 'Connections to PostgreSQL',
        unit: 'short',
        queries: [
          level('lockstep_database_pool_connections', '{{instance}} {{state}}'),
          level('lockstep_database_pool_max_connections', '{{instance}} at most'),
        ],
      },
      { title: 'Waiting for a connection', unit: 'short', queries: [level('lockstep_database_pool_waiting')] },
      { title: 'Wait for a connection', unit: 's', queries: quantiles('lockstep_database_pool_wait_seconds') },
      {
        title: 'Trouble with PostgreSQL',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_database_errors_total', 'kind'), legend: '{{kind}}' }],
      },
    ],
  },
  {
    title: 'Inside',
    panels: [
      { title: 'Changes that wait for their board', unit: 'short', queries: [level('lockstep_board_queue_waiting')] },
      { title: 'Wait for the board', unit: 's', queries: quantiles('lockstep_board_queue_wait_seconds') },
      { title: 'Passwords that wait', unit: 'short', queries: [level('lockstep_argon2_waiting')] },
      { title: 'Wait of passwords', unit: 's', queries: quantiles('lockstep_argon2_wait_seconds') },
      {
        title: 'Delay of the event loop',
        unit: 's',
        queries: [
          level('nodejs_eventloop_lag_p99_seconds', '{{instance}} 99 %'),
          level('nodejs_eventloop_lag_max_seconds', '{{instance}} longest'),
        ],
      },
      {
        title: 'Processor',
        unit: 'percentunit',
        queries: [{ expr: rate('process_cpu_seconds_total', 'instance'), legend: '{{instance}}' }],
      },
      { title: 'Memory', unit: 'bytes', queries: [level('process_resident_memory_bytes')] },
      { title: 'Open files', unit: 'short', queries: [level('process_open_fds')] },
      {
        title: 'Garbage collection',
        unit: 'percentunit',
        queries: [{ expr: rate('nodejs_gc_duration_seconds_sum', 'instance'), legend: '{{instance}}' }],
      },
      {
        title: 'Rules',
        unit: 'ops',
        queries: [{ expr: rate('lockstep_rule_runs_total', 'outcome'), legend: '{{outcome}}' }],
      },
      {
        title: 'Files',
        unit: 'Bps',
        queries: [{ expr: rate('lockstep_attachment_bytes_total', 'direction'), legend: '{{direction}}' }],
      },
      {
        title: 'Chores',
        unit: 'ops',
        queries: [
          { expr: rate('lockstep_chore_runs_total', 'chore, outcome'), legend: '{{chore}}: {{outcome}}' },
          { expr: rate('lockstep_chore_removed_total', 'chore'), legend: '{{chore}}: removed' },
        ],
      },
    ],
  },
]

const COLUMNS = 24
const PER_ROW = 3
const HEIGHT = 7
const source = { type: 'prometheus', uid: '$' + '{datasource}' }

/** The dashboard as Grafana imports it. */
export function dashboard() {
  const panels: object[] = []
  let y = 0
  for (const { title, panels: inside } of rows) {
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: COLUMNS, h: 1 } })
    y += 1
    for (const [i, panel] of inside.entries()) {
      const width = COLUMNS / PER_ROW
      const gridPos = { x: (i % PER_ROW) * width, y: y + Math.floor(i / PER_ROW) * HEIGHT, w: width, h: HEIGHT }
      panels.push(panelOf(panel, panels.length + 1, gridPos))
    }
    y += Math.ceil(inside.length / PER_ROW) * HEIGHT
  }
  return {
    uid: 'lockstep',
    title: 'Lockstep',
    tags: ['lockstep'],
    schemaVersion: 38,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          name: 'instance',
          label: 'Instance',
          type: 'query',
          datasource: source,
          query: { query: 'label_values(up{job="lockstep"}, instance)', refId: 'instance' },
          refresh: 2,
          includeAll: true,
          multi: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  }
}

const panelOf = ({ title, unit, queries }: Panel, id: number, gridPos: object) => ({
  id,
  type: 'timeseries',
  title,
  datasource: source,
  gridPos,
  fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 5, showPoints: 'never' } }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  targets: queries.map(({ expr, legend }, i) => ({
    refId: String.fromCharCode(65 + i),
    datasource: source,
    expr,
    legendFormat: legend,
  })),
})

/** Every query, as Grafana asks it of Prometheus: for all instances, over `range`. */
export const queriesOver = (range: string): (Query & { title: string })[] =>
  rows.flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) =>
      queries.map(({ expr, legend }) => ({
        title,
        legend,
        expr: expr.replaceAll('$__rate_interval', range).replaceAll('$instance', '.*'),
      })),
    ),
  )
