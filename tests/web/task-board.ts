import type { TestUser } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { type BoardOrder, storedOrder } from './board-page-object.ts'

/** The users of a task. */
export interface TaskUsers {
  /** The owner, who does the task. */
  ada: TestUser
  /** A member. */
  grace: TestUser
  /** A user who is not a member yet. */
  nonMember: TestUser
}
/** The board of a task, with functions that read its state from the server. */
export interface TaskBoard extends TaskUsers {
  id: string
  title: string
  /** The board before the task. */
  before: FullBoard
  order: () => Promise<BoardOrder>
  columnTitles: () => Promise<string[]>
  cards: (column: string) => Promise<string[] | undefined>
  column: (title: string) => Promise<Column>
  card: (title: string) => Promise<Card>
  members: () => Promise<{ id: string }[]>
  /** The id of the user whose session the browser has. */
  loggedInUser: () => Promise<string>
  url: () => Promise<string>
  theme: () => Promise<string>
}
type FullBoard = Awaited<ReturnType<typeof readBoard>>
type Column = FullBoard['columns'][number]
type Card = Column['cards'][number]

const readBoard = ({ api }: TestUser, board_id: string) => api.call('getBoard', { params: { board_id } })
let count = 0

/** Creates a board of two members. The first card has the label “bug”; the first card of the second column is assigned to Ada. */
export async function createTaskBoard(
  page: Page,
  users: TaskUsers,
  titles: Record<string, string[]>,
): Promise<TaskBoard> {
  const { ada, grace } = users
  const title = `Plan ${++count}.`
  const { id } = await ada.api.call('createBoard', { body: { title } })
  const params = { board_id: id }
  await ada.api.call('inviteMember', { params, body: { user_id: grace.id } })
  for (const [columnTitle, cardTitles] of Object.entries(titles)) {
    const { id: column_id } = await ada.api.call('createColumn', { params, body: { title: columnTitle } })
    for (const each of cardTitles)
      await ada.api.call('createCard', { params: { ...params, column_id }, body: { title: each } })
  }
  const read = () => readBoard(ada, id)
  const { columns } = await read()
  const firstCard = (column: number) => ({ card_id: columns[column]?.cards[0]?.id ?? '' })
  const label = await ada.api.call('createLabel', { params, body: { name: 'bug', color: '#d33a2c' } })
  await ada.api.call('addCardLabel', { params: { ...firstCard(0), label_id: label.id } })
  await ada.api.call('assignCard', { params: firstCard(1), body: { user_ids: [ada.id] } })

  const find = <T extends { title: string }>(all: readonly T[], wanted: string): T => {
    const found = all.find((each) => each.title === wanted)
    if (!found) throw new Error(`There is no “${wanted}”`)
    return found
  }
  const order = () => storedOrder(ada.api, id)
  return {
    ...users,
    id,
    title,
    before: await read(),
    order,
    columnTitles: async () => (await order()).map(([column]) => column),
    cards: async (column) => (await order()).find(([each]) => each === column)?.[1],
    column: async (wanted) => find((await read()).columns, wanted),
    card: async (wanted) =>
      find(
        (await read()).columns.flatMap((each) => each.cards),
        wanted,
      ),
    members: async () => (await read()).members.map(({ user_id }) => ({ id: user_id })),
    loggedInUser: async () => {
      const response = await page.context().request.get(`${ada.api.baseUrl}/auth/me`)
      return response.ok() ? (await response.json()).id : 'none'
    },
    url: async () => page.url(),
    theme: async () => (await page.evaluate('document.documentElement.dataset.theme')) as string,
  }
}
