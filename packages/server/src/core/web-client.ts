import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const BUILT = fileURLToPath(new URL('../../../web/dist/', import.meta.url))
const YEAR_SECONDS = 31_536_000

/**
 * What the web client may do: load its own files and talk to its own origin. No inline script or style, no eval, nobody who
 * frames it. Files of users are shown from `blob:` addresses alone, and only one policy may make HTML of text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  'frame-src blob:',
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types lockstep',
].join('; ')

/** Only names that a build makes: anything else is a page, or nothing. */
const isFile = (path: string) => /^[\w-]+(?:\/[\w-]+)*(?:\.[\w-]+)+$/.test(path)

/** The web client under `/app`, as `npm run build` made it. Every address that is no file is a page of it. */
export async function serveWebClient(app: FastifyInstance) {
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
      if (path.includes('/index.html')) reply.header('content-security-policy', policy)
      // The worker that keeps pages for when there is no network has a policy of its own.
      if (path.includes('/offline.js'))
        reply.header('content-security-policy', "default-src 'none'; connect-src 'self'")
    },
  })
  app.get('/app', (_request, reply) => reply.sendFile('index.html'))
  app.get<{ Params: { '*': string } }>('/app/*', ({ params: { '*': path } }, reply) =>
    // A file that is gone is not answered with a page: a browser would take it for the script that it asked for.
    reply.sendFile(isFile(path) ? path : 'index.html'),
  )
}
