import { createServer } from 'node:net'

/**
 * Runs as a process of its own: sends everybody away who asks, with the least work there is. While it is asked, who asks
 * takes as much of the machine as when the service sends him away, and the service is left alone.
 */
const body = '{"detail":"Come back later.","code":"overloaded"}'
const answer = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nX-Request-Id: 00000000-0000-4000-8000-000000000000\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const server = createServer((socket) => {
  // Requests are small: each comes in one piece.
  socket.on('data', () => socket.write(answer))
  socket.on('error', () => {})
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'))
process.on('disconnect', () => process.exit())
