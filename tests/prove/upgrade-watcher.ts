import { WebSocket } from 'ws'
import type { Instance, LoadedBoard } from './upgrade-workload.ts'

/** The close code of an instance that shuts down. */
const GOES = 1012

/** A socket that resumes at the next instance after each close, and checks that no event is missing. */
export class Watcher {
  readonly board: LoadedBoard
  seq = 0
  resumes = 0
  private readonly next: () => Instance
  private readonly fail: (sentence: string) => void
  private ws: WebSocket
  private isOver = false

  constructor(board: LoadedBoard, next: () => Instance, complain: (sentence: string) => void) {
    this.board = board
    this.next = next
    this.fail = complain
    this.ws = this.open()
  }

  close() {
    this.isOver = true
    this.ws.close()
  }

  private open(): WebSocket {
    const { created, token } = this.board
    const { baseUrl, version } = this.next()
    const address = `${baseUrl.replace('http', 'ws')}/ws/boards/${created.id}?token=${token}&since=1.${this.seq}`
    const ws = new WebSocket(address)
    ws.on('error', (error) => this.fail(`a socket to the ${version} version failed: ${error.message}`))
    ws.on('message', (data: Buffer) => this.onMessage(data.toString()))
    ws.on('close', (code) => {
      if (this.isOver) return
      if (code !== GOES) this.fail(`a socket to the ${version} version was closed with ${code}`)
      if (code !== GOES) return
      this.resumes++
      this.ws = this.open()
    })
    return ws
  }

  private onMessage(text: string) {
    const message = JSON.parse(text) as { type: string; seq?: number; version?: string }
    if (message.type === 'ping') this.ws.send('{"type":"pong"}')
    if (message.type === 'resync') this.fail('a socket received resync')
    if (message.version === undefined) return
    const { seq = 0 } = message
    if (seq !== this.seq + 1) this.fail(`a socket received ${seq} after ${this.seq}`)
    this.seq = seq
    const known = this.board.received.get(seq)
    if (known === undefined) this.board.received.set(seq, text)
    else if (known !== text) this.fail(`two sockets received different events as ${seq}`)
  }
}
