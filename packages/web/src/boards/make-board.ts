import { isLockstepError, type LockstepError } from '@lockstep/client'
import { realEnvironment } from '@lockstep/client/live'
import { client, me } from '../session.ts'
import { keep, readKept } from '../ui/kept.ts'

/** The columns of a new board. */
const usualColumns = [
  { title: 'To do', color: '#8a8171' },
  { title: 'Doing', color: '#b45309' },
  { title: 'Done', color: '#2f7a4a', is_done_column: true },
]

/** A board to be made. Its ids are chosen before anything is sent, so that every request can be repeated. */
interface Plan {
  board_id: string
  title: string
  column_ids: string[]
  /** Whether the board itself exists, so that its columns are owed. */
  is_begun: boolean
}
const keptName = () => `new-board/${me().id}`
const keepPlan = (plan: Plan | undefined) => keep(keptName(), plan && JSON.stringify(plan))

function readPlan(): Plan | undefined {
  try {
    return (JSON.parse(readKept(keptName()) ?? 'null') as Plan | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Makes a board with the usual columns. Called again after a failure it goes on, instead of making another one. */
export async function makeBoard(title: string): Promise<string> {
  const kept = readPlan()
  if (kept?.title === title) return carryOut(kept)
  await completeBoard()
  const newId = () => realEnvironment.newId()
  return carryOut({ board_id: newId(), title, column_ids: usualColumns.map(newId), is_begun: false })
}

/**
 * Completes a board that was left without its columns, by a failed network or a closed page. Of `boards`, one may exist
 * although the response to its creation was lost.
 */
export async function completeBoard(boards: readonly { id: string }[] = []) {
  const plan = readPlan()
  if (plan && (plan.is_begun || boards.some(({ id }) => id === plan.board_id))) await carryOut(plan)
}

async function carryOut(plan: Plan): Promise<string> {
  const { board_id, title } = plan
  keepPlan(plan)
  try {
    await once(client.createBoard({ id: board_id, title }, { idempotencyKey: board_id }))
    keepPlan({ ...plan, is_begun: true })
    for (const [n, column] of usualColumns.entries()) {
      const id = plan.column_ids[n] ?? realEnvironment.newId()
      await once(client.createColumn({ board_id, id, ...column }, { idempotencyKey: id }))
    }
  } catch (error) {
    if (isLockstepError(error) && isFinal(error)) keepPlan(undefined)
    throw error
  }
  keepPlan(undefined)
  return board_id
}

/** Whether the service has rejected the request itself, so that repeating it would fail in the same way. */
const isFinal = ({ status, code }: LockstepError) =>
  status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status) && code !== 'unexpected_response'

/** A repeated request finds what the first one made, also when the service no longer knows its key. */
async function once(request: Promise<unknown>) {
  try {
    await request
  } catch (error) {
    if (!isLockstepError(error, 'id_taken')) throw error
  }
}
