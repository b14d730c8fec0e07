import type { FullBoard, User } from '@lockstep/client'
import type { Snapshot, StoredBoard } from '@lockstep/client/live'

/** Cache of the user and the boards, to start a page offline. The service worker writes it for all tabs; every page reads it. */
const DATA = 'lockstep/data'
const ME = '/auth/me'
const pathOf = (board_id: string) => `/boards/${board_id}`

const isSupported = () => 'caches' in globalThis && 'serviceWorker' in navigator && import.meta.env.PROD
const worker = isSupported() ? navigator.serviceWorker.ready : undefined

/** Writes go through the worker: a posted message survives the end of this page, an unfinished write would not. */
async function postToWorker(path: string, data: unknown, fields: Record<string, string> = {}) {
  const message = { path, text: JSON.stringify(data), ...fields }
  const { active } = (await worker) ?? {}
  active?.postMessage(message)
}

export const cacheUser = (user: User) => postToWorker(ME, user, { user_id: user.id })
export const cacheBoard = ({ board, position }: Snapshot, user_id: string) =>
  postToWorker(pathOf(board.id), board, { user_id, position })

async function read(path: string): Promise<Response | undefined> {
  return isSupported() ? (await caches.open(DATA)).match(path) : undefined
}

export async function readCachedUser(): Promise<User | undefined> {
  return (await read(ME))?.json()
}

export async function readCachedBoard(board_id: string): Promise<StoredBoard | undefined> {
  const response = await read(pathOf(board_id))
  const position = response?.headers.get('board-position')
  return response && position ? { position, read: () => response.json() as Promise<FullBoard> } : undefined
}

/** Called at logout: the cached data belongs to the user who was logged in. */
export const clearOfflineCache = () => postToWorker(ME, undefined)
