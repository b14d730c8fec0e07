import { connect, type Socket } from 'node:net'
import { type FilesEnvironment, FORM_TYPE } from './environment.ts'

/** A raw connection, without the limits of an HTTP library. It does not read until it is resumed. */
export function openSocket({ service }: FilesEnvironment): Socket {
  const socket = connect({ port: Number(new URL(service.baseUrl).port), host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  socket.pause()
  return socket
}

/** The head of an upload. Without a size, the body is chunked. */
export const uploadHead = ({ uploadPath, token }: FilesEnvironment, size: number | undefined, type = FORM_TYPE) =>
  `POST ${uploadPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
  `Content-Type: ${type}\r\n${size === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`}\r\n\r\n`

export const downloadHead = ({ token }: FilesEnvironment, path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`

/** Writes bytes, and waits until they are flushed or the connection is closed. */
export const write = (socket: Socket, bytes: Buffer | string) =>
  new Promise<void>((resolve) => (socket.destroyed ? resolve() : socket.write(bytes, () => resolve())))

/** The status of the response; 0 if the connection ended without one, and undefined after a timeout. */
export function statusOf(socket: Socket, patienceMs: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  let text = ''
  const read = () => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0)
  const timer = setTimeout(() => resolve(undefined), patienceMs)
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1')
  })
  socket.once('close', () => resolve(read()))
  socket.resume()
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}
