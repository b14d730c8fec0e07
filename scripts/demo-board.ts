import { type Client, createClient, isLockstepError } from '@lockstep/client'
import { board, columns, labels, type PersonName, people, rule } from './demo-cards.ts'

type Ids = Record<string, string>
type DemoCard = (typeof columns)[number]['cards'][number]

/** Registers the two people and makes their board, as any user of the API would. A board of an earlier run is kept. */
export async function makeDemoBoard(base_url: string, password: string): Promise<string> {
  const [ada, grace] = [await logIn('ada', base_url, password), await logIn('grace', base_url, password)]
  const kept = (await ada.listBoards()).find(({ title }) => title === board.title)
  if (kept) return kept.id
  const { id: board_id } = await ada.createBoard(board)
  const user_ids: Ids = { ada: (await ada.getMe()).id, grace: (await grace.getMe()).id }
  await ada.inviteMember({ board_id, user_id: idIn(user_ids, 'grace') })

  const label_ids: Ids = {}
  for (const [name, color] of Object.entries(labels))
    label_ids[name] = (await ada.createLabel({ board_id, name, color })).id
  const column_ids: Ids = {}
  for (const { cards, ...column } of columns) {
    const { id: column_id } = await ada.createColumn({ board_id, ...column })
    column_ids[column.title] = column_id
    for (const card of cards) await addCard(ada, { board_id, column_id }, card, label_ids, user_ids)
  }
  await ada.createRule({
    board_id,
    name: rule.name,
    trigger_type: 'CARD_MOVED',
    trigger_column_id: idIn(column_ids, rule.column),
    action_type: 'ASSIGN_MEMBER',
    action_user_id: idIn(user_ids, rule.assigns),
  })
  return board_id
}

async function logIn(name: PersonName, base_url: string, password: string): Promise<Client> {
  const client = createClient({ baseUrl: base_url })
  const { email } = people[name]
  try {
    await client.register({ ...people[name], password })
  } catch (error) {
    if (!isLockstepError(error, 'email_taken', 'username_taken')) throw error
  }
  try {
    await client.login({ username: email, password })
  } catch (error) {
    if (!isLockstepError(error, 'login_failed')) throw error
    throw new Error(`The database of DATABASE_URL has a user ${name} of its own: give the demo an empty one.`)
  }
  return client
}

async function addCard(
  client: Client,
  place: { board_id: string; column_id: string },
  { title, description, labels, assignees = [], checklist, file }: DemoCard,
  label_ids: Ids,
  user_ids: Ids,
) {
  const { id: card_id } = await client.createCard({ ...place, title, description })
  for (const name of labels) await client.addCardLabel({ card_id, label_id: idIn(label_ids, name) })
  if (assignees.length > 0)
    await client.assignCard({ card_id, user_ids: assignees.map((name) => idIn(user_ids, name)) })
  if (checklist) await addChecklist(client, card_id, checklist)
  if (file) await client.createAttachment({ card_id, file: new File([file.text], file.name, { type: file.type }) })
}

async function addChecklist(client: Client, card_id: string, checklist: NonNullable<DemoCard['checklist']>) {
  const { title, items, done } = checklist
  const { id: checklist_id } = await client.createChecklist({ card_id, title })
  for (const [i, content] of items.entries()) {
    const { id: item_id } = await client.createItem({ checklist_id, content })
    if (i < done) await client.updateItem({ item_id, is_done: true })
  }
}

function idIn(ids: Ids, name: string): string {
  const id = ids[name]
  if (id === undefined) throw new Error(`The demo board has no ${name}.`)
  return id
}
