import type { FullBoard, User } from '@lockstep/client'
import type { Snapshot, StoredBoard } from '@lockstep/client/live'

/** What a page needs to start without a network. The service worker writes it, for all tabs; every page reads it. */
const DATA = 'lockstep/data'
const ME = '/auth/me'
const pathOf = (board_id: string) => `/boards/${board_id}`

const isPossible = () => 'caches' in globalThis && 'serviceWorker' in navigator && import.meta.env.PROD
const worker = isPossible() ? navigator.serviceWorker.ready : undefined

/** The message arrives also when this page ends right now, which an unfinished write of its own would not survive. */
async function tellWorker(path: string, data: unknown, about: Record<string, string> = {}) {
  const message = { path, text: JSON.stringify(data), ...about }
  const { active } = (await worker) ?? {}
  active?.postMessage(message)
}

export const keepUser = (user: User) => tellWorker(ME, user, { user_id: user.id })
export const keepBoard = ({ board, position }: Snapshot, user_id: string) =>
  tellWorker(pathOf(board.id), board, { user_id, position })

async function read(path: string): Promise<Response | undefined> {
  return isPossible() ? (await caches.open(DATA)).match(path) : undefined
}

export async function keptUser(): Promise<User | undefined> {
  return (await read(ME))?.json()
}

export async function keptBoard(board_id: string): Promise<StoredBoard | undefined> {
  const answer = await read(pathOf(board_id))
  const position = answer?.headers.get('board-position')
  return answer && position ? { position, read: () => answer.json() as Promise<FullBoard> } : undefined
}

/** What was kept belongs to who was logged in. */
export const forgetKept = () => tellWorker(ME, undefined)
