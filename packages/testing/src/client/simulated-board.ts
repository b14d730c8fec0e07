import { type LiveBoard, type LiveOptions, openBoard } from '../../../client/src/live/live-board.ts'
import type { FullBoard } from '../../../client/src/live/types.ts'
import type { SimulatedNetwork } from './simulated-network.ts'

/** Opens a live board in a simulated network and waits until it is loaded. `wake` simulates a page that becomes active. */
export async function openSimulatedBoard(network: SimulatedNetwork, userId = 'user-0', options: LiveOptions = {}) {
  const wakeListeners = new Set<(isOnline: boolean) => void>()
  const environment = network.environment(wakeListeners)
  const opening = openBoard(network.api(userId), 'board', { environment, ...options })
  await network.run(2_000)
  const board = await opening
  const wake = (isOnline: boolean) => {
    for (const listener of [...wakeListeners]) listener(isOnline)
  }
  return { board, wake }
}

export const firstCard = (board: LiveBoard) => (board.view as FullBoard).columns[0]?.cards[0]?.id ?? ''
export const title = (board: LiveBoard) => board.view?.title
