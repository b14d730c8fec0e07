import { type Client, createClient, isLockstepError } from '@lockstep/client'
import { isLoginExposed, loginFile, readLogin } from './account.ts'
import { type Check, ok, once, PATIENCE_MS, wrong } from './check.ts'
import { failureOf } from './failure.ts'
import { duration, harmless } from './terminal.ts'

/** Whether something answers at the address, and whether it is Lockstep. */
export async function checkService(url: string): Promise<Check[]> {
  let response: Response
  try {
    response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(PATIENCE_MS) })
  } catch (error) {
    return [unreachable(url, error)]
  }
  const reached = ok('address', `${url} answers`)
  const target = response.url.replace(/\/openapi\.json$/, '')
  const document = await response.json().catch(() => undefined)
  const { title, version } = (document as { info?: { title?: string; version?: string } } | undefined)?.info ?? {}
  if (title !== 'Lockstep') {
    const remedy = 'Check the address, its port and its path. A proxy must pass everything below it on to Lockstep.'
    return [reached, wrong('service', `this is not Lockstep: /openapi.json answers ${response.status}`, remedy)]
  }
  if (response.redirected && target !== url) {
    const remedy = `Use the other address: a redirect turns writes into reads.\nlockstep login --url ${target}`
    return [reached, wrong('service', `Lockstep, but behind a redirect to ${harmless(target)}`, remedy)]
  }
  return [reached, ok('service', `Lockstep ${harmless(version ?? '')}`)]
}

const remedies: [RegExp, string][] = [
  [/ENOTFOUND|EAI_AGAIN/, 'No machine has this name. Check its spelling, and the name server.'],
  [/ECONNREFUSED/, 'Nothing listens there. Start the service (npm start), and check PORT and HOST.'],
  [/CERT|SELF_SIGNED|LEAF_SIGNATURE/, 'The certificate is not trusted here. NODE_EXTRA_CA_CERTS names one to trust.'],
  [/SSL|EPROTO/, 'This port does not speak TLS. Try http:// in place of https://.'],
  [/Timeout/, 'Packets get lost on the way: look at firewalls and routes.'],
]
function unreachable(url: string, error: unknown): Check {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } }
  const word = cause?.code ?? cause?.message ?? name
  const remedy = remedies.find(([pattern]) => pattern.test(word))?.[1] ?? 'Check the address and the network.'
  return wrong('address', `${url} cannot be reached (${harmless(word)})`, remedy)
}

/** What the service says of its database and its Redis. */
export async function checkStores(url: string): Promise<Check[]> {
  const client = createClient({ base_url: url })
  try {
    const { redis } = await client.getHealth({}, once)
    const database = ok('database', 'connected')
    if (redis === 'connected') return [database, ok('redis', 'connected')]
    if (redis === 'disabled') return [database, ok('redis', 'not configured, which is fine for a single instance')]
    const remedy = `Nothing is lost meanwhile, but events are late, and who is online is what each instance knows.
Start Redis, and check REDIS_URL, its password and its firewall; the service comes back by itself.`
    return [database, wrong('redis', 'not connected', remedy)]
  } catch (error) {
    if (!isLockstepError(error)) throw error
    const remedy = `Start PostgreSQL, and check DATABASE_URL, the password, and whether connections are left (max_connections).
The service comes back by itself.`
    return [
      wrong('database', `not connected: ${failureOf(error, url).message}`, remedy),
      { name: 'redis', state: 'skipped', detail: 'not known while the database is away' },
    ]
  } finally {
    client.close()
  }
}

/** Whether the token is accepted, and how long it will be. */
export async function checkLogin(client: Client): Promise<Check> {
  const { session, base_url } = client
  if (session.token === undefined) {
    return { name: 'login', state: 'skipped', detail: `nobody is logged in; lockstep login --url ${base_url}` }
  }
  try {
    const { username } = await client.getMe({}, once)
    const left_ms = (session.expires_at ?? Date.now()) - Date.now()
    if (readLogin()?.token === session.token && isLoginExposed()) {
      const remedy = `chmod 600 ${loginFile()}\nIf somebody may have read it, change your password: that ends all tokens.`
      return wrong('login', `as ${harmless(username)}, but others on this machine can read the token`, remedy)
    }
    return ok('login', `as ${harmless(username)}, for ${duration(left_ms)} more; renewed while it is used`)
  } catch (error) {
    const { message } = failureOf(error, base_url)
    const isRefused = isLockstepError(error, 'not_authenticated')
    const remedy = isRefused ? `lockstep login --url ${base_url}` : 'Try again when the rest is well.'
    return wrong('login', isRefused ? 'the token has ended, or was never one of this service' : message, remedy)
  }
}
