import { connect, type Socket } from 'node:net'
import { type LoadCommand, type LoadRequest, type LoadResult, UNIQUE_NUMBER } from './http-load.ts'
import { obeying } from './worker.ts'

/**
 * The process of the HTTP load generator. To use little CPU time, it sends prebuilt bytes and parses only the status and
 * the length of a response. Connections stay open between windows.
 */
interface PreparedRequest {
  /** The bytes before and after the unique number. Without a number, `head` is the whole request. */
  head: string
  tail: string | undefined
}
interface Connection {
  socket: Socket
  /** The part of a response head that has arrived. */
  partialHead: Buffer | undefined
  /** Bytes of the response body that are still missing; -1 while reading the head. */
  missingBytes: number
  status: number
  onResponse: () => void
}

const lists = new Map<string, PreparedRequest[]>()
const connectionsByPort = new Map<number, Connection[]>()

function prepare({ method, path, token, body = '', headers = '' }: LoadRequest): PreparedRequest {
  const content = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const authorization = token ? `Authorization: Bearer ${token}\r\n` : ''
  const text = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}${headers}${content}\r\n${body}`
  const [head = '', tail] = text.split(UNIQUE_NUMBER)
  return { head, tail }
}

function open(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(connection))
    const connection: Connection = {
      socket,
      partialHead: undefined,
      missingBytes: -1,
      status: 0,
      onResponse: () => {},
    }
    socket.on('error', reject)
    // Another process may listen on this port later.
    socket.on('close', () => connectionsByPort.delete(port))
    socket.on('data', (chunk: Buffer) => read(connection, chunk))
  })
}

function read(connection: Connection, chunk: Buffer) {
  let data = chunk
  if (connection.missingBytes === -1) {
    data = connection.partialHead ? Buffer.concat([connection.partialHead, chunk]) : chunk
    const end = data.indexOf('\r\n\r\n')
    if (end === -1) {
      connection.partialHead = data
      return
    }
    connection.partialHead = undefined
    const head = data.toString('latin1', 0, end)
    connection.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    if (length === undefined && connection.status !== 204 && connection.status !== 304)
      throw new Error('A response has no Content-Length')
    connection.missingBytes = Number(length ?? 0)
    data = data.subarray(end + 4)
  }
  connection.missingBytes -= data.length
  if (connection.missingBytes > 0) return
  connection.missingBytes = -1
  connection.onResponse()
}

type Window = Extract<LoadCommand, { do: 'run' }>['window']

async function run({ port, connections, ms, list, from }: Window): Promise<LoadResult> {
  const requests = lists.get(list) ?? []
  const pool = connectionsByPort.get(port) ?? []
  connectionsByPort.set(port, pool)
  while (pool.length < connections) pool.push(await open(port))
  const statuses: Record<string, number> = {}
  const startedAt = performance.now()
  const endsAt = startedAt + ms
  let sent = 0
  let inTime = 0
  await Promise.all(
    pool.slice(0, connections).map(
      (connection) =>
        new Promise<void>((resolve) => {
          const sendNext = () => {
            if (performance.now() >= endsAt) return resolve()
            const nth = from + sent++
            const { head, tail } = requests[nth % requests.length] as PreparedRequest
            connection.socket.write(
              tail === undefined ? head : head + String(nth).padStart(UNIQUE_NUMBER.length, '0') + tail,
              'latin1',
            )
          }
          // Late responses are awaited, so that every write is counted; the rate counts those within the window.
          connection.onResponse = () => {
            if (performance.now() <= endsAt) inTime++
            statuses[connection.status] = (statuses[connection.status] ?? 0) + 1
            sendNext()
          }
          sendNext()
        }),
    ),
  )
  // On a slow machine, a short window may end before the first response.
  const rate = inTime > 0 ? inTime / ms : sent / (performance.now() - startedAt)
  return { sent, rate: rate * 1_000, statuses }
}

async function execute(command: LoadCommand): Promise<LoadResult | undefined> {
  if (command.do === 'run') return run(command.window)
  lists.set(command.list, command.requests.map(prepare))
  return undefined
}

obeying(execute)
