import { type FailedChange, localQueue, type QueuedChange, type QueueStorage } from '@lockstep/client/live'
import type { BoardState } from '@lockstep/client/react'
import { useMemo, useState } from 'react'
import { isEndedBefore, loginOfPage, readLogin } from '../login.ts'
import { textsOf } from './describe-change.ts'
import { t } from './messages.ts'

const queue = localQueue(localStorage)

/**
 * The queue of unsent changes, in `localStorage`. Changes that were queued under a login that was ended (by “log out everywhere”,
 * a new password or a deactivation) stay in the storage and are not sent: somebody else may have typed them.
 */
export const changeQueue: QueueStorage = {
  ...queue,
  list: (prefix) => queue.list(prefix).filter(([, text]) => !withheld(text)),
}

/** The change in an entry of the queue, if it must not be sent. */
function withheld(text: string): QueuedChange | undefined {
  try {
    const change = JSON.parse(text) as QueuedChange
    // After the end of the login, what was withheld under it stays withheld.
    const { sessions_ended_at } = readLogin() ?? loginOfPage() ?? {}
    // With a position, the server has accepted it.
    const isSendable = change.position || !isEndedBefore(change.login ?? '', sessions_ended_at)
    return isSendable ? undefined : change
  } catch {
    return undefined
  }
}

const readWithheld = (user_id: string, board_id: string) =>
  queue.list(`lockstep/${user_id}/${board_id}/`).flatMap(([id, text]) => {
    const found = withheld(text)
    return found ? [{ id, failed: asFailed(found) }] : []
  })

const asFailed = ({ key, change }: QueuedChange): FailedChange => ({
  key,
  change,
  reason: 'rejected',
  problem: { status: 401, code: 'session_ended', detail: t.sessionsEnded },
  current: undefined,
  text: textsOf(change).join('\n\n'),
})

/** Adds the changes that must not be sent to the failed ones, until they are dismissed. */
export function useWithheldChanges(state: BoardState, user_id: string, board_id: string): BoardState {
  const [list, setList] = useState(() => readWithheld(user_id, board_id))
  return useMemo(() => {
    if (list.length === 0) return state
    const dismiss = (key: string) => {
      const found = list.find(({ failed }) => failed.key === key)
      if (!found) return state.dismiss(key)
      queue.remove(found.id)
      setList((now) => now.filter((each) => each !== found))
    }
    return { ...state, failedChanges: [...list.map(({ failed }) => failed), ...state.failedChanges], dismiss }
  }, [state, list])
}
