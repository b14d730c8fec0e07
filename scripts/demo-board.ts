import { type Client, createClient, isLockstepError } from '@lockstep/client'
import { addDays, localDay } from '../packages/client/src/days/index.ts'
import { archivedCard, board, columns, type DemoCard, labels, type PersonName, people, rule } from './demo-cards.ts'

type Ids = Record<string, string>

/** Registers the two users and creates their board through the API. Reuses the board of an earlier run. */
export async function makeDemoBoard(baseUrl: string, password: string): Promise<string> {
  const [ada, grace] = [await logIn('ada', baseUrl, password), await logIn('grace', baseUrl, password)]
  const existing = (await ada.listBoards()).find(({ title }) => title === board.title)
  if (existing) return existing.id
  const { id: board_id } = await ada.createBoard(board)
  const userIds: Ids = { ada: (await ada.getMe()).id, grace: (await grace.getMe()).id }
  await ada.inviteMember({ board_id, user_id: idIn(userIds, 'grace') })

  const labelIds: Ids = {}
  for (const label of labels) labelIds[label.name] = (await ada.createLabel({ board_id, ...label })).id
  const columnIds: Ids = {}
  for (const { cards, ...column } of columns) {
    const { id: column_id } = await ada.createColumn({ board_id, ...column })
    columnIds[column.title] = column_id
    for (const card of cards) {
      const card_id = await addCard(ada, { board_id, column_id }, card, labelIds, userIds)
      for (const { by, text } of card.comments ?? [])
        await (by === 'ada' ? ada : grace).createComment({ card_id, body: withMentions(text, userIds) })
    }
  }
  const [first] = Object.values(columnIds) as [string]
  const { id: card_id } = await ada.createCard({ board_id, column_id: first, ...archivedCard })
  await ada.archiveCard({ card_id })
  await ada.createRule({
    board_id,
    name: rule.name,
    trigger_type: 'CARD_MOVED',
    trigger_column_id: idIn(columnIds, rule.column),
    action_type: 'ASSIGN_MEMBER',
    action_user_id: idIn(userIds, rule.assigns),
  })
  return board_id
}

async function logIn(name: PersonName, baseUrl: string, password: string): Promise<Client> {
  const client = createClient({ baseUrl: baseUrl })
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
    throw new Error(
      `The database of DATABASE_URL already has another user ${name}: use an empty database for the demo.`,
    )
  }
  return client
}

async function addCard(
  client: Client,
  column: { board_id: string; column_id: string },
  { title, description, labels, assignees = [], checklist, file, dueInDays }: DemoCard,
  labelIds: Ids,
  userIds: Ids,
) {
  const due_on = dueInDays === undefined ? null : addDays(localDay(new Date()), dueInDays)
  const { id: card_id } = await client.createCard({ ...column, title, description, due_on })
  for (const name of labels) await client.addCardLabel({ card_id, label_id: idIn(labelIds, name) })
  if (assignees.length > 0) await client.assignCard({ card_id, user_ids: assignees.map((name) => idIn(userIds, name)) })
  if (checklist) await addChecklist(client, card_id, checklist)
  if (file) await client.createAttachment({ card_id, file: new File([file.text], file.name, { type: file.type }) })
  return card_id
}

/** Replaces `@ada` by the mention of that user. */
function withMentions(text: string, userIds: Ids): string {
  return text.replaceAll(/@(ada|grace)\b/g, (_, name: PersonName) => {
    const { firstname, lastname } = people[name]
    return `@[${firstname} ${lastname}](user:${idIn(userIds, name)})`
  })
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
