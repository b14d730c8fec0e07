import type { User } from '@lockstep/client'
import type { Snapshot } from '@lockstep/client/live'

/** Where offline.js looks when there is no network. */
const DATA = 'lockstep/data'

const isPossible = () => 'caches' in globalThis && import.meta.env.PROD

async function put(path: string, data: unknown, headers: Record<string, string> = {}) {
  if (!isPossible()) return
  try {
    const answer = new Response(JSON.stringify(data), { headers: { 'content-type': 'application/json', ...headers } })
    await (await caches.open(DATA)).put(path, answer)
  } catch {
    // No room, or not allowed: then a page without a network has nothing to show, and says so.
  }
}

/** What a page needs to come up without a network: who looks at it, and the board as it was known last. */
export const keepUser = (user: User) => put('/auth/me', user)
export const keepBoard = ({ board, position }: Snapshot) =>
  put(`/boards/${board.id}`, board, { 'board-position': position })

/** What was kept belongs to who was logged in. */
export async function forgetKept() {
  if (isPossible()) await caches.delete(DATA)
}
