import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ownPath, pageHeaders } from './page-policy.ts'

const BUILT = fileURLToPath(new URL('../../../../web/dist/', import.meta.url))
const YEAR_SECONDS = 31_536_000

/**
 * Content-Security-Policy of the web client: it loads the files below `/app/` and calls its own origin. No inline script or
 * style, no eval, no framing. Attachments are shown from `blob:` URLs only. Of the two Trusted Types policies, one is for
 * HTML from Markdown, the other for the URL of the worker.
 */
const policyFor = (request: FastifyRequest) => {
  const files = ownPath(request, '/app/')
  return [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    "img-src 'self' blob: data:",
    `font-src ${files}`,
    "connect-src 'self'",
    'frame-src blob:',
    `worker-src ${files}`,
    `manifest-src ${files}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lockstep-markdown lockstep-worker',
  ].join('; ')
}

/** What the web client would otherwise learn only from a rejected request. */
interface ClientLimits {
  max_attachment_bytes: number
  has_api_docs: boolean
  has_trash: boolean
  has_webhooks: boolean
}

/** Whether a path has the form of a built file. Every other path is a page of the client. */
const isFile = (path: string) => path !== 'index.html' && /^[\w-]+(?:\/[\w-]+)*(?:\.[\w-]+)+$/.test(path)

export const isWebClientBuilt = () => existsSync(BUILT)

/** Serves the built web client under `/app/`. Every path that is not a file returns the page. */
export async function serveWebClient(app: FastifyInstance, limits: ClientLimits) {
  const isBuilt = isWebClientBuilt()
  const home = limits.has_api_docs ? '/docs' : '/openapi.json'
  app.get('/', (_request, reply) => reply.redirect(isBuilt ? '/app/' : home))
  if (!isBuilt) return app.log.warn('the web client is not built: run npm run build to serve it under /app')
  await app.register(files, {
    root: BUILT,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names in `assets` contain a hash of the content.
      const isForever = path.includes('/assets/')
      reply.header('cache-control', isForever ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
      // The service worker for offline use has its own policy.
      if (path.includes('/offline.js'))
        reply.header('content-security-policy', "default-src 'none'; connect-src 'self'")
    },
  })
  const sendPage = (request: FastifyRequest, reply: FastifyReply) =>
    reply.headers(pageHeaders(policyFor(request))).sendFile('index.html')
  // The router ignores the slash, but a page loaded at `/app` would be outside the scope of the service worker.
  app.get('/app', (request, reply) =>
    /^[^?]*\/(?:\?|$)/.test(request.url) ? sendPage(request, reply) : reply.redirect('/app/'),
  )
  app.get('/app/limits.json', (_request, reply) => reply.header('cache-control', 'no-cache').send(limits))
  app.get<{ Params: { '*': string } }>('/app/*', (request, reply) => {
    const path = request.params['*']
    // A missing file is a 404, not the page: a browser would run the page as the script it requested.
    return isFile(path) ? reply.sendFile(path) : sendPage(request, reply)
  })
}
