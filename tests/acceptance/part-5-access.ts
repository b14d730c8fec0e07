import { same } from './demand.ts'
import { row } from './rows.ts'
import { attached, fileForm, furnished, readBoard, readCard } from './samples.ts'
import { newStage, type Service } from './service.ts'

type Ids = Record<string, string>
interface Operation {
  /** Who may. */
  role: 'authenticated' | 'member' | 'owner'
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its ids in braces; the first one is what the caller is authorized for. */
  path: string
  content?: (ids: Ids) => object
}
const op = (
  role: Operation['role'],
  method: Operation['method'],
  path: string,
  content?: Operation['content'],
): Operation => ({ role, method, path, ...(content && { content }) })
const title = () => ({ title: 'Other' })
const position = () => ({ position: 0 })
const users = ({ user_id }: Ids) => ({ user_ids: [user_id] })

/** Every endpoint of part 4 that needs a credential, with a body that would do. */
const operations: Operation[] = [
  op('authenticated', 'POST', '/auth/logout'),
  op('authenticated', 'GET', '/auth/me'),
  op('authenticated', 'PATCH', '/auth/me', () => ({ firstname: 'Other' })),
  op('authenticated', 'POST', '/auth/change-password', () => ({ current_password: 'x', new_password: 'y' })),
  op('authenticated', 'GET', '/users/{user_id}'),
  op('authenticated', 'GET', '/users'),
  op('authenticated', 'POST', '/boards', title),
  op('authenticated', 'GET', '/boards'),
  op('member', 'GET', '/boards/{board_id}'),
  op('owner', 'PATCH', '/boards/{board_id}', title),
  op('owner', 'DELETE', '/boards/{board_id}'),
  op('owner', 'POST', '/boards/{board_id}/invite', ({ strangerId }) => ({ user_id: strangerId })),
  op('member', 'GET', '/boards/{board_id}/labels'),
  op('member', 'GET', '/boards/{board_id}/labels/stats'),
  op('member', 'POST', '/boards/{board_id}/columns', title),
  op('member', 'PATCH', '/columns/{column_id}', title),
  op('member', 'DELETE', '/columns/{column_id}'),
  op('member', 'POST', '/columns/{column_id}/move', position),
  op('member', 'POST', '/boards/{board_id}/columns/{column_id}/cards', title),
  op('member', 'GET', '/cards/{card_id}'),
  op('member', 'PATCH', '/cards/{card_id}', title),
  op('member', 'DELETE', '/cards/{card_id}'),
  op('member', 'POST', '/cards/{card_id}/move', position),
  op('member', 'PUT', '/cards/{card_id}/assignees', users),
  op('member', 'POST', '/cards/{card_id}/labels/{label_id}'),
  op('member', 'DELETE', '/cards/{card_id}/labels/{label_id}'),
  op('member', 'POST', '/boards/{board_id}/labels', () => ({ name: 'Other', color: '#123456' })),
  op('member', 'PATCH', '/labels/{label_id}', () => ({ name: 'Other' })),
  op('member', 'DELETE', '/labels/{label_id}'),
  op('member', 'POST', '/cards/{card_id}/checklists', title),
  op('member', 'PATCH', '/checklists/{checklist_id}', title),
  op('member', 'DELETE', '/checklists/{checklist_id}'),
  op('member', 'POST', '/checklists/{checklist_id}/move', position),
  op('member', 'POST', '/checklists/{checklist_id}/items', () => ({ content: 'Other' })),
  op('member', 'PATCH', '/items/{item_id}', () => ({ content: 'Other' })),
  op('member', 'DELETE', '/items/{item_id}'),
  op('member', 'POST', '/items/{item_id}/move', position),
  op('member', 'PUT', '/items/{item_id}/assignees', users),
  op('member', 'POST', '/cards/{card_id}/attachments', () => fileForm('a.txt', 'text/plain', 'Hello')),
  op('member', 'GET', '/attachments/{attachment_id}'),
  op('member', 'DELETE', '/attachments/{attachment_id}'),
  op('owner', 'POST', '/boards/{board_id}/automations', ({ trigger_type, action_type, column_id, user_id }) => ({
    name: 'Other',
    trigger_type,
    trigger_column_id: column_id,
    action_type,
    action_user_id: user_id,
    is_enabled: true,
  })),
  op('member', 'GET', '/boards/{board_id}/automations'),
  op('owner', 'PATCH', '/automations/{rule_id}', () => ({ name: 'Other' })),
  op('owner', 'DELETE', '/automations/{rule_id}'),
  op('authenticated', 'GET', '/ws/boards/{board_id}/presence'),
]

