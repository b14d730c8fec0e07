import { readFile } from 'node:fs/promises'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { openApi } from '@lockstep/contract/openapi'
import type { FastifyInstance } from 'fastify'

const redocBundle = new URL(import.meta.resolve('redoc/bundles/redoc.standalone.js'))
const SELF = "'self'"
const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; frame-ancestors 'none'"
const redocPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Lockstep API</title><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>body { margin: 0 }</style></head>
<body><redoc spec-url="/openapi.json" disable-telemetry="true"></redoc><script type="module" src="/redoc/redoc.standalone.js"></script></body>
</html>`

/** The API's documents, from the contract: `/openapi.json`, `/docs` to try it, `/redoc` to read it. Nothing comes from elsewhere. */
export async function serveDocuments(app: FastifyInstance) {
  const document = openApi()
  const text = JSON.stringify(document)
  app.get('/', (_request, reply) => reply.redirect('/docs'))
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text))

  await app.register(swagger, { mode: 'static', specification: { document: document as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: {
      'default-src': ["'none'"],
      'script-src': [SELF],
      'style-src': [SELF, "'unsafe-inline'"],
      'img-src': [SELF, 'data:'],
      'connect-src': [SELF],
      'base-uri': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
    theme: { title: 'Lockstep API' },
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      validatorUrl: null,
    },
  })

  const bundle = await readFile(redocBundle)
  app.get('/redoc', (_request, reply) =>
    reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(redocPage),
  )
  app.get('/redoc/redoc.standalone.js', (_request, reply) =>
    reply.header('cache-control', 'public, max-age=86400').type('text/javascript; charset=utf-8').send(bundle),
  )
}
