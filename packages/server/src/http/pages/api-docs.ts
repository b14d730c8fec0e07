import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { asyncApi, DOCUMENTED_HOST } from '@lockstep/contract/asyncapi'
import { openApi } from '@lockstep/contract/openapi'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REVISION } from '../../platform/version.ts'
import { nameableHost, ownPath, pageHeaders } from './page-policy.ts'
import { swaggerConfig, withoutCookie } from './swagger-page.ts'

/** Copied by the build of the web client, so that Redoc and its 18 dependencies are not installed in production. */
const REDOC = new URL('../../../../web/dist/.redoc/redoc.standalone.js', import.meta.url)
/** Scripts are loaded from the path of the page only. Swagger UI and Redoc need inline styles. */
const policyFor = (request: FastifyRequest, path: '/docs/' | '/redoc/') => {
  const own = ownPath(request, path)
  return [
    "default-src 'none'",
    `script-src ${own}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    `worker-src ${own}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
const redocPage = (document: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Lockstep API</title><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>body { margin: 0 } span:has(> a[href="https://redocly.com/redoc/"]) { display: none }</style></head>
<body><redoc spec-url="${document}" disable-telemetry="true"></redoc><script type="module" src="/redoc/redoc.standalone.js"></script></body>
</html>`
const pages = new URL('../../../pages/', import.meta.url)

interface ApiDocsSettings {
  /** Whether there are pages, not only the documents. */
  hasPages: boolean
  /** Whether `/docs` keeps its bearer token in the browser. */
  isTokenKept: boolean
}

/** Serves the OpenAPI and AsyncAPI documents, Redoc under `/redoc` and Swagger UI under `/docs`. Loads nothing from other hosts. */
export async function serveApiDocs(app: FastifyInstance, { hasPages, isTokenKept }: ApiDocsSettings) {
  const document = openApi(REVISION)
  serveText(app, '/openapi.json', 'application/json', JSON.stringify(document))
  const realtime = JSON.stringify(asyncApi()).split(JSON.stringify(DOCUMENTED_HOST))
  app.get('/asyncapi.json', ({ headers: { host = '' } }, reply) => {
    const shown = JSON.stringify(nameableHost.test(host) ? host : DOCUMENTED_HOST)
    return reply.type('application/json; charset=utf-8').send(realtime.join(shown))
  })
  if (!hasPages) return

  await app.register(swagger, { mode: 'static', specification: { document: withoutCookie(document) as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiHooks: {
      onRequest: (request, reply, done) => {
        reply.headers(pageHeaders(policyFor(request, '/docs/')))
        done()
      },
    },
    theme: { title: 'Lockstep API' },
    uiConfig: swaggerConfig(isTokenKept),
  })

  const redoc = await readRedoc()
  if (redoc !== undefined) {
    serveText(app, '/redoc', 'text/html', redocPage('/openapi.json'))
    serveText(app, '/redoc/realtime', 'text/html', redocPage('/asyncapi.json'))
    serveText(app, '/redoc/redoc.standalone.js', 'text/javascript', redoc)
  }
  const read = (name: string) => readFile(new URL(name, pages), 'utf8')
  serveText(app, '/docs/realtime', 'text/html', await read('realtime.html'))
  serveText(app, '/docs/realtime.css', 'text/css', await read('realtime.css'))
  serveText(app, '/docs/realtime.js', 'text/javascript', await read('realtime.js'))
}

/**
 * The built copy or, in a checkout without a build, the package, which is a development dependency of the web client.
 * Without the address of its logo, which is on another host; the page hides the place of the logo.
 */
async function readRedoc(): Promise<string | undefined> {
  try {
    const script = await readFile(
      existsSync(REDOC) ? REDOC : new URL(import.meta.resolve('redoc/bundles/redoc.standalone.js')),
      'utf8',
    )
    return script.replaceAll('https://cdn.redoc.ly/redoc/', 'data:,')
  } catch {
    return undefined
  }
}

function serveText(app: FastifyInstance, path: string, type: string, text: string) {
  app.get(path, (request, reply) => {
    reply.type(`${type}; charset=utf-8`)
    if (type === 'text/html')
      reply.headers(pageHeaders(policyFor(request, path.startsWith('/docs/') ? '/docs/' : '/redoc/')))
    return reply.send(text)
  })
}
