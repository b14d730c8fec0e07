import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ownPath, pageHeaders } from './page-policy.ts'

const BUILT = fileURLToPath(new URL('../../../../web/dist/', import.meta.url))
const YEAR_SECONDS = 31_536_000

/**
 * Content-Security-Policy of the web client: it loads the files below `/app/` and calls its own origin. No inline script or
 * style, no eval, no frame around it. Attachments are shown from `blob:` addresses only. Of the two Trusted Types
 * policies, one makes HTML of Markdown and the other knows the address of one worker.
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
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lockstep-markdown lockstep-worker',
  ].join('; ')
}

/** Only names that a build makes: anything else is a page, or nothing. */
const isFile = (path: string) => path !== 'index.html' && /^[\w-]+(?:\/[\w-]+)*(?:\.[\w-]+)+$/.test(path)

/** The web client under `/app`, as `npm run build` made it. Every address that is no file is a page of it. */
export async function serveWebClient(app: FastifyInstance, limits: { max_attachment_bytes: number }) {
  const isBuilt = existsSync(BUILT)
  app.get('/', (_request, reply) => reply.redirect(isBuilt ? '/app' : '/docs'))
  if (!isBuilt) return app.log.warn('There is no web client under /app: npm run build makes it')
  await app.register(files, {
    root: BUILT,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names in `assets` hold a hash of what is in them.
      const isForever = path.includes('/assets/')
      reply.header('cache-control', isForever ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
      // The worker that keeps pages for when there is no network has a policy of its own.
      if (path.includes('/offline.js'))
        reply.header('content-security-policy', "default-src 'none'; connect-src 'self'")
    },
  })
  const sendPage = (request: FastifyRequest, reply: FastifyReply) =>
    reply.headers(pageHeaders(policyFor(request))).sendFile('index.html')
  app.get('/app', sendPage)
  // What the web client cannot know by itself, and would else learn by a refusal.
  app.get('/app/limits.json', (_request, reply) => reply.header('cache-control', 'no-cache').send(limits))
  app.get<{ Params: { '*': string } }>('/app/*', (request, reply) => {
    const path = request.params['*']
    // A file that is gone is not answered with a page: a browser would take it for the script that it asked for.
    return isFile(path) ? reply.sendFile(path) : sendPage(request, reply)
  })
}
