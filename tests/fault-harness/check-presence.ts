import type { Checker } from './check-log.ts'
import type { Connection, Fault, History, Millis } from './history.ts'

/** So long before and after the message somebody must have been connected to count as there. */
const SURELY_MS = 5_000
const isRedisFault = ({ kind }: Fault) => /Redis|subscriptions|messages|fail over/.test(kind)

/**
 * Nobody who is there is told to have left, and whoever connects hears of himself first. While Redis is away each instance
 * tells what it sees itself, and is excused.
 */
export const checkPresence: Checker = (history) => [
  ...history.connections.flatMap((connection) => {
    const [first] = connection.presence
    const isOwn = first?.type === 'user_joined' && first.user_id === connection.user_id
    return !first || isOwn ? [] : [`C10: connection ${connection.id} was told of ${first.user_id} before itself`]
  }),
  ...history.connections.flatMap(({ id, board_id, presence }) =>
    presence
      .filter(({ type, at, user_id }) => type === 'user_left' && isThere(history, board_id, user_id, at))
      .filter(({ at }) => !history.faults.some((fault) => isRedisFault(fault) && isNear(fault, at)))
      .map(({ user_id }) => `C10: connection ${id} was told that ${user_id} left, who was there all the time`),
  ),
]

const isNear = ({ began, ended }: Fault, at: Millis) => at > began - 1_000 && at < ended + SURELY_MS

function isThere({ connections, ended }: History, board_id: string, user_id: string, at: Millis) {
  const spans = (c: Connection) => (c.opened ?? Infinity) < at - SURELY_MS && (c.closed ?? ended) > at + SURELY_MS
  return connections.some((c) => c.board_id === board_id && c.user_id === user_id && spans(c))
}
