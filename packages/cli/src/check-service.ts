import { type Client, createClient, isLockstepError } from '@lockstep/client'
import { adviceForToken, isAccessToken, isLoginFileExposed, loginFile, readLogin } from './account.ts'
import { advice, type Check, noRetry, ok, TIMEOUT_MS, wrong } from './check.ts'
import { failureOf } from './failure.ts'
import { duration, escapeControlChars } from './terminal.ts'

/** What the document of the API says about the build of the service. */
export interface Build {
  version?: string | undefined
  /** The commit, if the service knows it. */
  'x-revision'?: string | undefined
}
export const describeBuild = ({ version = '', 'x-revision': revision }: Build) =>
  escapeControlChars(revision === undefined ? version : `${version} (commit ${revision})`)

/** Checks that the address responds and is Lockstep. */
export async function checkService(url: string): Promise<Check[]> {
  let response: Response
  try {
    response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    return [unreachable(url, error)]
  }
  const reached = ok('address', `${url} responds`)
  const target = response.url.replace(/\/openapi\.json$/, '')
  const document = await response.json().catch(() => undefined)
  const { title, ...build } = (document as { info?: Build & { title?: string } } | undefined)?.info ?? {}
  if (title !== 'Lockstep') {
    const remedy = 'Check the address, port and path. A proxy must forward all paths below it to Lockstep.'
    return [reached, wrong('service', `not Lockstep: /openapi.json returns ${response.status}`, remedy)]
  }
  if (response.redirected && target !== url) {
    const remedy = `Use the target address: clients turn redirected writes into reads.\nlockstep login --url ${target}`
    return [reached, wrong('service', `Lockstep, but behind a redirect to ${escapeControlChars(target)}`, remedy)]
  }
  return [reached, ok('service', `Lockstep ${describeBuild(build)}`)]
}

const remedies: [RegExp, string][] = [
  [/ENOTFOUND|EAI_AGAIN/, 'Unknown host name. Check the spelling and DNS.'],
  [/ECONNREFUSED/, 'Nothing is listening there. Start the service (npm start) and check PORT and HOST.'],
  [/CERT|SELF_SIGNED|LEAF_SIGNATURE/, 'The certificate is not trusted. Set NODE_EXTRA_CA_CERTS to trust it.'],
  [/SSL|EPROTO/, 'This port does not use TLS. Try http:// instead of https://.'],
  [/Timeout/, 'Packets are lost: check firewalls and routes.'],
]
function unreachable(url: string, error: unknown): Check {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } }
  const reason = cause?.code ?? cause?.message ?? name
  const remedy = remedies.find(([pattern]) => pattern.test(reason))?.[1] ?? 'Check the address and the network.'
  return wrong('address', `${url} cannot be reached (${escapeControlChars(reason)})`, remedy)
}

const slowDatabase = advice(
  'database',
  'connected, but without the planner settings that the service sends, so that some requests are slow',
  'The log of the start says which ones (jit, plan_cache_mode) and how to set them.',
)

/** Checks the database and Redis as the service reports them. */
export async function checkStores(url: string): Promise<Check[]> {
  const client = createClient({ baseUrl: url, strict: true })
  try {
    const { redis, planner } = await client.getHealth({}, noRetry)
    const database = planner === 'slow' ? slowDatabase : ok('database', 'connected')
    if (redis === 'connected') return [database, ok('redis', 'connected')]
    if (redis === 'disabled') return [database, ok('redis', 'not configured (fine for a single instance)')]
    const remedy = `No data is lost, but events are delayed, and presence is limited to each instance.
Start Redis, and check REDIS_URL, its password and its firewall; the service reconnects automatically.`
    return [database, wrong('redis', 'not connected', remedy)]
  } catch (error) {
    if (!isLockstepError(error)) throw error
    const remedy = `Start PostgreSQL, and check DATABASE_URL, the password and max_connections.
The service reconnects automatically.`
    return [
      wrong('database', `not connected: ${failureOf(error, url).message}`, remedy),
      { name: 'redis', state: 'skipped', detail: 'unknown while the database is not connected' },
    ]
  } finally {
    client.close()
  }
}

/** Checks that the token is accepted, and for how long. */
export async function checkLogin(client: Client): Promise<Check> {
  const { session, baseUrl } = client
  if (session.token === undefined) {
    return { name: 'login', state: 'skipped', detail: `not logged in; lockstep login --url ${baseUrl}` }
  }
  try {
    const { username } = await client.getMe({}, noRetry)
    if (readLogin()?.token === session.token && isLoginFileExposed()) {
      const revoke = isAccessToken(session.token)
        ? 'revoke the access token'
        : 'change your password to revoke all tokens'
      const remedy = `chmod 600 ${loginFile()}\nIf someone may have read it, ${revoke}.`
      return wrong(
        'login',
        `as ${escapeControlChars(username)}, but other users of this machine can read the token`,
        remedy,
      )
    }
    if (isAccessToken(session.token)) return ok('login', `as ${escapeControlChars(username)}, with an access token`)
    const leftMs = (session.expiresAt ?? Date.now()) - Date.now()
    return ok('login', `as ${escapeControlChars(username)}, valid for ${duration(leftMs)}, renewed on use`)
  } catch (error) {
    const { message } = failureOf(error, baseUrl)
    const isRejected = isLockstepError(error, 'not_authenticated')
    const remedy = isRejected
      ? (adviceForToken(baseUrl) ?? `lockstep login --url ${baseUrl}`)
      : 'Fix the other problems first, then try again.'
    return wrong('login', isRejected ? 'the token has expired, or was not issued by this service' : message, remedy)
  }
}
