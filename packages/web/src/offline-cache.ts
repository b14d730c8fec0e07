import type { FullBoard, ListedBoard, User } from '@lockstep/client'
import type { Snapshot, StoredBoard } from '@lockstep/client/live'

/** Cache of the user and the boards, to start a page offline. The service worker writes it for all tabs; every page reads it. */
const DATA = 'lockstep/data'
const ME = '/auth/me'
const BOARDS = '/boards'
const pathOf = (board_id: string) => `${BOARDS}/${board_id}`

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
/** The time is its position: the worker never replaces a list by an older one, whichever tab sends it. */
export const cacheBoardList = (boards: readonly ListedBoard[], user_id: string) =>
  postToWorker(BOARDS, boards, { user_id, position: `0.${Date.now()}` })

async function read(path: string): Promise<Response | undefined> {
  return isSupported() ? (await caches.open(DATA)).match(path) : undefined
}

export async function readCachedUser(): Promise<User | undefined> {
  return (await read(ME))?.json()
}

export async function readCachedBoardList(): Promise<ListedBoard[]> {
  return (await read(BOARDS))?.json() ?? []
}

/** The boards that can be opened offline. */
export async function readCachedBoardIds(): Promise<string[]> {
  if (!isSupported()) return []
  const requests = await (await caches.open(DATA)).keys()
  const prefix = pathOf('')
  return requests
    .map(({ url }) => new URL(url).pathname)
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
}

export async function readCachedBoard(board_id: string): Promise<StoredBoard | undefined> {
  const response = await read(pathOf(board_id))
  const position = response?.headers.get('board-position')
  return response && position ? { position, read: () => response.json() as Promise<FullBoard> } : undefined
}

/** Called at logout: the cached data belongs to the user who was logged in. */
export const clearOfflineCache = () => postToWorker(ME, undefined)
