import type { JsonText } from '@lockstep/contract/operation'
import type { LoggedEvent, realtimeOperations } from '@lockstep/contract/realtime'
import type { Handlers } from '../http/handler.ts'
import { setNextLink } from '../http/next-link.ts'
import { pathOf } from '../http/request-path.ts'
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
      const { epoch, seq: after } = parseAfter(query.after ?? '0')
      // A plain zero means the start of the stored log; with an epoch it is a position.
      const isFromStart = after === 0 && epoch === undefined
      const limit = query.limit ?? 100
      const page = await readHistory(db, board_id, after, limit)
      if (!page) throw new Problem('board_not_found')
      const isGone =
        (epoch !== undefined && epoch !== page.epoch) ||
        after > page.last_seq ||
        (after < page.last_seq && !isFromStart && page.first_seq !== after + 1)
      if (isGone) throw new Problem('history_gone')
      reply.header('board-position', `${page.epoch}.${page.last_seq}`)
      const last = page.seqs?.at(-1) ?? after
      if (last < page.last_seq && page.first_seq !== null) {
        reply.header('link', `<${pathOf(request)}?after=${page.epoch}.${last}&limit=${limit}>; rel="next"`)
      }
      return page.json
    },

    async listCardEvents({ db, board_id, params: { card_id }, query, request, reply }) {
      const { cursor = Number.MAX_SAFE_INTEGER, limit = 50 } = query
      // One more than requested, to know whether there is a next page.
      const found = await readCardHistory(db, { board_id, card_id, before: cursor, limit: limit + 1 })
      const events = found.slice(0, limit)
      const last = events.at(-1)
      setNextLink(request, reply, last && last.total > events.length ? { limit, cursor: last.seq } : undefined)
      return `[${events.map(({ json }) => json).join(',')}]` as JsonText<LoggedEvent[]>
    },
  }
}

function parseAfter(text: string): { epoch?: number; seq: number } {
  const [first, second] = text.split('.').map(Number) as [number, number?]
  return second === undefined ? { seq: first } : { epoch: first, seq: second }
}
