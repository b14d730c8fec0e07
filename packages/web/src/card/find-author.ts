import type { BoardEvent } from '@lockstep/client'
import type { BoardTools } from '../board-state/board-tools.ts'
import { client } from '../session.ts'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/** How many events are searched. */
const MAX_EVENTS = 200

/** The author of a recent event, from the log: a name, `t.you`, or `t.someone` if it is not found. */
export async function findAuthor(tools: BoardTools, matches: (event: BoardEvent) => boolean): Promise<string> {
  const { board_id } = tools
  try {
    const { position = '' } = await client.request('getBoard', { board_id })
    const [epoch, seq] = position.split('.')
    const after = `${epoch}.${Math.max(0, Number(seq) - MAX_EVENTS)}`
    const events = await client.listEvents({ board_id, after, limit: MAX_EVENTS })
    const user_id = events.findLast(matches)?.user_id
    if (user_id === tools.me.id) return t.you
    const user = user_id && tools.member(user_id)
    return user ? (user.firstname ?? nameOf(user)) : t.someone
  } catch {
    return t.someone
  }
}
