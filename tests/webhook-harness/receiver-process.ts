import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setPriority } from 'node:os'

// It stands for another machine: it does as little as possible, and only while the others leave a core idle.
setPriority(19)

const server = createServer((request, response) => {
  request.resume()
  request.once('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
