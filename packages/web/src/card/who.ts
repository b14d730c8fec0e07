import type { BoardEvent } from '@lockstep/client'
import type { BoardTools } from '../board/board-tools.ts'
import { client } from '../session.ts'
import { nameOf } from '../ui/people.tsx'

/** How far back somebody is looked for. */
const RECENT = 200

/** Who did something to the board lately, by the log: a name, `You`, or `Somebody` when it does not say. */
export async function whoDid(tools: BoardTools, isIt: (event: BoardEvent) => boolean): Promise<string> {
  const { board_id } = tools
  try {
    const { position = '' } = await client.request('getBoard', { board_id })
    const [epoch, seq] = position.split('.')
    const after = `${epoch}.${Math.max(0, Number(seq) - RECENT)}`
    const events = await client.listEvents({ board_id, after, limit: RECENT })
    const user_id = events.findLast(isIt)?.user_id
    if (user_id === tools.me.id) return 'You'
    const user = user_id && tools.member(user_id)
    return user ? (user.firstname ?? nameOf(user)) : 'Somebody'
  } catch {
    return 'Somebody'
  }
}
