import { realtimeOperations } from '@lockstep/contract/realtime'
import type { Handlers } from '../http/handler.ts'
import { setNextLink } from '../http/next-link.ts'
import { limitOf, readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import type { Live } from './live.ts'
import { hasBoard, readCardHistory, readHistory } from './realtime-queries.ts'

export function realtimeHandlers(live: Live): Handlers<typeof realtimeOperations> {
  return {
    async getPresence({ db, params }) {
      const { board_id } = params
      if (!(await hasBoard(db, board_id))) throw new Problem('board_not_found')
      return { board_id, online_users: await live.online(board_id) }
    },

    async listEvents({ db, board_id, query, request, reply }) {
      const { epoch, seq: after } = parseAfter(query.cursor ?? query.after ?? '0')
      // A plain zero means the start of the stored log; with an epoch it is a position.
      const isFromStart = after === 0 && epoch === undefined
      const limit = limitOf(realtimeOperations.listEvents, query) as number
      const page = await readHistory(db, board_id, after, limit)
      if (!page) throw new Problem('board_not_found')
      const isGone =
        (epoch !== undefined && epoch !== page.epoch) ||
        after > page.last_seq ||
        (after < page.last_seq && !isFromStart && page.first_seq !== after + 1)
      if (isGone) throw new Problem('history_gone')
      reply.header('board-position', `${page.epoch}.${page.last_seq}`)
      const last = page.seqs?.at(-1) ?? after
      if (last < page.last_seq && page.first_seq !== null)
        setNextLink(request, reply, { limit, cursor: `${page.epoch}.${last}` })
      return page.json
    },

    listCardEvents: (context) =>
      readPage(realtimeOperations.listCardEvents, context, (page) => {
        const { db, board_id, params } = context
        return readCardHistory(db, { board_id, card_id: params.card_id, ...page })
      }),
  }
}

function parseAfter(text: string): { epoch?: number; seq: number } {
  const [first, second] = text.split('.').map(Number) as [number, number?]
  return second === undefined ? { seq: first } : { epoch: first, seq: second }
}
