import { type Check, ok, wrong } from './check.ts'
import { requestFresh } from './fresh-request.ts'
import { escapeControlChars } from './terminal.ts'

/** Connections, which a load balancer spreads over the instances. */
const SAMPLES = 6

/** Checks that all instances behind a load balancer are the same. */
export async function checkInstances(url: string, token: string | undefined): Promise<Check> {
  const versions = new Set<string>()
  const statuses = new Set<number>()
  for (let i = 0; i < SAMPLES; i++) {
    const document = await requestFresh(`${url}/openapi.json`, { maxBytes: 1_024 })
    const version = /"version":"([^"]+)"/.exec(document?.text ?? '')?.[1]
    if (version !== undefined) versions.add(escapeControlChars(version))
  }
  // In a loop of its own: in alternation with other requests, a round robin would send all of these to every second instance.
  for (let i = 0; i < SAMPLES && token !== undefined; i++) {
    const response = await requestFresh(`${url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    if (response) statuses.add(response.status)
  }
  if (versions.size > 1) {
    const remedy = 'Upgrade or stop the instances of the other version. During a rolling upgrade this is normal.'
    return wrong('instances', `of different versions: ${[...versions].sort().join(', ')}`, remedy)
  }
  if (statuses.has(200) && statuses.has(401)) {
    const remedy = 'Give all instances the same JWT_SECRET and the same DATABASE_URL, and restart them.'
    return wrong('instances', 'some accept your login and some reject it', remedy)
  }
  return ok('instances', 'no difference found')
}
