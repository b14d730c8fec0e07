import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '@lockstep/testing/ports'
import { eventually } from '@lockstep/testing/processes'
import { startService } from '@lockstep/testing/service'
import { afterEach, expect, test } from 'vitest'
import { limitConnections } from './connection-limit.ts'

/** In the order of what they stop; the last is stopped first. */
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A server that accepts four fifths of `maxFiles` connections. */
async function serverFor(isByAddress: boolean, maxFiles = 50) {
  /** The body of each request. */
  const received: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      received.push(text)
      response.end('ok')
    })
  })
  const warnings: { connections: number; maxFiles: number }[] = []
  const log = { warn: (details: object) => void warnings.push(details as (typeof warnings)[number]) }
  const stop = limitConnections(server, { isByAddress, log, maxFiles })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = () => new Promise((resolve) => server.close(resolve))
  stops.push(stop, close)
  const connections = () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))
  return { ...connectionsTo(port), port, warnings, received, close, connections }
}

function connectionsTo(port: number) {
  const sockets: Socket[] = []
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  /** Returns how many connections get a response. The others are closed. */
  const open = async (localAddress: string, count: number) => {
    const opened = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }))
    sockets.push(...opened)
    const isAccepted = opened.map(
      (socket) =>
        new Promise<boolean>((resolve) => {
          socket.on('error', () => {})
          socket.once('close', () => resolve(false)).once('data', () => resolve(true))
          socket.write('GET /live HTTP/1.1\r\nhost: x\r\n\r\n')
        }),
    )
    return (await Promise.all(isAccepted)).filter(Boolean).length
  }
  return { open, sockets }
}

test('[LOAD-13] one address gets its share of the connections once half are in use, others get the rest', async () => {
  const { open, warnings, sockets } = await serverFor(true)
  expect(await open('127.0.0.1', 60)).toBe(20)
  expect(await open('127.0.0.2', 3)).toBe(3)
  // In one line a second.
  const rejected = () => warnings.reduce((sum, { connections }) => sum + connections, 0)
  await eventually('they are logged', () => rejected() === 40)
  expect(warnings[0]?.maxFiles).toBe(50)
  for (const socket of sockets) socket.destroy()
  await eventually('room again', async () => (await open('127.0.0.1', 1)) === 1)
})

test('[LOAD-13] one address opens 20 connections at once and 50 per second after that: 50 more wait, others are closed', async () => {
  const { open } = await serverFor(true, 5_000)
  const began = performance.now()
  const allowed = () => 20 + Math.ceil((performance.now() - began) / 20)
  const first = open('127.0.0.1', 300)
  // Other addresses do not wait.
  expect(await Promise.race([first.then(() => 'first'), open('127.0.0.2', 20).then(() => 'other')])).toBe('other')
  expect(await first).toBeGreaterThanOrEqual(70)
  expect(await first).toBeLessThanOrEqual(allowed())
  const more = await open('127.0.0.1', 300)
  expect(more).toBeGreaterThan(0)
  expect((await first) + more).toBeLessThanOrEqual(allowed())
})

test('[LOAD-13] what a client sends on a connection that waits is handled when it starts, completely and in order', async () => {
  const { port, received } = await serverFor(true, 5_000)
  // More than the buffer of a socket.
  const bodies = Array.from({ length: 60 }, () => randomBytes(150_000).toString('hex'))
  const send = async (body: string) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', agent: false })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  const statuses = await Promise.all(bodies.map(send))
  expect(statuses).toEqual(bodies.map(() => 200))
  expect(new Set(received)).toEqual(new Set(bodies))
})

test('[LOAD-13] a client that disconnects while its connection waits affects no other', async () => {
  const { open, sockets } = await serverFor(true, 5_000)
  const first = open('127.0.0.1', 60)
  await eventually('some have started', () => sockets.some(({ bytesRead }) => bytesRead > 0))
  for (const socket of sockets.slice(30, 60)) socket.resetAndDestroy()
  expect(await first).toBeGreaterThanOrEqual(30)
  await eventually('one more', async () => (await open('127.0.0.1', 1)) === 1)
})

/** Opens connections that send nothing; all but the first 20 wait. Returns the last ten, which wait for 0.2 seconds or more. */
async function openSilent({ port, connections }: Awaited<ReturnType<typeof serverFor>>): Promise<Socket[]> {
  const opened = Array.from({ length: 40 }, () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }))
  stops.push(() => {
    for (const socket of opened) socket.destroy()
  })
  for (const socket of opened) socket.on('error', () => {}).resume()
  await eventually('the server has accepted them', async () => (await connections()) === opened.length)
  return opened.slice(30)
}
const closeOf = (socket: Socket) => new Promise<void>((resolve) => socket.once('end', () => resolve()))

test('[LOAD-13] a connection that its client closed while it waited is closed', async () => {
  const waiting = await openSilent(await serverFor(true, 5_000))
  const closed = waiting.map(closeOf)
  for (const socket of waiting) socket.end()
  const late = setTimeout(9_000, 'late')
  // The HTTP server would close it after the ten seconds in which it waits for the head of a request.
  expect(await Promise.race([Promise.all(closed).then(() => 'in time'), late])).toBe('in time')
})

test('[LOAD-13] while the server closes, connections that wait get a response to their request, and others are closed', async () => {
  const server = await serverFor(true, 5_000)
  const silent = await openSilent(server)
  const asking = silent.pop() as Socket
  const response = once(asking, 'data')
  const closed = silent.map(closeOf)
  asking.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  void server.close()
  expect(String((await response)[0])).toMatch(/^HTTP\/1.1 200 /)
  await Promise.all(closed)
})

test('[LOAD-13] a service limits the connections of an address, and logs it with its open-files limit', async () => {
  const service = await startService({ FAIR_SHARES: 'on' })
  stops.push(service.stop)
  const { open } = connectionsTo(Number(new URL(service.baseUrl).port))
  const accepted = await open('127.0.0.1', 300)
  expect(accepted).toBeGreaterThanOrEqual(70)
  expect(accepted).toBeLessThan(300)
  const [, limit] = /^Max open files\s+(\d+)/m.exec(await readFile('/proc/self/limits', 'utf8')) ?? []
  const isLogged = async () => {
    const log = await readFile(service.logFile, 'utf8')
    return log.includes(`"maxFiles":${limit},"msg":"connections were closed`)
  }
  await eventually('the log says so', isLogged)
})

test('[LOAD-13] behind a proxy all share what the open-files limit allows', async () => {
  const { open } = await serverFor(false)
  expect(await open('127.0.0.1', 60)).toBe(40)
})
