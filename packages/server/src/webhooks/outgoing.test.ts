import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { startDnsServer } from '@lockstep/testing/dns-server'
import { importMutated } from '@lockstep/testing/mutated-module'
import { listenOnFreePort } from '@lockstep/testing/ports'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Outgoing, type OutgoingSettings } from './outgoing.ts'
import { secondsOfRetryAfter } from './retry-after.ts'

const TIMEOUT_MS = 700
const settings: OutgoingSettings = {
  allowsHttp: true,
  allowedNetworks: ['127.0.0.0/8'],
  allowedHosts: [],
  timeoutMs: TIMEOUT_MS,
}
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

function newOutgoing(other: Partial<OutgoingSettings> = {}) {
  const outgoing = new Outgoing({ ...settings, ...other })
  cleanups.push(() => outgoing.close())
  return outgoing
}

/** Listens, and counts connections. */
async function listening(server: Server) {
  const sockets = new Set<Socket>()
  const seen = { connections: 0, open: () => sockets.size }
  server.on('connection', (socket: Socket) => {
    seen.connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listenOnFreePort(server)
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, url: `http://127.0.0.1:${port}/hook`, seen }
}

/** A receiver that writes bytes of its own for each request. */
const raw = (respond: (socket: Socket, request: number) => unknown) => {
  let requests = 0
  return listening(createServer((socket) => socket.on('data', () => respond(socket, requests++))))
}
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** Sends once, and measures. */
async function attempt(respond: (socket: Socket, request: number) => unknown, other: Partial<OutgoingSettings> = {}) {
  const { url, seen } = await raw(respond)
  const startedAt = performance.now()
  const result = await newOutgoing(other).send(url, {}, 'body')
  return { ...result, seen, tookMs: performance.now() - startedAt }
}

describe('a request', () => {
  test('[HOOK-18] is a POST with exactly the given headers and body, without cookies, proxies and compression', async () => {
    const received: { headers: IncomingHttpHeaders; line: string; body: string }[] = []
    const server = createHttpServer((request, response) => {
      void text(request).then((body) => {
        received.push({ headers: request.headers, line: `${request.method} ${request.url}`, body })
        response.setHeader('set-cookie', 'a=b').end('ok')
      })
    })
    const { port, seen } = await listening(server)
    const proxy = await raw((socket) => socket.end(OK))
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) {
      process.env[name] = proxy.url
      cleanups.push(() => delete process.env[name])
    }
    const outgoing = newOutgoing()
    for (const body of ['{"ü":1}', Buffer.from('{"ü":1}')]) {
      const result = await outgoing.send(
        `http://127.0.0.1:${port}/a%20b?c=d e`,
        { 'content-type': 'application/json' },
        body,
      )
      expect(result).toMatchObject({ status: 200, error: null, reason: null })
    }
    expect(received).toEqual(
      Array(2).fill({
        line: 'POST /a%20b?c=d%20e',
        headers: {
          'content-type': 'application/json',
          'content-length': '8',
          host: `127.0.0.1:${port}`,
          connection: 'keep-alive',
        },
        body: '{"ü":1}',
      }),
    )
    expect([seen.connections, proxy.seen.connections]).toEqual([1, 0])
  })

  test('[HOOK-18] that cannot be made is an error, not an exception', async () => {
    const { url, seen } = await raw((socket) => socket.end(OK))
    for (const headers of [{ 'a b': 'c' }, { a: 'b\r\nc: d' }])
      expect(await newOutgoing().send(url, headers, '')).toMatchObject({ status: null, error: 'connection_lost' })
    expect(seen.connections).toBe(0)
  })
})

