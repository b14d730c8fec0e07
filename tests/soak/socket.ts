import type { SocketLike } from '@lockstep/client/live'
import { WebSocket } from 'ws'

/** The sockets of one live board, and what can happen to the one that is open. */
export class Cable {
  private socket: WebSocket | undefined
  opened = 0

  readonly openSocket = (url: string): SocketLike => {
    this.opened++
    const socket = new WebSocket(url.replace(/^http/, 'ws'))
    this.socket = socket
    return socket as unknown as SocketLike
  }

  /** The connection is gone, without a word to either side. */
  cut() {
    this.socket?.terminate()
  }

  /** Nothing is read any more, as from a machine that sleeps: the service must notice by itself. */
  fallAsleep() {
    this.socket?.pause()
  }
}