/** The address and the body of an operation on the furnished board. An id can be replaced by one of nothing. */
async function aim(service: Service, { path, content }: Operation, replaced: Ids = {}) {
  const { board_id, todo, card_id, label, checklist_id, item, rule, member, nonMember } = await service.once(furnished)
  const ids: Ids = {
    board_id,
    card_id,
    checklist_id,
    column_id: todo.id,
    label_id: label.id,
    item_id: item.id,
    rule_id: rule.id,
    user_id: member.id,
    strangerId: nonMember.id,
    trigger_type: rule.trigger_type,
    action_type: rule.action_type,
    ...(path.includes('{attachment_id}') &&
      !replaced['attachment_id'] && { attachment_id: (await service.once(attached)).attachment.id }),
    ...replaced,
  }
  return { at: path.replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key] as string), body: content?.(ids) }
}

for (const operation of operations) {
  const { role, method, path } = operation
  const name = `${method} ${path}`
  const id = `${method}${path}`.replaceAll(/[{}]/g, '')

  row(`5-9-credential-${id}`, `${name} requires authentication.`, async (service) => {
    const { at, body } = await aim(service, operation)
    await service.anybody.refusedSomehow(method, at, body)
  })
  if (role === 'authenticated') continue
  row(`5-9-member-${id}`, `${name} requires board membership: 403 otherwise.`, async (service) => {
    const { nonMember } = await service.once(furnished)
    const { at, body } = await aim(service, operation)
    await nonMember.rejected(403, method, at, body)
  })
  if (role === 'owner') {
    row(`5-9-owner-${id}`, `${name} requires the role owner: 403 for a member.`, async (service) => {
      const { member } = await service.once(furnished)
      const { at, body } = await aim(service, operation)
      await member.rejected(403, method, at, body)
    })
  }
  for (const [i, [, key = '']] of [...path.matchAll(/\{(\w+)\}/g)].entries()) {
    const isBoard = key === 'board_id'
    const what = key.replace('_id', '')
    // A board that does not exist has no members either: which of the two is said first is open.
    const sentence = `${name} is ${isBoard ? '403 or 404' : '404'} when the ${what} does not exist.`
    row(`7-404-${id}${i > 0 ? `-${what}` : ''}`, sentence, async (service) => {
      const { owner } = await service.once(furnished)
      const { at, body } = await aim(service, operation, { [key]: crypto.randomUUID() })
      await owner.rejected(isBoard ? [403, 404] : 404, method, at, body)
    })
  }
}

row(
  '5-8-member',
  'A member may create, update and delete columns, cards, labels, checklists and items.',
  async (service) => {
    const { member, board_id } = await newStage(service)
    const column = await member.newColumn(board_id)
    const card = await member.newCard({ ...column, board_id })
    const label = await member.newLabel(board_id)
    const checklist = await member.newChecklist(card.id)
    const item = await member.newItem(checklist.id)
    await member.patch(`/items/${item.id}`, { content: 'Other' })
    await member.patch(`/checklists/${checklist.id}`, { title: 'Other' })
    await member.patch(`/labels/${label.id}`, { name: 'Other' })
    await member.patch(`/cards/${card.id}`, { title: 'Other' })
    await member.patch(`/columns/${column.id}`, { title: 'Other' })
    await member.delete(`/items/${item.id}`)
    await member.delete(`/checklists/${checklist.id}`)
    await member.delete(`/labels/${label.id}`)
    await member.delete(`/cards/${card.id}`)
    await member.delete(`/columns/${column.id}`)
  },
)
row('5-8-assign', 'A member may assign themselves and other members to cards.', async (service) => {
  const { member, owner, todo } = await newStage(service)
  const { id } = await member.newCard(todo)
  await member.put(`/cards/${id}/assignees`, { user_ids: [member.id] })
  await member.put(`/cards/${id}/assignees`, { user_ids: [owner.id] })
  same('the number of assignees', (await readCard(member, id)).assignees.length, 2)
})
row('5-8-owner', 'An owner may everything a member may do.', async (service) => {
  const { owner, board_id, todo } = await newStage(service)
  const card = await owner.newCard(todo)
  await owner.patch(`/cards/${card.id}`, { title: 'Other' })
  await owner.delete(`/cards/${card.id}`)
  await owner.delete(`/columns/${todo.id}`)
  same('the number of columns', (await readBoard(owner, board_id)).columns.length, 1)
})
row(
  '5-9-resource',
  'A resource reached by its own id is authorized against the board it belongs to: a rejected request changes nothing.',
  async (service) => {
    const mine = await newStage(service)
    const other = mine.nonMember
    const card = await mine.owner.newCard(mine.todo)
    // A member of some board is still not a member of this one.
    await other.post('/boards', { title: 'Other' })
    await other.rejected(403, 'PATCH', `/cards/${card.id}`, { title: 'Other' })
    await other.rejected(403, 'DELETE', `/columns/${mine.todo.id}`)
    same('the title', (await readCard(mine.owner, card.id)).title, card.title)
  },
)

row(
  '5-9-user-lists',
  'User lists: users must exist (404) and be members of the board (403), in this order.',
  async (service) => {
    const { owner, nonMember, card_id } = await service.once(furnished)
    const user_ids = [nonMember.id, crypto.randomUUID()]
    await owner.rejected(404, 'PUT', `/cards/${card_id}/assignees`, { user_ids })
  },
)