describe('a response', () => {
  test.each([301, 302, 303, 307, 308])('[HOOK-17] [V30] a redirect with %i is not followed', async (status) => {
    const other = await raw((socket) => socket.end(OK))
    const result = await attempt((socket) =>
      socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${other.url}\r\ncontent-length: 0\r\n\r\n`),
    )
    expect(result).toMatchObject({ status, error: null })
    expect(other.seen.connections).toBe(0)
  })

  test.each([
    ['HTTP/1.0 without a length', 'HTTP/1.0 200 OK\r\n\r\nok', 200],
    ['204 without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['503', 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n', 503],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 200],
    ['100 and 103 before it', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n${OK}`, 200],
    ['a protocol switch', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 101],
    ['a connection that is lost in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nok', 200],
    ['a broken body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n', 200],
  ])('[HOOK-18] with %s has its status', async (_, bytes, status) => {
    const result = await attempt((socket) => socket.end(bytes), { timeoutMs: 20_000 })
    expect(result).toMatchObject({ status, error: null, responseText: null, reason: null })
    expect(result.tookMs).toBeLessThan(10_000)
  })

  test.each([
    [
      'headers over 16 KiB',
      `HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}\r\n\r\n`,
      'invalid_response',
      'HPE_HEADER_OVERFLOW',
    ],
    ['many headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}\r\n`, 'invalid_response', 'HPE_HEADER_OVERFLOW'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'invalid_response', 'HPE_INVALID_CONSTANT'],
    [
      'endless informational responses',
      'HTTP/1.1 103 Hints\r\n\r\n'.repeat(100),
      'invalid_response',
      'too many informational responses',
    ],
    ['nothing', '', 'connection_lost', 'ECONNRESET'],
    ['half a header', 'HTTP/1.1 200 OK\r\ncontent-', 'connection_lost', 'ECONNRESET'],
  ])('[HOOK-18] with %s is an error', async (_, bytes, error, reason) => {
    const result = await attempt((socket) => socket.end(bytes))
    expect(result).toMatchObject({ status: null, error, reason, responseText: null, retryAfter: null })
    expect(result.seen.connections).toBe(1)
  })

  const trickle = (start: string, piece: string) => (socket: Socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(piece), 20)
    socket.on('close', () => clearInterval(timer))
  }
  test.each([
    ['never comes', () => undefined, null, 'timeout'],
    ['has trickled headers', trickle('HTTP/1.1 200 OK\r\n', 'a: b\r\n'), null, 'timeout'],
    ['has a trickled status', trickle('HTTP/1.1 2', '0'), null, 'invalid_response'],
    ['has a trickled body', trickle('HTTP/1.1 200 OK\r\n\r\n', 'a'), 200, null],
    ['has a body without an end', trickle('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', ''), 200, null],
  ] as const)('[HOOK-18] that %s ends the attempt in time', async (_, respond, status, error) => {
    const { seen, ...result } = await attempt(respond)
    expect(result).toMatchObject({ status, error })
    expect(result.tookMs).toBeLessThan(TIMEOUT_MS * 10)
    if (error !== 'invalid_response') expect(result.durationMs).toBeGreaterThan(TIMEOUT_MS - 50)
    await expect.poll(seen.open).toBe(0)
  })

  test('[HOOK-18] of 100 MB is not read: the connection is closed', async () => {
    let written = 0
    const piece = Buffer.alloc(65_536, 'a')
    const flood = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(piece)) written += piece.length
      }
      socket.on('drain', more)
      more()
    }
    const { seen, status, tookMs } = await attempt(flood, { timeoutMs: 20_000 })
    expect(status).toBe(200)
    expect(tookMs).toBeLessThan(10_000)
    await expect.poll(seen.open).toBe(0)
    expect(written).toBeLessThan(10_000_000)
  })

  test.each([
    ['120', 120],
    ['0', 0],
    [' 7 ', 7],
    ['99999999999999999999999999', 999_999_999],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 60],
    ['Wednesday, 21-Oct-26 07:28:00 GMT', 60],
    ['Wed Oct 21 07:28:00 2026', 60],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['Wed, 99 Foo 2026 07:28:00 GMT', null],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['tomorrow 1', null],
    ['', null],
    [undefined, null],
  ])('[HOOK-18] with Retry-After %j', (value, seconds) => {
    expect(secondsOfRetryAfter(value, Date.parse('2026-10-21T07:27:00Z'))).toBe(seconds)
  })

  test('[HOOK-18] Retry-After is part of the result', async () => {
    const respond = (socket: Socket) => socket.end('HTTP/1.1 429 Slow\r\nretry-after: 30\r\ncontent-length: 0\r\n\r\n')
    expect(await attempt(respond)).toMatchObject({ status: 429, retryAfter: 30 })
  })

  test('[HOOK-18] its first 1,024 bytes are kept, from a public address only', () => {
    // A network namespace in which this machine has a public address.
    const script = `
      import { createServer } from 'node:http'
      import { Outgoing } from ${JSON.stringify(new URL('./outgoing.ts', import.meta.url).href)}
      const bodies = ['ok', 'a\\0b', 'a'.repeat(1_023) + '€' + 'b'.repeat(9_999), 'a'.repeat(1_024), Buffer.from([0x61, 0xff, 0x62]), '']
      let n = 0
      const server = createServer((request, response) => response.end(bodies[n++ % bodies.length])).listen(8080, '0.0.0.0')
      server.on('listening', async () => {
        const outgoing = new Outgoing({ allowsHttp: true, allowedNetworks: ['127.0.0.0/8'], allowedHosts: [], timeoutMs: 5_000 })
        const texts = []
        for (const host of ['93.184.216.34', '127.0.0.1'])
          for (const _ of bodies) texts.push((await outgoing.send('http://' + host + ':8080/', {}, '')).responseText)
        console.log(JSON.stringify(texts))
        outgoing.close()
        server.close()
      })`
    const inNamespace =
      'ip link set lo up && ip addr add 93.184.216.34/32 dev lo && exec "$0" --input-type=module -e "$1"'
    const output = execFileSync('unshare', ['-rn', 'sh', '-c', inNamespace, process.execPath, script], {
      encoding: 'utf8',
    })
    const long = 'a'.repeat(1_023)
    const kept = ['ok', 'ab', long, `${long}a`, 'a\uFFFDb', '']
    expect(JSON.parse(output)).toEqual([...kept, ...Array(kept.length).fill(null)])
  })
})

