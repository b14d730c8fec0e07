import { connect, createServer, type Socket } from 'node:net'
import { listenOnFreePort } from '@lockstep/testing/ports'

/** A proxy in front of Redis that drops single pub/sub messages without closing connections. */
export interface RespProxy {
  url: string
  /** Sets the share of messages to drop. */
  lose: (share: number) => void
  lost: () => number
  close: () => void
}

export async function startRespProxy(target: string, random: () => number): Promise<RespProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  let share = 0
  let lost = 0
  const isLost = () => {
    if (share === 0 || random() >= share) return false
    lost++
    return true
  }
  const server = createServer((near) => {
    const far = connect(Number(targetPort), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay()
      // The other side learns of an error by the close that follows it.
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    near.on('data', (bytes) => far.write(bytes))
    const pass = messageFilter(isLost, (bytes) => void near.write(bytes))
    far.on('data', (bytes) => pass(bytes as Buffer))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  const port = await listenOnFreePort(server)
  return {
    url: `redis://127.0.0.1:${port}`,
    lose: (next) => {
      share = next
    },
    lost: () => lost,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Forwards complete replies, except the shard-channel messages to drop. */
export function messageFilter(isLost: () => boolean, pass: (bytes: Buffer) => void) {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes: Buffer) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let from = 0
    let passed = 0
    for (;;) {
      const end = replyEnd(rest, from)
      if (end === -1) break
      if (isShardMessage(rest, from) && isLost()) {
        if (from > passed) pass(rest.subarray(passed, from))
        passed = end
      }
      from = end
    }
    if (from > passed) pass(rest.subarray(passed, from))
    rest = rest.subarray(from)
  }
}

/** `smessage` as the first of three elements of an array (RESP2) or a push (RESP3). */
const SHARD_MESSAGE = Buffer.from('3\r\n$8\r\nsmessage\r\n')
const isShardMessage = (bytes: Buffer, at: number) =>
  bytes.subarray(at + 1, at + 1 + SHARD_MESSAGE.length).equals(SHARD_MESSAGE)

/** The end of the reply at a position; -1 if it is incomplete. */
function replyEnd(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return -1
  const line = bytes.indexOf('\r\n', at)
  if (line === -1) return -1
  const after = line + 2
  const type = String.fromCharCode(bytes[at] as number)
  const count = Number(bytes.toString('latin1', at + 1, line))
  if ('$=!'.includes(type)) {
    const end = count < 0 ? after : after + count + 2
    return end <= bytes.length ? end : -1
  }
  if (!'*>~%|'.includes(type)) return after
  let end = after
  for (let i = 0; i < (type === '%' || type === '|' ? 2 * count : count); i++) {
    end = replyEnd(bytes, end)
    if (end === -1) return -1
  }
  return end
}
