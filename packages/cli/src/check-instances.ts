import { type Check, ok, wrong } from './check.ts'
import { describeBuild } from './check-service.ts'
import { requestFresh } from './fresh-request.ts'

/** Connections, which a load balancer spreads over the instances. */
const SAMPLES = 6

/** Checks that all instances behind a load balancer are the same. */
export async function checkInstances(url: string, token: string | undefined): Promise<Check> {
  const builds = new Set<string>()
  const statuses = new Set<number>()
  for (let i = 0; i < SAMPLES; i++) {
    const document = await requestFresh(`${url}/openapi.json`, { maxBytes: 1_024 })
    const [, version, revision] = /"version":"([^"]+)"(?:,"x-revision":"([^"]+)")?/.exec(document?.text ?? '') ?? []
    if (version !== undefined) builds.add(describeBuild({ version, 'x-revision': revision }))
  }
  // In a loop of its own: in alternation with other requests, a round robin would send all of these to every second instance.
  for (let i = 0; i < SAMPLES && token !== undefined; i++) {
    const response = await requestFresh(`${url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    if (response) statuses.add(response.status)
  }
  if (builds.size > 1) {
    const remedy = 'Upgrade or stop the instances of the other build. During a rolling upgrade this is normal.'
    return wrong('instances', `of different builds: ${[...builds].sort().join(', ')}`, remedy)
  }
  if (statuses.has(200) && statuses.has(401)) {
    const remedy = 'Give all instances the same JWT_SECRET and the same DATABASE_URL, and restart them.'
    return wrong('instances', 'some accept your login and some reject it', remedy)
  }
  return ok('instances', 'no difference found')
}
