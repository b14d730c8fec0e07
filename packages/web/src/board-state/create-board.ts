import { isLockstepError, type LockstepError, type OperationName, type Operations } from '@lockstep/client'
import { realEnvironment } from '@lockstep/client/live'
import { client, me } from '../session.ts'
import { readStored, writeStored } from '../ui/browser-storage.ts'
import { t } from './create-board-messages.ts'

interface TemplateChecklist {
  title: string
  items: readonly string[]
  /** The first `done` items are checked off. */
  done: number
}
interface TemplateCard {
  title: string
  description: string
  /** Names of labels of the board. */
  labels: readonly string[]
  checklist?: TemplateChecklist
  /** Assigns the card to the user. */
  isMine?: boolean
}
interface TemplateColumn {
  title: string
  color: string
  is_done_column?: boolean
  cards?: readonly TemplateCard[]
  /** The name of a rule that assigns every card that is moved here to the user. */
  rule?: string
}
/** The content of a new board. */
export interface BoardTemplate {
  title: string
  description?: string
  labels?: readonly { name: string; color: string }[]
  columns: readonly TemplateColumn[]
}

const defaultColumns: readonly TemplateColumn[] = [
  { title: t.toDo, color: '#8a8171' },
  { title: t.doing, color: '#d97706' },
  { title: t.done, color: '#16a34a', is_done_column: true },
]

const newId = () => realEnvironment.newId()

/** A board to be created. All ids are chosen before the first request, so that every request can be retried. */
type BoardPlan = ReturnType<typeof planOf> & {
  /** Whether the board itself exists, so that its content must follow. */
  isBegun: boolean
}
function planOf({ title, description = '', labels = [], columns }: BoardTemplate) {
  const planned = labels.map((label) => ({ ...label, id: newId() }))
  return {
    board: { id: newId(), title, description: description || null },
    labels: planned,
    columns: columns.map(({ cards = [], rule = '', title, color, is_done_column = false }) => ({
      column: { id: newId(), title, color, is_done_column },
      rule: { id: newId(), name: rule },
      cards: cards.map((card) => planCard(card, planned)),
    })),
  }
}
type PlannedColumn = BoardPlan['columns'][number]

function planCard(card: TemplateCard, labels: readonly { id: string; name: string }[]) {
  const { title, description, checklist, isMine = false } = card
  return {
    card: { id: newId(), title, description },
    isMine,
    label_ids: labels.filter(({ name }) => card.labels.includes(name)).map(({ id }) => id),
    checklist: checklist && {
      id: newId(),
      title: checklist.title,
      items: checklist.items.map((content, i) => ({ id: newId(), content, is_done: i < checklist.done })),
    },
  }
}
type PlannedCard = ReturnType<typeof planCard>
type PlannedChecklist = NonNullable<PlannedCard['checklist']>

const storageKey = () => `board-plan/${me().id}`
const writePlan = (plan: BoardPlan | undefined) => writeStored(storageKey(), plan && JSON.stringify(plan))

function readPlan(): BoardPlan | undefined {
  try {
    return (JSON.parse(readStored(storageKey()) ?? 'null') as BoardPlan | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Boards that are being created, by title. A second call waits for the first one. */
const creating = new Map<string, Promise<string>>()

/** Creates a board with the default columns. Called again after a failure, it continues instead of creating another board. */
export const createBoard = (title: string): Promise<string> => createBoardFrom({ title, columns: defaultColumns })

/** The same with other content. Returns the id of the board. */
export function createBoardFrom(template: BoardTemplate): Promise<string> {
  const { title } = template
  const started = creating.get(title) ?? startOrContinue(template).finally(() => creating.delete(title))
  creating.set(title, started)
  return started
}

async function startOrContinue(template: BoardTemplate): Promise<string> {
  const unfinished = readPlan()
  if (unfinished?.board.title === template.title) return runPlan(unfinished)
  await completeBoard()
  return runPlan({ ...planOf(template), isBegun: false })
}

/**
 * Completes a board that was left without its content by a network failure or a closed page. If the response to its creation
 * was lost, the board is found in `boards`.
 */
export async function completeBoard(boards: readonly { id: string }[] = []): Promise<void> {
  const plan = readPlan()
  if (plan && (plan.isBegun || boards.some(({ id }) => id === plan.board.id))) await runPlan(plan)
}

async function runPlan(plan: BoardPlan): Promise<string> {
  writePlan(plan)
  try {
    await createOnce('createBoard', plan.board)
    writePlan({ ...plan, isBegun: true })
    await createContent(plan)
  } catch (error) {
    if (isLockstepError(error) && isFinal(error)) writePlan(undefined)
    throw error
  }
  writePlan(undefined)
  return plan.board.id
}

/** Labels, columns and cards are created one by one, because their order and the numbers of the cards are those of their creation. */
async function createContent({ board, labels, columns }: BoardPlan) {
  const board_id = board.id
  await Promise.all([
    inOrder(labels, (label) => createOnce('createLabel', { board_id, ...label })),
    inOrder(columns, ({ column }) => createOnce('createColumn', { board_id, ...column })),
  ])
  await inOrder(columns, ({ column, cards }) =>
    inOrder(cards, ({ card }) => createOnce('createCard', { board_id, column_id: column.id, ...card })),
  )
  await Promise.all(columns.map((planned) => fillColumn(board_id, planned)))
}

async function fillColumn(board_id: string, { column, cards, rule }: PlannedColumn) {
  await inOrder(cards, fillCard)
  if (!rule.name) return
  const trigger = { trigger_type: 'CARD_MOVED', trigger_column_id: column.id } as const
  const action = { action_type: 'ASSIGN_MEMBER', action_user_id: me().id } as const
  await createOnce('createRule', { board_id, ...rule, ...trigger, ...action })
}

async function fillCard({ card, label_ids, isMine, checklist }: PlannedCard) {
  const card_id = card.id
  await Promise.all(label_ids.map((label_id) => client.addCardLabel({ card_id, label_id })))
  if (isMine) await client.assignCard({ card_id, user_ids: [me().id] })
  if (checklist) await createChecklist(card_id, checklist)
}

async function createChecklist(card_id: string, { id: checklist_id, title, items }: PlannedChecklist) {
  await createOnce('createChecklist', { card_id, id: checklist_id, title })
  await inOrder(items, async ({ id: item_id, content, is_done }) => {
    await createOnce('createItem', { checklist_id, id: item_id, content })
    if (is_done) await client.updateItem({ item_id, is_done })
  })
}

async function inOrder<T>(items: readonly T[], act: (item: T) => Promise<unknown>) {
  for (const item of items) await act(item)
}

/** Whether the server rejected the request itself, so that a retry would fail in the same way. */
const isFinal = ({ status, code }: LockstepError) =>
  status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status) && code !== 'unexpected_response'

/** Idempotent creation: `id_taken` means that an earlier attempt succeeded, even if its idempotency key has expired. */
async function createOnce<N extends OperationName>(name: N, input: Operations[N]['input'] & { id: string }) {
  try {
    await client.request(name, input, { idempotencyKey: input.id })
  } catch (error) {
    if (!isLockstepError(error, 'id_taken')) throw error
  }
}
