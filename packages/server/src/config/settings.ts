import Type, { type Static } from 'typebox'

export const PLACEHOLDER_SECRET = 'change-me-this-placeholder-is-public'

/** Every setting: its environment variable, its default in development, and what it does. The docs are generated from this. */
export const Settings = Type.Object({
  ENVIRONMENT: Type.Enum(['development', 'production'], {
    default: 'development',
    description: '`production` refuses unsafe settings, creates no database and marks cookies Secure.',
  }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` in a container.' }),
  PORT: Type.Integer({ default: 8000, minimum: 0, maximum: 65535, description: 'Port to listen on.' }),
  DATABASE_URL: Type.String({
    default: 'postgres://postgres:postgres@127.0.0.1:5432/lockstep',
    pattern: '^postgres(ql)?://',
    description: 'PostgreSQL 15 or newer. In development a missing database is created.',
  }),
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 200,
    description: 'Connections to PostgreSQL, for each instance. All together must stay below its `max_connections`.',
  }),
  MIGRATE_ON_START: Type.Boolean({
    default: true,
    description: 'Bring the schema up to date before listening. Instances that start together take turns.',
  }),
  REDIS_URL: Type.String({
    default: 'redis://127.0.0.1:6379',
    pattern: '^(rediss?://[^,]+(,(?=r)|$))*$',
    description:
      'Carries events between instances, and counts for the limits. Several addresses, with commas, are a cluster. Empty: one instance without Redis.',
  }),
  JWT_SECRET: Type.String({
    default: PLACEHOLDER_SECRET,
    minLength: 1,
    description:
      'Signs access tokens. Production wants a random one of at least 32 characters, and neither the placeholder nor an example.',
  }),
  JWT_SECRET_PREVIOUS: Type.String({
    default: '',
    description:
      'A second secret whose tokens are accepted and that signs none: the next one, then the last one, while the secret is [replaced](administering.md#replacing-the-signing-secret). Empty: none.',
  }),
  JWT_ALGORITHM: Type.Enum(['HS256', 'HS384', 'HS512'], {
    default: 'HS256',
    description: 'How tokens are signed. Only this one is accepted.',
  }),
  TOKEN_LIFETIME_SECONDS: Type.Integer({
    default: 3600,
    minimum: 1,
    description: 'How long an access token, and the cookie that carries it, is valid.',
  }),
  SESSION_MAX_AGE_SECONDS: Type.Integer({
    default: 2_592_000,
    minimum: 1,
    description: 'How long after its login a session can be renewed.',
  }),
  AUTH_COOKIE: Type.Boolean({
    default: false,
    description: 'Set the cookie `svc_auth` at every login, not only when the form says `cookie=true`.',
  }),
  REGISTRATION: Type.Enum(['open', 'closed'], {
    default: 'open',
    description: 'Whether anybody may create an account, or only `npm run admin`.',
  }),
  USER_SEARCH: Type.Enum(['open', 'limited'], {
    description:
      'Whether users are found by a part of any e-mail address, or only by the whole address and by a part for people on a common board. Default: `open` in development, `limited` in production.',
  }),
  ADMIN_API: Type.Enum(['on', 'off'], {
    default: 'off',
    description:
      'Whether superusers may administer over HTTP, under `/admin`. Off, those paths do not exist; `npm run admin` works in any case.',
  }),
  PASSWORD_MIN_LENGTH: Type.Integer({
    minimum: 1,
    maximum: 1024,
    description: 'Shortest new password, in characters. Default: 1 in development, 8 in production.',
  }),
  PASSWORD_MAX_LENGTH: Type.Integer({
    default: 128,
    minimum: 64,
    maximum: 1024,
    description: 'Longest new password, in characters.',
  }),
  PASSWORD_REQUIRES: Type.String({
    default: '',
    pattern: '^((lower|upper|digit|symbol)(,(?=.)|$))*$',
    description: 'What a new password must contain: a list of `lower`, `upper`, `digit`, `symbol`, with commas.',
  }),
  REFUSE_COMMON_PASSWORDS: Type.Enum(['on', 'off'], {
    description:
      'Whether a new password may be neither one of the 13,000 commonest nor the own username or e-mail address. Default: `off` in development, `on` in production.',
  }),
  CORS_ORIGINS: Type.String({
    description:
      'Origins of other sites whose pages may call the API, with commas. Default: `*` in development, which is any, with cookies too; none in production, where `*` is refused.',
  }),
  TRUST_PROXY: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10,
    description: 'How many proxies stand before the service and may tell the address of a client.',
  }),
  MAX_REQUESTS_AT_ONCE: Type.Integer({
    minimum: 1,
    description:
      'Requests that are worked on at once; more wait for a moment, and get 503 when it does not pass. Default: eight for each connection to PostgreSQL.',
  }),
  FAIR_SHARES: Type.Enum(['on', 'off'], {
    description:
      'Whether users and addresses are limited to a share. Queues (requests, connections to PostgreSQL, lists and searches, sockets to be admitted) are served in turn; of what is held (open requests, bodies without a credential, TCP connections, uploads, unread responses) each gets a share once half is in use; sockets have fixed numbers. Default: `off` in development, `on` in production.',
  }),
  MAX_UPLOADS_AT_ONCE: Type.Integer({
    default: 64,
    minimum: 2,
    description:
      'Uploads in progress; more get 503. Above half of it, one user may have a sixteenth, and the users of one address a quarter together. With `FAIR_SHARES`.',
  }),
  MIN_UPLOAD_BYTES_PER_SECOND: Type.Integer({
    default: 1_638,
    minimum: 0,
    description:
      'The slowest upload, measured over 10 seconds in which the service waits for the client; a slower one gets 408. With `FAIR_SHARES`.',
  }),
  MAX_UNREAD_RESPONSE_BYTES: Type.Integer({
    default: 134_217_728,
    minimum: 1_048_576,
    description:
      'How much memory large responses may take until clients have read them; more get 503. Above half of it, one user may have an eighth, and the users of one address half of it together. With `FAIR_SHARES`.',
  }),
  BOARD_WAIT_MS: Type.Integer({
    default: 5_000,
    minimum: 1,
    description: 'How long a change waits for the changes of the same board before it; then 503.',
  }),
  MAX_SOCKETS: Type.Integer({
    default: 20_000,
    minimum: 1,
    description:
      'Connections that one instance takes; more are closed with 1013. The system must allow a quarter more open files.',
  }),
  MAX_SOCKETS_PER_USER: Type.Integer({
    default: 200,
    minimum: 1,
    description:
      'Connections for real time that one user has to one instance; more are closed with 1013. With `FAIR_SHARES`.',
  }),
  MAX_SOCKETS_PER_USER_AND_BOARD: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'The same to one board. With `FAIR_SHARES`.',
  }),
  MAX_SOCKETS_PER_ADDRESS: Type.Integer({
    default: 2_000,
    minimum: 1,
    description:
      'Connections for real time that one address has to one instance; more are closed with 1013. With `FAIR_SHARES`.',
  }),
  RATE_LIMITS: Type.Enum(['on', 'off'], {
    description:
      'Whether the limits below hold. They are counted in Redis, for all instances together, and in the process without Redis. Default: `off` in development, `on` in production.',
  }),
  MAX_LOGINS_PER_MINUTE: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Logins to one account from one address, right or wrong; then 429 for that pair.',
  }),
  MAX_FAILED_LOGINS: Type.Integer({
    default: 10,
    minimum: 1,
    description:
      'Failed logins in 15 minutes to one account from one address; then 429 for that pair. Also wrong current passwords of one user.',
  }),
  MAX_FAILED_LOGINS_PER_ADDRESS: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Failed logins in 15 minutes from one address to whatever accounts.',
  }),
  MAX_REGISTRATIONS_PER_HOUR: Type.Integer({
    default: 20,
    minimum: 1,
    description: 'Registrations from one address; then 429.',
  }),
  MAX_BAD_PAYLOADS_PER_MINUTE: Type.Integer({
    default: 300,
    minimum: 1,
    description: 'Logins and registrations from one address that are rejected with 422; then 429.',
  }),
  MAX_REQUESTS_PER_MINUTE: Type.Integer({
    default: 6_000,
    minimum: 1,
    description: 'Requests of one user; then 429.',
  }),
  MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: Type.Integer({
    default: 30_000,
    minimum: 1,
    description: 'Requests of all users from one address to one instance; then 429.',
  }),
  MAX_UPGRADES_PER_MINUTE: Type.Integer({
    default: 3_000,
    minimum: 1,
    description: 'New connections for real time from one address; more are closed with 1013.',
  }),
  MAX_USER_SEARCHES_PER_MINUTE: Type.Integer({
    default: 30,
    minimum: 1,
    description: 'Searches for users by one user; then 429.',
  }),
  MAX_USER_SEARCHES_PER_DAY: Type.Integer({
    default: 500,
    minimum: 1,
    description: 'Searches for users by one user in 24 hours; then 429.',
  }),
  QUOTAS: Type.Enum(['on', 'off'], {
    description:
      'Whether the five quotas below hold. Boards that were counted stay counted when they are off. Default: `off` in development, `on` in production.',
  }),
  MAX_BOARD_TEXT_BYTES: Type.Integer({
    default: 8_388_608,
    minimum: 1,
    description:
      'How much text a board may hold, as bytes of JSON and 200 bytes for each object, 640 for each member and assignee; then 409 for whatever adds more.',
  }),
  MAX_CARDS_PER_BOARD: Type.Integer({
    default: 10_000,
    minimum: 1,
    description: 'Cards of one board; then 409.',
  }),
  MAX_BOARD_FILE_BYTES: Type.Integer({
    default: 1_073_741_824,
    minimum: 1,
    description: 'The size of all files of one board together; then 409.',
  }),
  MAX_OWNED_BOARDS_PER_USER: Type.Integer({
    default: 500,
    minimum: 1,
    description:
      'Boards that one user has created and nobody has deleted; then 409. Boards of others do not count, also as an owner.',
  }),
  MAX_BOARD_LOG_BYTES_PER_MINUTE: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description:
      'How much the changes of one board may write to its log in a minute; then 429 for everything but deletes that free as much as they write. Renaming a column writes the whole column.',
  }),
  UNREADY_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 600,
    description:
      'How long an instance that got SIGTERM serves on while `/ready` says 503: longer than a balancer takes to notice.',
  }),
  DRAIN_SECONDS: Type.Integer({
    default: 5,
    minimum: 0,
    maximum: 600,
    description: 'Over how long SIGTERM spreads the closing of connections.',
  }),
  MAX_ATTACHMENT_BYTES: Type.Integer({
    default: 10_485_760,
    minimum: 1,
    maximum: 1_073_741_824,
    description: 'The largest file that can be attached to a card.',
  }),
  BOARD_CACHE_BYTES: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description: 'How much memory full boards may take that are kept ready to be sent, compressed.',
  }),
  EVENT_RETENTION_DAYS: Type.Integer({
    default: 90,
    minimum: 1,
    description: 'How long events are kept: how long a client can be away and still resume.',
  }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    description: 'How much is logged. One line for each request at `info`.',
  }),
  LOG_FORMAT: Type.Enum(['json', 'pretty'], {
    description:
      'Lines of JSON, or lines for a person to read. Default: `pretty` in development at a terminal, else `json`. Production refuses `pretty`.',
  }),
  METRICS_PORT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 65535,
    description: 'A port of its own for `/metrics`. 0: none.',
  }),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'The address that port listens on. Whoever reaches it can read the metrics.',
  }),
  METRICS_TOKEN: Type.String({
    default: '',
    pattern: '^[!-~]*$',
    description:
      'With it, `/metrics` is also on the port of the service, for whoever sends it as a bearer token; the port of its own asks for it too. Production wants at least 16 characters.',
  }),
})
export type SettingValues = Static<typeof Settings>

/** Settings whose defaults depend on others. */
export const derivedSettings = new Set([
  'PASSWORD_MIN_LENGTH',
  'REFUSE_COMMON_PASSWORDS',
  'CORS_ORIGINS',
  'RATE_LIMITS',
  'FAIR_SHARES',
  'QUOTAS',
  'USER_SEARCH',
  'LOG_FORMAT',
  'MAX_REQUESTS_AT_ONCE',
])

/** The settings that are secrets. Each can also be read from a file, named by the variable with `_FILE`. */
export const SECRETS = [
  'DATABASE_URL',
  'REDIS_URL',
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'METRICS_TOKEN',
] as const satisfies (keyof SettingValues)[]
