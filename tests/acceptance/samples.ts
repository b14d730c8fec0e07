import type { Attachment, AutomationRule, Board, Card, Checklist, ChecklistItem, Label } from './resources.ts'
import { newStage, type Person, type Service } from './service.ts'

/** A multipart body with one file part. */
export function fileForm(name: string, type: string, content: string | Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData()
  form.append('file', new Blob([content], { type }), name)
  return form
}

export const upload = (
  who: Person,
  card_id: string,
  { name = 'notes.txt', type = 'text/plain', content = 'Hello' as string | Uint8Array<ArrayBuffer> } = {},
) => who.post<Attachment>(`/cards/${card_id}/attachments`, fileForm(name, type, content))

/** Creates a rule, with enums as in the specification, or in lower case if the service rejects that. */
export async function newRule(
  owner: Person,
  board_id: string,
  fields: Record<string, unknown>,
): Promise<AutomationRule> {
  const path = `/boards/${board_id}/automations`
  const rule = { name: 'Rule', is_enabled: true, ...fields }
  const { status, body } = await owner.send('POST', path, rule)
  if (status >= 200 && status < 300) return body as AutomationRule
  const lower = (value: unknown) => String(value).toLowerCase()
  return owner.post<AutomationRule>(path, {
    ...rule,
    trigger_type: lower(fields['trigger_type']),
    action_type: lower(fields['action_type']),
  })
}

/** A board with one of each resource except attachments, for rows that only read. */
export async function furnished(service: Service) {
  const stage = await newStage(service)
  const { owner, member, board_id, todo, done } = stage
  const label = await owner.newLabel(board_id)
  const { id: card_id } = await owner.newCard(todo, { description: 'All of it' })
  await owner.post(`/cards/${card_id}/labels/${label.id}`)
  await owner.put(`/cards/${card_id}/assignees`, { user_ids: [member.id] })
  const { id: checklist_id } = await owner.newChecklist(card_id)
  const item = await owner.newItem(checklist_id)
  const rule = await newRule(owner, board_id, {
    trigger_type: 'CARD_MOVED',
    trigger_column_id: done.id,
    action_type: 'ASSIGN_MEMBER',
    action_user_id: member.id,
  })
  return { ...stage, label, card_id, checklist_id, item, rule }
}

/** The same board's card, with a file on it. */
export async function attached(service: Service) {
  const { owner, card_id } = await service.once(furnished)
  return { attachment: await upload(owner, card_id), card_id, owner }
}

/** Reads the card of a resource that has no GET of its own. */
export const readCard = (who: Person, card_id: string) => who.get<Card>(`/cards/${card_id}`)
export const readLabel = async (who: Person, { board_id, id }: Label) =>
  (await who.get<Label[]>(`/boards/${board_id}/labels`)).find((label) => label.id === id)
export const readColumn = async (who: Person, board_id: string, id: string) =>
  (await readBoard(who, board_id)).columns.find((column) => column.id === id)
export const readChecklist = async (who: Person, { card_id, id }: Pick<Checklist, 'card_id' | 'id'>) =>
  (await readCard(who, card_id)).checklists.find((checklist) => checklist.id === id)
export const readItem = async (who: Person, card_id: string, id: string): Promise<ChecklistItem | undefined> =>
  (await readCard(who, card_id)).checklists.flatMap(({ items }) => items).find((item) => item.id === id)
export const readBoard = (who: Person, board_id: string) =>
  who.get<Board & { columns: { id: string; rank: number; title: string; cards: Card[] }[] }>(`/boards/${board_id}`)

/** The ids in the order that their ranks give them. */
export const byRank = (list: { id: string; rank: number }[]) =>
  list.toSorted((a, b) => a.rank - b.rank).map(({ id }) => id)
