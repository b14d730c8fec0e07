import { createServer } from 'node:net'
import { handleCommands } from '@lockstep/testing/load/worker'
import { listenOnFreePort } from '@lockstep/testing/ports'

/**
 * A server process that rejects every request with 503, with the least possible work. Load on it costs the load generator
 * as much CPU time as load that the service rejects, but leaves the service alone.
 */
const body = '{"detail":"Come back later.","code":"overloaded"}'
const response = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nX-Request-Id: 00000000-0000-4000-8000-000000000000\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const server = createServer((socket) => {
  // Requests are small: each arrives in one chunk.
  socket.on('data', () => socket.write(response))
  socket.on('error', () => {})
})

/** Starts to listen, and returns the port. */
handleCommands<'listen'>(() => listenOnFreePort(server))
