import type { Checker } from './check-log.ts'
import type { Connection, Fault, History, Millis } from './history.ts'

/** A user counts as present if connected for this long before and after the message. */
const MARGIN_MS = 5_000
const isRedisFault = ({ kind }: Fault) => /Redis|subscriptions|messages|fail over/.test(kind)

/**
 * C10: no present user is announced as gone, and the first presence message of a client is its own. While Redis is
 * down, each instance only knows its own users, which is excused.
 */
export const checkPresence: Checker = (history) => [
  ...history.connections.flatMap((connection) => {
    const [first] = connection.presence
    const isOwn = first?.type === 'user_joined' && first.user_id === connection.user_id
    return !first || isOwn ? [] : [`C10: connection ${connection.id} received ${first.user_id} before its own user`]
  }),
  ...history.connections.flatMap(({ id, board_id, presence }) =>
    presence
      .filter(({ type, at, user_id }) => type === 'user_left' && isPresent(history, board_id, user_id, at))
      .filter(({ at }) => !history.faults.some((fault) => isRedisFault(fault) && isNear(fault, at)))
      .map(({ user_id }) => `C10: connection ${id} received that ${user_id} left, who was connected all the time`),
  ),
]

const isNear = ({ began, ended }: Fault, at: Millis) => at > began - 1_000 && at < ended + MARGIN_MS

function isPresent({ connections, ended }: History, board_id: string, user_id: string, at: Millis) {
  const spans = (c: Connection) => (c.opened ?? Infinity) < at - MARGIN_MS && (c.closed ?? ended) > at + MARGIN_MS
  return connections.some((c) => c.board_id === board_id && c.user_id === user_id && spans(c))
}
