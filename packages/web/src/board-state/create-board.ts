import { isLockstepError, type LockstepError } from '@lockstep/client'
import { realEnvironment } from '@lockstep/client/live'
import { client, me } from '../session.ts'
import { readStored, writeStored } from '../ui/browser-storage.ts'

/** The columns of a new board. */
const defaultColumns = [
  { title: 'To do', color: '#8a8171' },
  { title: 'Doing', color: '#b45309' },
  { title: 'Done', color: '#2f7a4a', is_done_column: true },
]

/** A board to be created. Its ids are chosen before the first request, so that every request can be retried. */
interface BoardPlan {
  board_id: string
  title: string
  columnIds: string[]
  /** Whether the board itself exists, so that its columns must follow. */
  isBegun: boolean
}
const storageKey = () => `new-board/${me().id}`
const writePlan = (plan: BoardPlan | undefined) => writeStored(storageKey(), plan && JSON.stringify(plan))

function readPlan(): BoardPlan | undefined {
  try {
    return (JSON.parse(readStored(storageKey()) ?? 'null') as BoardPlan | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Creates a board with the default columns. Called again after a failure, it continues instead of creating another board. */
export async function createBoard(title: string): Promise<string> {
  const unfinished = readPlan()
  if (unfinished?.title === title) return runPlan(unfinished)
  await completeBoard()
  const newId = () => realEnvironment.newId()
  return runPlan({ board_id: newId(), title, columnIds: defaultColumns.map(newId), isBegun: false })
}

/**
 * Completes a board that was left without its columns by a network failure or a closed page. If the response to its creation
 * was lost, the board is found in `boards`.
 */
export async function completeBoard(boards: readonly { id: string }[] = []) {
  const plan = readPlan()
  if (plan && (plan.isBegun || boards.some(({ id }) => id === plan.board_id))) await runPlan(plan)
}

async function runPlan(plan: BoardPlan): Promise<string> {
  const { board_id, title } = plan
  writePlan(plan)
  try {
    await ignoreExisting(client.createBoard({ id: board_id, title }, { idempotencyKey: board_id }))
    writePlan({ ...plan, isBegun: true })
    for (const [n, column] of defaultColumns.entries()) {
      const id = plan.columnIds[n] ?? realEnvironment.newId()
      await ignoreExisting(client.createColumn({ board_id, id, ...column }, { idempotencyKey: id }))
    }
  } catch (error) {
    if (isLockstepError(error) && isFinal(error)) writePlan(undefined)
    throw error
  }
  writePlan(undefined)
  return board_id
}

/** Whether the server rejected the request itself, so that a retry would fail in the same way. */
const isFinal = ({ status, code }: LockstepError) =>
  status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status) && code !== 'unexpected_response'

/** Idempotent creation: `id_taken` means that an earlier attempt succeeded, even if its idempotency key has expired. */
async function ignoreExisting(request: Promise<unknown>) {
  try {
    await request
  } catch (error) {
    if (!isLockstepError(error, 'id_taken')) throw error
  }
}
