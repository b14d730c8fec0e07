import type { FullBoard, ListedBoard, User } from '@lockstep/client'
import type { Snapshot, StoredBoard } from '@lockstep/client/live'
import { isLoggedIn } from './login.ts'

/** Cache of the user and the boards, to start a page offline. The service worker writes the boards for all tabs; every page reads them. */
const DATA = 'lockstep/data'
const ME = '/auth/me'
const BOARDS = '/boards'
const pathOf = (board_id: string) => `${BOARDS}/${board_id}`

const isSupported = () => 'caches' in globalThis && 'serviceWorker' in navigator && import.meta.env.PROD
const worker = isSupported() ? navigator.serviceWorker.ready : undefined

/** Writes go through the worker: a posted message survives the end of this page, an unfinished write would not. */
async function postToWorker(path: string, data: unknown, fields: { user_id: string; position: string }) {
  const message = { path, text: JSON.stringify(data), ...fields }
  const { active } = (await worker) ?? {}
  if (isLoggedIn()) active?.postMessage(message)
}

/** Stores whose cache it is. The worker writes only for this user, so that nothing is stored after the cache was deleted. */
export async function cacheUser(user: User) {
  if (!isSupported()) return
  const owner = await readCachedUser()
  if (owner && owner.id !== user.id) await clearOfflineCache()
  // If another tab deletes the cache from here on, this writes to the deleted one.
  const data = await caches.open(DATA)
  if (isLoggedIn()) await data.put(ME, Response.json(user))
}

export const cacheBoard = ({ board, position }: Snapshot, user_id: string) =>
  postToWorker(pathOf(board.id), board, { user_id, position })
/** The time is its position: the worker never replaces a list by an older one, whichever tab sends it. */
export const cacheBoardList = (boards: readonly ListedBoard[], user_id: string) =>
  postToWorker(BOARDS, boards, { user_id, position: `0.${Date.now()}` })

async function read(path: string): Promise<Response | undefined> {
  return isSupported() ? caches.match(path, { cacheName: DATA }) : undefined
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

/** Deletes saved boards that the user no longer has. */
export async function deleteOtherBoards(own_ids: ReadonlySet<string>) {
  if (!isSupported() || !isLoggedIn()) return
  const data = await caches.open(DATA)
  const others = (await readCachedBoardIds()).filter((id) => !own_ids.has(id))
  await Promise.all(others.map((id) => data.delete(pathOf(id))))
}

/** Called when a login ends: the cached data belongs to the user who was logged in. */
export async function clearOfflineCache() {
  if (isSupported()) await caches.delete(DATA)
}
