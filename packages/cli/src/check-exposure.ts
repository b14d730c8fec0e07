import { advice, type Check, ok, wrong } from './check.ts'
import { isLocal, requestFresh } from './fresh-request.ts'

/** Checks that users reach the service by HTTPS. */
export function checkHttps(url: string): Check {
  if (url.startsWith('https:')) return ok('https', 'yes')
  if (isLocal(url)) return ok('https', 'not needed on this machine')
  const detail = 'no: passwords can be read on the network, and in production browsers do not keep the login'
  const remedy = `Put a proxy with a certificate in front of the service, and open ${url.replace('http:', 'https:')}.
deploy/haproxy and deploy/nginx are configurations that work.`
  return wrong('https', detail, remedy)
}

/** Checks what outsiders can reach. */
export async function checkExposure(url: string): Promise<Check[]> {
  const found = [await checkCors(url), await checkMetrics(url), await checkDocs(url)].filter(
    (check) => check !== undefined,
  )
  return found.length > 0 ? found : [ok('exposure', 'nothing unexpected')]
}

const FOREIGN_ORIGIN = 'https://lockstep-doctor.invalid'

/** Whether pages of every site may call the API. */
export async function allowsEverySite(url: string): Promise<boolean> {
  const response = await requestFresh(`${url}/live`, { headers: { origin: FOREIGN_ORIGIN } })
  return ['*', FOREIGN_ORIGIN].includes(response?.headers['access-control-allow-origin'] ?? '')
}

async function checkCors(url: string): Promise<Check | undefined> {
  if (isLocal(url) || !(await allowsEverySite(url))) return undefined
  const remedy = 'Set ENVIRONMENT=production, and CORS_ORIGINS to the origins you trust, or leave it out.'
  return wrong('cors', 'every website can use the API with the login of its visitors', remedy)
}

async function checkMetrics(url: string): Promise<Check | undefined> {
  const response = await requestFresh(`${url}/metrics`)
  if (response?.status !== 200 || !response.text.includes('lockstep_')) return undefined
  const remedy = `Let the proxy return 404 for /metrics, and keep METRICS_PORT internal:
haproxy:  http-request deny deny_status 404 if { path /metrics }
nginx:    location = /metrics { return 404; }`
  return wrong('metrics', '/metrics can be read by everyone', remedy)
}

async function checkDocs(url: string): Promise<Check | undefined> {
  if (isLocal(url) || (await requestFresh(`${url}/docs/realtime`))?.status !== 200) return undefined
  const remedy = 'Set API_DOCS=off if only your own users use this service.'
  return advice('docs', '/docs and the realtime console, which changes boards, are public', remedy)
}
