import type { SocketLike } from '@lockstep/client/live'
import { WebSocket } from 'ws'

/** Opens the sockets of one live board, and can break the one that is open. */
export class ClientSocket {
  private socket: WebSocket | undefined
  opened = 0

  readonly openSocket = (url: string): SocketLike => {
    this.opened++
    const socket = new WebSocket(url.replace(/^http/, 'ws'))
    this.socket = socket
    return socket as unknown as SocketLike
  }

  /** Terminates the connection without a close frame. */
  cut() {
    this.socket?.terminate()
  }

  /** Stops reading, like a suspended machine: the service must detect it. */
  stall() {
    this.socket?.pause()
  }
}
