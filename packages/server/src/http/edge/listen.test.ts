import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@lockstep/testing/ports'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { rejectConnection } from '../error-handler.ts'
import { listenWithReusePort } from './listen.ts'

const host = '127.0.0.1'
const opened: FastifyInstance[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

/** A server with a slow route. */
function build() {
  const app = Fastify({ clientErrorHandler: rejectConnection, return503OnClosing: false })
  app.get('/slow', async (_request, reply) => {
    await pause(300)
    return reply.header('connection', 'close').send('done')
  })
  opened.push(app)
  return app
}
function knock(port: number, text = '') {
  const socket = connect({ port, host })
  sockets.push(socket)
  let received = ''
  socket.on('data', (data) => {
    received += String(data)
  })
  if (text) socket.write(text)
  return { socket, ended: once(socket, 'close').then(() => received) }
}
const GET = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'

describe.runIf(process.platform === 'linux')('several listeners', () => {
  test('[LOAD-9] several connections are accepted in one iteration of the event loop', async () => {
    const app = build()
    const port = await freePort()
    await listenWithReusePort(app, { host, port })
    const COUNT = 160
    let taken = 0
    app.server.on('connection', () => taken++)
    for (let i = 0; i < COUNT; i++) knock(port)
    let iterations = 0
    while (taken < COUNT) {
      iterations++
      await new Promise((resolve) => setImmediate(resolve))
      // Long enough that all of them are pending by the second iteration.
      for (const until = performance.now() + 5; performance.now() < until; );
    }
    // With one listener it would be one iteration for each.
    expect(iterations).toBeLessThan(COUNT / 2)
  })

  test('[LOAD-9] [REQ-14] a request is answered on every listener, and an invalid one is rejected with JSON', async () => {
    const app = build()
    const port = await freePort()
    await listenWithReusePort(app, { host, port })
    const responses = await Promise.all(Array.from({ length: 40 }, () => knock(port, GET).ended))
    for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 200 [\s\S]*done$/)
    const refusals = await Promise.all(Array.from({ length: 40 }, () => knock(port, 'NONSENSE\r\n\r\n').ended))
    for (const refusal of refusals) expect(refusal).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"\}$/)
  })

  test('[LOAD-9] a port that another process uses is not shared', async () => {
    const port = await freePort()
    await listenWithReusePort(build(), { host, port })
    await expect(listenWithReusePort(build(), { host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test('[LOAD-9] closing waits for requests on all of them', async () => {
    const app = build()
    const port = await freePort()
    let begun = 0
    let endedAtClose = 0
    let ended = 0
    app.addHook('onRequest', async () => void begun++)
    app.addHook('onResponse', async () => void ended++)
    // Run last: closing would break a request that is still running.
    app.addHook('onClose', async () => {
      endedAtClose = ended
    })
    await listenWithReusePort(app, { host, port })
    const responses = Promise.all(Array.from({ length: 40 }, () => knock(port, GET).ended))
    await expect.poll(() => begun).toBe(40)
    await app.close()
    for (const response of await responses) expect(response).toMatch(/^HTTP\/1\.1 200 [\s\S]*done$/)
    expect(endedAtClose).toBe(40)
  })
})
