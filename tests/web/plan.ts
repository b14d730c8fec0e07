import type { TestUser } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { type Order, orderOf } from './board-hands.ts'

/** A board that is as a task expects it, and what is true of it afterwards by what the service says. */
export interface Plan {
  id: string
  title: string
  ada: TestUser
  grace: TestUser
  /** Somebody who is no member yet. */
  stranger: TestUser
  /** The board as it was. */
  before: FullBoard
  order: () => Promise<Order>
  titles: () => Promise<string[]>
  cards: (lane: string) => Promise<string[] | undefined>
  column: (title: string) => Promise<Column>
  card: (title: string) => Promise<Card>
  members: () => Promise<{ id: string }[]>
  /** Whose session the browser has. */
  visitor: () => Promise<string>
  address: () => Promise<string>
  theme: () => Promise<string>
}
type FullBoard = Awaited<ReturnType<typeof readBoard>>
type Column = FullBoard['columns'][number]
type Card = Column['cards'][number]

const readBoard = ({ api }: TestUser, board_id: string) => api.call('getBoard', { params: { board_id } })
let count = 0

/** Two people with a board of these lanes; the label “bug” is on the first card, and the second lane's first is the owner's. */
export async function makePlan(
  page: Page,
  people: Pick<Plan, 'ada' | 'grace' | 'stranger'>,
  lanes: Record<string, string[]>,
): Promise<Plan> {
  const { ada, grace } = people
  const title = `Plan ${++count}.`
  const { id } = await ada.api.call('createBoard', { body: { title } })
  const params = { board_id: id }
  await ada.api.call('inviteMember', { params, body: { user_id: grace.id } })
  for (const [lane, titles] of Object.entries(lanes)) {
    const column = await ada.api.call('createColumn', { params, body: { title: lane } })
    for (const each of titles)
      await ada.api.call('createCard', { params: { ...params, column_id: column.id }, body: { title: each } })
  }
  const read = () => readBoard(ada, id)
  const { columns } = await read()
  const first = (lane: number) => ({ card_id: columns[lane]?.cards[0]?.id ?? '' })
  const label = await ada.api.call('createLabel', { params, body: { name: 'bug', color: '#d33a2c' } })
  await ada.api.call('addCardLabel', { params: { ...first(0), label_id: label.id } })
  await ada.api.call('assignCard', { params: first(1), body: { user_ids: [ada.id] } })

  const found = <T extends { title: string }>(all: readonly T[], wanted: string): T => {
    const one = all.find((each) => each.title === wanted)
    if (!one) throw new Error(`There is no “${wanted}”`)
    return one
  }
  const order = () => orderOf(ada.api, id)
  const column = async (wanted: string) => found((await read()).columns, wanted)
  return {
    ...people,
    id,
    title,
    before: await read(),
    order,
    titles: async () => (await order()).map(([lane]) => lane),
    cards: async (lane) => (await order()).find(([each]) => each === lane)?.[1],
    column,
    card: async (wanted) =>
      found(
        (await read()).columns.flatMap((each) => each.cards),
        wanted,
      ),
    members: async () => (await read()).members.map(({ user_id }) => ({ id: user_id })),
    visitor: async () => {
      const answer = await page.context().request.get(`${ada.api.base_url}/auth/me`)
      return answer.ok() ? (await answer.json()).id : 'nobody'
    },
    address: async () => page.url(),
    theme: async () => (await page.evaluate('document.documentElement.dataset.theme')) as string,
  }
}
