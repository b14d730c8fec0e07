import { createSocket, type RemoteInfo } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

const TYPES = { 1: 'A', 28: 'AAAA' } as Record<number, string>

/** The addresses of a name, for its n-th query (from 0) of each type. Undefined: the name does not exist. */
type Zone = (name: string, query: number) => readonly string[] | undefined

/** A DNS server on the loopback interface, and resolvers that ask it. */
export async function startDnsServer(zone: Zone) {
  const queries = new Map<string, number>()
  const server = createSocket('udp4')
  server.on('message', (message: Buffer, { address, port }: RemoteInfo) => {
    const { name, type, end } = questionOf(message)
    const query = queries.get(`${type} ${name}`) ?? 0
    queries.set(`${type} ${name}`, query + 1)
    const addresses = zone(name, query)
    const records = (addresses ?? []).filter((each) => (isIPv4(each) ? 'A' : 'AAAA') === TYPES[type]).map(recordOf)
    const header = Buffer.alloc(12)
    message.copy(header, 0, 0, 2)
    header.writeUInt16BE(addresses ? 0x8580 : 0x8583, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    server.send(Buffer.concat([header, message.subarray(12, end), ...records]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const newResolver = () => {
    const resolver = new Resolver({ timeout: 1_000, tries: 1 })
    resolver.setServers([`127.0.0.1:${port}`])
    return resolver
  }
  return { newResolver, queries, close: () => server.close() }
}

function questionOf(message: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** An address record for the name of the question, without a lifetime. */
function recordOf(address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : bytesOf(address)
  const head = Buffer.from([0xc0, 12, 0, isIPv4(address) ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length])
  return Buffer.concat([head, data])
}

function bytesOf(address: string): Buffer {
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [front = [], back = []] = plain.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - front.length - back.length).fill('0')
  return Buffer.from([...front, ...zeros, ...back].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