describe('connections', () => {
  const countOf = (server: Server) =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

  test('[HOOK-18] are used again, and at most 16 of an origin stay open', async () => {
    const server = createHttpServer((request, response) => {
      request.resume().on('end', () => setTimeout(() => response.end('ok'), 20))
    })
    const { url, seen } = await listening(server)
    const outgoing = newOutgoing({ timeoutMs: 5_000 })
    for (let i = 0; i < 5; i++) expect(await outgoing.send(url, {}, 'a')).toMatchObject({ status: 200 })
    expect(seen.connections).toBe(1)
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => outgoing.send(`${url}/${i}`, {}, 'a')))
    expect(results.map(({ status }) => status)).toEqual(Array(20).fill(200))
    // One slow request does not delay others to the same origin.
    expect(seen.connections).toBe(20)
    await expect.poll(() => countOf(server)).toBe(16)
  })

  test('[HOOK-18] one that the receiver closed while it was idle is no failure', async () => {
    const { url, seen } = await raw((socket, request) => (request === 1 ? socket.resetAndDestroy() : socket.write(OK)))
    const outgoing = newOutgoing()
    expect(await outgoing.send(url, {}, 'first')).toMatchObject({ status: 200 })
    expect(await outgoing.send(url, {}, 'second')).toMatchObject({ status: 200, error: null })
    expect(seen.connections).toBe(2)
  })

  test('[HOOK-18] after one that was closed, other idle ones of the origin are not tried', async () => {
    const used = new Set<Socket>()
    let requests = 0
    const { url, seen } = await raw((socket) => {
      requests++
      if (used.has(socket)) socket.destroy()
      // At once, so that each has its own connection.
      else if (used.add(socket).size <= 10) setTimeout(() => socket.write(OK), 50)
      else socket.write(OK)
    })
    const outgoing = newOutgoing()
    await Promise.all(Array.from({ length: 10 }, () => outgoing.send(url, {}, '')))
    expect(await outgoing.send(url, {}, '')).toMatchObject({ status: 200, error: null })
    expect({ requests, connections: seen.connections }).toEqual({ requests: 12, connections: 11 })
  })

  test('[HOOK-18] a new one that is lost, or a used one after a byte of the response, is not tried again', async () => {
    const fresh = await raw((socket) => socket.destroy())
    expect(await newOutgoing().send(fresh.url, {}, '')).toMatchObject({ error: 'connection_lost' })
    expect(fresh.seen.connections).toBe(1)
    const used = await raw((socket, request) => (request === 1 ? socket.end('HTTP/1.1 2') : socket.write(OK)))
    const outgoing = newOutgoing()
    await outgoing.send(used.url, {}, '')
    expect(await outgoing.send(used.url, {}, '')).toMatchObject({ error: 'connection_lost' })
    expect(used.seen.connections).toBe(1)
  })

  test('[HOOK-9] [HOOK-18] nothing is sent again after the time of the attempt, also when the process was frozen meanwhile', async () => {
    const received = Promise.withResolvers<Socket>()
    let requests = 0
    const { url } = await raw((socket) => {
      if (++requests === 2) received.resolve(socket)
      else socket.write(OK)
    })
    const script = `
      const { Outgoing } = await import(process.argv[1])
      const outgoing = new Outgoing(${JSON.stringify(settings)})
      await outgoing.send(process.argv[2], {}, 'first')
      console.log(JSON.stringify(await outgoing.send(process.argv[2], {}, 'second')))
      outgoing.close()`
    const module = new URL('outgoing.ts', import.meta.url).href
    const args = ['--input-type=module', '--eval', script, module, url]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    cleanups.push(() => child.kill('SIGKILL'))
    const result = text(child.stdout)
    const socket = await received.promise
    child.kill('SIGSTOP')
    socket.destroy()
    await pause(TIMEOUT_MS + 200)
    child.kill('SIGCONT')
    // Not `unreachable`: no other connection is tried.
    expect(['timeout', 'connection_lost']).toContain(JSON.parse(await result).error)
    expect(requests).toBe(2)
  })

  test('[HOOK-18] live for a limited time, idle or not', async () => {
    const times: [string, string, string][] = [
      ['webhooks/outgoing.ts', 'const SOCKET_LIFETIME_MS = 60_000', 'const SOCKET_LIFETIME_MS = 600'],
      ['webhooks/outgoing.ts', 'const IDLE_MS = 30_000', 'const IDLE_MS = 300'],
    ]
    type Module = typeof import('./outgoing.ts')
    const load = importMutated<Module>('packages/server/src', ['platform', 'webhooks'], 'webhooks/outgoing.ts', times)
    const outgoing = new (await load).Outgoing(settings)
    cleanups.push(() => outgoing.close())
    const { url, seen } = await raw((socket) => socket.write(OK))
    const startedAt = performance.now()
    while (performance.now() - startedAt < 1_000) {
      await outgoing.send(url, {}, '')
      await pause(20)
    }
    expect(seen.connections).toBeGreaterThan(2)
    expect(seen.connections).toBeLessThan(6)
    await expect.poll(() => seen.open()).toBe(0)
  })

  test('[HOOK-18] close leaves none behind, whatever state they are in', async () => {
    const socketsOfProcess = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const before = socketsOfProcess()
    const idle = await raw((socket) => socket.write(OK))
    const silent = await raw(() => undefined)
    const outgoing = newOutgoing({ timeoutMs: 5_000 })
    await outgoing.send(idle.url, {}, '')
    const running = outgoing.send(silent.url, {}, '')
    await expect.poll(() => silent.seen.connections).toBe(1)
    const connecting = outgoing.send(silent.url.replace('/hook', '/other'), {}, '')
    outgoing.close()
    expect(await running).toMatchObject({ status: null, error: 'connection_lost' })
    expect(await connecting).toMatchObject({ status: null })
    await expect.poll(() => [idle.seen.open(), silent.seen.open(), socketsOfProcess()]).toEqual([0, 0, before])
    expect(await outgoing.send(idle.url, {}, '')).toMatchObject({ error: 'unreachable' })
  })
})

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-tls-'))
  const trusted = getCACertificates('default')
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  let known: { key: string; cert: string }
  let unknown: { key: string; cert: string }

  function certificate(name: string) {
    const [key, cert] = [join(folder, `${name}-key.pem`), join(folder, `${name}.pem`)]
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
    const files = ['-keyout', key, '-out', cert, '-days', '1', '-nodes']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], { stdio: 'pipe' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }

  beforeAll(async () => {
    dns = await startDnsServer(() => ['127.0.0.1'])
    known = certificate('receiver.test')
    unknown = certificate('receiver.test')
    setDefaultCACertificates([...trusted, known.cert])
  })
  afterAll(() => {
    setDefaultCACertificates(trusted)
    dns.close()
    rmSync(folder, { recursive: true })
  })

  const overTls = (options: object, respond = (socket: Socket, _request: number): unknown => socket.write(OK)) => {
    const server = createHttpsServer(options)
    let requests = 0
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket) => socket.on('data', () => respond(socket, requests++)))
    return listening(server)
  }
  async function sendTo(host: string, port: number, times = 1) {
    const outgoing = new Outgoing({ ...settings, allowsHttp: false, timeoutMs: 3_000 }, dns.newResolver())
    cleanups.push(() => outgoing.close())
    for (let i = 1; i < times; i++) await outgoing.send(`https://${host}:${port}/`, {}, 'body')
    return outgoing.send(`https://${host}:${port}/`, {}, 'body')
  }

  test('[HOOK-18] a certificate that is trusted for the name is accepted, and the connection is used again', async () => {
    const { port, seen } = await overTls(known)
    expect(await sendTo('receiver.test', port, 3)).toMatchObject({ status: 200, error: null })
    expect(await sendTo('receiver.test.', port)).toMatchObject({ status: 200 })
    expect(seen.connections).toBe(2)
  })

  test('[HOOK-18] one that was closed while it was idle is no failure', async () => {
    const { port, seen } = await overTls(known, (socket, request) =>
      request === 1 ? socket.destroy() : socket.write(OK),
    )
    expect(await sendTo('receiver.test', port, 2)).toMatchObject({ status: 200, error: null })
    expect(seen.connections).toBe(2)
  })

  test('[HOOK-18] another certificate, a certificate of another name, and an old version are refused', async () => {
    let requests = 0
    const count = () => requests++
    const cases = [
      [await overTls(unknown, count), 'receiver.test', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      [await overTls(known, count), 'other.test', 'ERR_TLS_CERT_ALTNAME_INVALID'],
      [await overTls(known, count), '127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID'],
      [
        await overTls({ ...known, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }, count),
        'receiver.test',
        'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      ],
      [await raw((socket) => socket.end(OK)), 'receiver.test', 'ERR_SSL_WRONG_VERSION_NUMBER'],
      [await raw((socket) => socket.destroy()), 'receiver.test', 'ECONNRESET'],
    ] as const
    for (const [{ port }, host, reason] of cases)
      expect({ host, ...(await sendTo(host, port)) }).toMatchObject({ host, status: null, error: 'tls', reason })
    expect(requests).toBe(0)
  })

  test('[HOOK-18] a handshake without an answer ends in time', async () => {
    const { port, seen } = await raw(() => undefined)
    const outgoing = new Outgoing(settings, dns.newResolver())
    const result = await outgoing.send(`https://receiver.test:${port}/`, {}, '')
    expect(result).toMatchObject({ status: null, error: 'timeout' })
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS * 10)
    outgoing.close()
    await expect.poll(seen.open).toBe(0)
  })
})
