import Type, { type Static } from 'typebox'

export const PLACEHOLDER_SECRET = 'change-me-this-placeholder-is-public'

/** 32 bytes in base64, or nothing. */
const KEY_PATTERN = '^([A-Za-z0-9+/]{43}=)?$'

/** Every setting: its environment variable, its default in development, and what it does. The docs are generated from this. */
export const Settings = Type.Object({
  ENVIRONMENT: Type.Enum(['development', 'production'], {
    default: 'development',
    description: '`production` rejects unsafe settings, does not create the database, and sets Secure cookies.',
  }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` in a container.' }),
  PORT: Type.Integer({ default: 8000, minimum: 0, maximum: 65535, description: 'Port to listen on.' }),
  DATABASE_URL: Type.String({
    default: 'postgres://postgres:postgres@127.0.0.1:5432/lockstep',
    pattern: '^postgres(ql)?://',
    description:
      'PostgreSQL 15 or newer, or [pgbouncer](deploying.md#pgbouncer) 1.21 or newer in front of it. With `sslmode=verify-full`, [TLS](deploying.md#tls-to-the-stores). In development a missing database is created.',
  }),
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 200,
    description:
      'Connections to PostgreSQL per instance. The sum over all instances must be below its `max_connections`, or behind pgbouncer below `max_client_conn`.',
  }),
  MIGRATE_ON_START: Type.Boolean({
    default: true,
    description:
      'Migrate the schema before listening. If several instances start together, one migrates and the others wait.',
  }),
  REDIS_URL: Type.String({
    default: 'redis://127.0.0.1:6379',
    pattern: '^(rediss?://[^,]+(,(?=r)|$))*$',
    description:
      'Redis distributes events between instances and counts rate limits. Several URLs, separated by commas, are a cluster. With `rediss://`, [TLS](deploying.md#tls-to-the-stores). Empty: a single instance without Redis.',
  }),
  STORE_TLS: Type.Enum(['required', 'optional'], {
    description:
      'Whether connections to PostgreSQL and Redis on other machines must use [verified TLS](deploying.md#tls-to-the-stores). Default: `optional` in development, `required` in production. Connections within this machine need none.',
  }),
  JWT_SECRET: Type.String({
    default: PLACEHOLDER_SECRET,
    minLength: 1,
    description:
      'Signs the tokens of logins. Production requires a random secret of at least 32 characters, and rejects the placeholder and examples.',
  }),
  JWT_SECRET_PREVIOUS: Type.String({
    default: '',
    description:
      'A second secret whose tokens are accepted, while the secret is [replaced](administering.md#replacing-the-signing-secret): first the next one, then the previous one. It signs no tokens. Empty: none.',
  }),
  JWT_ALGORITHM: Type.Enum(['HS256', 'HS384', 'HS512'], {
    default: 'HS256',
    description: 'Signature algorithm of tokens. No other algorithm is accepted.',
  }),
  TOKEN_LIFETIME_SECONDS: Type.Integer({
    default: 3600,
    minimum: 1,
    description: 'Lifetime of the token of a login, and of its cookie.',
  }),
  ACCESS_TOKENS: Type.Enum(['on', 'off'], {
    default: 'on',
    description:
      'Whether users can create [access tokens](tokens.md) for programs. If off, existing ones are rejected, and the paths that manage them do not exist.',
  }),
  TOKEN_MAX_AGE_DAYS: Type.Integer({
    default: 366,
    minimum: 0,
    maximum: 3_650,
    description: 'Maximum lifetime of a new access token. 0: no maximum, and a token may never expire.',
  }),
  SESSION_MAX_AGE_SECONDS: Type.Integer({
    default: 2_592_000,
    minimum: 1,
    description: 'How long after the login a session can be renewed.',
  }),
  AUTH_COOKIE: Type.Boolean({
    default: false,
    description: 'Set the cookie `svc_auth` at every login, not only with `cookie=true`.',
  }),
  REGISTRATION: Type.Enum(['open', 'closed'], {
    default: 'open',
    description:
      '`open`: anyone can create an account. `closed`: only with an invitation link, from the owner of a board or from the operator; or the operator creates it.',
  }),
  PUBLIC_URL: Type.String({
    default: '',
    description:
      'The address under which users reach the service, such as `https://boards.example.com`, for invitation and reset links. Production requires https, except for a loopback address. Empty: the web client uses the address of its page, and the command line prints paths.',
  }),
  USER_SEARCH: Type.Enum(['open', 'limited'], {
    description:
      '`open`: a search matches a part of any e-mail address. `limited`: it matches only a full address, or a part of it for members of common boards, and lists only these without a text. Default: `open` in development, `limited` in production.',
  }),
  ADMIN_API: Type.Enum(['on', 'off'], {
    default: 'off',
    description:
      'Whether superusers can use the administration API under `/admin`. If off, these paths do not exist; `npm run admin` always works.',
  }),
  API_DOCS: Type.Enum(['on', 'off'], {
    default: 'on',
    description:
      'Whether `/docs`, `/redoc` and the realtime console `/docs/realtime` exist. `/openapi.json` and `/asyncapi.json` always do.',
  }),
  PASSWORD_MIN_LENGTH: Type.Integer({
    minimum: 1,
    maximum: 1024,
    description: 'Minimum length of a new password, in characters. Default: 1 in development, 8 in production.',
  }),
  PASSWORD_MAX_LENGTH: Type.Integer({
    default: 128,
    minimum: 64,
    maximum: 1024,
    description: 'Maximum length of a new password, in characters.',
  }),
  PASSWORD_REQUIRES: Type.String({
    default: '',
    pattern: '^((lower|upper|digit|symbol)(,(?=.)|$))*$',
    description: 'What a new password must contain: `lower`, `upper`, `digit`, `symbol`, separated by commas.',
  }),
  REFUSE_COMMON_PASSWORDS: Type.Enum(['on', 'off'], {
    description:
      'Whether the 13,000 most common passwords, and the user’s own username and e-mail address, are rejected as new passwords. Default: `off` in development, `on` in production.',
  }),
  CORS_ORIGINS: Type.String({
    description:
      'Origins of other sites whose pages may call the API, separated by commas. Default: `*` (any origin, also with cookies) in development; none in production, where `*` is rejected.',
  }),
  TRUST_PROXY: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10,
    description:
      'Number of trusted proxies in front of the service, which report the client address in `X-Forwarded-For`.',
  }),
  MAX_REQUESTS_AT_ONCE: Type.Integer({
    minimum: 1,
    description:
      'Maximum number of concurrent requests. More requests wait briefly, and get 503 if no slot becomes free. Default: two per connection to PostgreSQL. With `RATE_LIMITS`, a quarter of them for one user, or for one address without a login.',
  }),
  BOARD_WAIT_MS: Type.Integer({
    default: 5_000,
    minimum: 1,
    description: 'How long a change waits for earlier changes of the same board; then it gets 503.',
  }),
  MAX_SOCKETS: Type.Integer({
    default: 20_000,
    minimum: 1,
    description:
      'Maximum number of WebSocket connections per instance; more are closed with 1013. The limit of open files must be at least a quarter higher.',
  }),
  MAX_SOCKETS_PER_USER: Type.Integer({
    default: 200,
    minimum: 1,
    description:
      'Maximum number of WebSocket connections of one user per instance; more are closed with 1013. With `RATE_LIMITS`.',
  }),
  MAX_SOCKETS_PER_USER_AND_BOARD: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Maximum number of WebSocket connections of one user to one board, per instance. With `RATE_LIMITS`.',
  }),
  MAX_SOCKETS_PER_ADDRESS: Type.Integer({
    default: 2_000,
    minimum: 1,
    description:
      'Maximum number of WebSocket connections of one address per instance; more are closed with 1013. With `RATE_LIMITS`.',
  }),
  RATE_LIMITS: Type.Enum(['on', 'off'], {
    description:
      'Whether the rate limits below apply, and the shares of one user or address in requests, sockets and bytes. Rates are counted in Redis for all instances together, without Redis by each instance; shares by each instance. Default: `off` in development, `on` in production.',
  }),
  MAX_LOGINS_PER_MINUTE: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Login attempts for one account from one address, successful or not; then 429.',
  }),
  MAX_FAILED_LOGINS: Type.Integer({
    default: 10,
    minimum: 1,
    description:
      'Failed logins for one account from one address in 15 minutes; then 429. Also the limit of wrong current passwords of one user.',
  }),
  MAX_FAILED_LOGINS_PER_ADDRESS: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Failed logins from one address in 15 minutes, for all accounts together; then 429.',
  }),
  MAX_REGISTRATIONS_PER_HOUR: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Registrations from one address; then 429.',
  }),
  MAX_BAD_PAYLOADS_PER_MINUTE: Type.Integer({
    default: 300,
    minimum: 1,
    description: 'Logins and registrations with status 422 from one address; then 429.',
  }),
  MAX_REQUESTS_PER_MINUTE: Type.Integer({
    default: 6_000,
    minimum: 1,
    description: 'Requests of one user; then 429.',
  }),
  MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: Type.Integer({
    default: 30_000,
    minimum: 1,
    description: 'Requests from one address, of all users together, per instance; then 429.',
  }),
  MAX_UPGRADES_PER_MINUTE: Type.Integer({
    default: 3_000,
    minimum: 1,
    description: 'New WebSocket connections from one address; more are closed with 1013.',
  }),
  MAX_INVALID_LINKS: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Invalid invitation and reset links from one address in 15 minutes; then 429 for all links.',
  }),
  MAX_USER_SEARCHES_PER_MINUTE: Type.Integer({
    default: 30,
    minimum: 1,
    description: 'User searches by one user; then 429.',
  }),
  MAX_USER_SEARCHES_PER_DAY: Type.Integer({
    default: 500,
    minimum: 1,
    description: 'User searches by one user in 24 hours; then 429.',
  }),
  MAX_NEW_TOKENS_PER_HOUR: Type.Integer({
    default: 60,
    minimum: 1,
    description: 'Access tokens that one user creates in an hour. Each is recorded in the audit log forever.',
  }),
  MAX_NEW_MEMBERS_PER_HOUR: Type.Integer({
    default: 60,
    minimum: 1,
    description: 'Members that one user adds to boards; then 429. Users who join with an invitation link do not count.',
  }),
  MAX_ADDITIONS_OF_ONE_USER_PER_DAY: Type.Integer({
    default: 20,
    minimum: 1,
    description:
      'How often one user adds the same other user to boards in 24 hours, again after leaving included; then 429.',
  }),
  MAX_TOKEN_MEMBER_CHANGES_PER_HOUR: Type.Integer({
    default: 600,
    minimum: 1,
    description:
      'Changes of members by one user with access tokens; then 429. Each is recorded in the audit log forever.',
  }),
  MAX_WEBHOOK_CHANGES_PER_HOUR: Type.Integer({
    default: 600,
    minimum: 1,
    description: 'New, changed, resumed and deleted webhooks and reads of their secrets per user.',
  }),
  MAX_WEBHOOK_TESTS_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 1,
    description: 'Test events per webhook.',
  }),
  MAX_UNKNOWN_TOKENS_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 1,
    description:
      'Requests from one address with an access token that does not exist, was revoked or has expired; then 429 for tokens that the instance has not seen yet.',
  }),
  QUOTAS: Type.Enum(['on', 'off'], {
    description:
      'Whether the five quotas below apply. Boards are counted also while quotas are off, once they were counted. Default: `off` in development, `on` in production.',
  }),
  MAX_BOARD_TEXT_BYTES: Type.Integer({
    default: 8_388_608,
    minimum: 1,
    description:
      'Maximum text of a board: its bytes as JSON, plus 200 for each object and 640 for each member and assignee; then 409 for changes that add text.',
  }),
  MAX_CARDS_PER_BOARD: Type.Integer({
    default: 10_000,
    minimum: 1,
    description: 'Maximum number of cards of a board; then 409.',
  }),
  MAX_BOARD_FILE_BYTES: Type.Integer({
    default: 1_073_741_824,
    minimum: 1,
    description: 'Maximum size of all files of a board together; then 409.',
  }),
  MAX_OWNED_BOARDS_PER_USER: Type.Integer({
    default: 500,
    minimum: 1,
    description:
      'Maximum number of existing boards that one user has created; then 409. Boards created by others do not count, even if the user owns them.',
  }),
  MAX_BOARD_LOG_BYTES_PER_MINUTE: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description:
      'Maximum bytes that the changes of one board write to its log in a minute; then 429, except for deletions that free as much as they write. Renaming a column writes the whole column.',
  }),
  UNREADY_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 600,
    description:
      'How long an instance keeps serving after SIGTERM while `/ready` returns 503. Set it longer than a load balancer takes to notice.',
  }),
  DRAIN_SECONDS: Type.Integer({
    default: 5,
    minimum: 0,
    maximum: 600,
    description: 'Period over which WebSocket connections are closed after SIGTERM.',
  }),
  MAX_ATTACHMENT_BYTES: Type.Integer({
    default: 10_485_760,
    minimum: 1,
    maximum: 1_073_741_824,
    description: 'Maximum size of an attachment.',
  }),
  BOARD_CACHE_BYTES: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description: 'Memory for the cache of full boards, which are stored compressed.',
  }),
  EVENT_RETENTION_DAYS: Type.Integer({
    default: 90,
    minimum: 1,
    description: 'Retention of events. A client can resume after being offline for this long.',
  }),
  TRASH_DAYS: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 3650,
    description: 'How long deleted cards and columns can be restored. 0: they are deleted at once.',
  }),
  ENCRYPTION_KEY: Type.String({
    default: '',
    pattern: KEY_PATTERN,
    description:
      'Encrypts the secrets of webhooks in the database: 32 random bytes in base64, such as from `openssl rand -base64 32`. Empty: webhooks are off. Keep a copy of it, [apart from backups](deploying.md#backup-and-restore) of the database; without it, these secrets are lost.',
  }),
  ENCRYPTION_KEY_PREVIOUS: Type.String({
    default: '',
    pattern: KEY_PATTERN,
    description: 'A second key that still decrypts, while the key is replaced. It encrypts nothing. Empty: none.',
  }),
  WEBHOOK_HTTP: Type.Enum(['on', 'off'], {
    description:
      'Whether webhooks may use plain HTTP instead of HTTPS. Default: `on` in development, `off` in production.',
  }),
  WEBHOOK_ALLOWED_NETWORKS: Type.String({
    default: '',
    description:
      'Networks that webhooks may reach although they are not public, in CIDR notation, separated by commas: `10.20.0.0/16,fd00::/8`. For receivers on this machine: `127.0.0.0/8,::1/128`. Default: none, also in development. Every owner of a board can send requests to these networks, so allow few, or set `WEBHOOK_ALLOWED_HOSTS`.',
  }),
  WEBHOOK_ALLOWED_HOSTS: Type.String({
    default: '',
    description:
      'The only hosts that webhooks may reach, separated by commas: `hooks.example.com` or, for all names below one, `*.example.com`. Their addresses must be public, or in `WEBHOOK_ALLOWED_NETWORKS`. Names are resolved by DNS, not by `/etc/hosts`. Empty: any host.',
  }),
  WEBHOOK_TIMEOUT_SECONDS: Type.Integer({
    default: 15,
    minimum: 1,
    maximum: 120,
    description: 'How long an attempt may take, from the start of the connection to the end of the response.',
  }),
  WEBHOOK_WORKERS: Type.Integer({
    default: 20,
    minimum: 0,
    maximum: 500,
    description:
      'Concurrent webhook attempts per instance; up to twice as many while receivers are slow. 0: this instance sends none.',
  }),
  WEBHOOK_GIVE_UP_HOURS: Type.Integer({
    default: 120,
    minimum: 1,
    maximum: 8_760,
    description: 'How long a webhook is retried while every attempt fails. Then it is stopped.',
  }),
  WEBHOOK_LOG_DAYS: Type.Integer({
    default: 7,
    minimum: 1,
    maximum: 365,
    description: 'Retention of the log of webhook attempts.',
  }),
  WEBHOOK_MAX_BYTES: Type.Integer({
    default: 262_144,
    minimum: 4_096,
    maximum: 16_777_216,
    description: 'Maximum body of a webhook request. A larger event is sent with its id only.',
  }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    description: 'Log level. At `info`, every request is one line.',
  }),
  LOG_FORMAT: Type.Enum(['json', 'pretty'], {
    description:
      'Log lines as JSON, or in readable form. Default: `pretty` in development on a terminal, otherwise `json`. Production rejects `pretty`.',
  }),
  METRICS_PORT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 65535,
    description: 'Separate port for `/metrics`. 0: none.',
  }),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description:
      'Address of the metrics port. Without `METRICS_TOKEN`, every client that can reach it can read the metrics.',
  }),
  METRICS_TOKEN: Type.String({
    default: '',
    pattern: '^[!-~]*$',
    description:
      'Bearer token that `/metrics` requires. If set, `/metrics` is also available on the port of the service. Production requires at least 16 characters.',
  }),
})
export type SettingValues = Static<typeof Settings>

/** Settings whose defaults depend on others. */
export const derivedSettings = new Set([
  'PASSWORD_MIN_LENGTH',
  'REFUSE_COMMON_PASSWORDS',
  'CORS_ORIGINS',
  'RATE_LIMITS',
  'QUOTAS',
  'STORE_TLS',
  'USER_SEARCH',
  'LOG_FORMAT',
  'MAX_REQUESTS_AT_ONCE',
  'WEBHOOK_HTTP',
])

/** The settings that are secrets. Each can also be read from a file, named by the variable with `_FILE`. */
export const SECRETS = [
  'DATABASE_URL',
  'REDIS_URL',
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'METRICS_TOKEN',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEY_PREVIOUS',
] as const satisfies (keyof SettingValues)[]
