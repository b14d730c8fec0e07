import { demand, fits, same } from './demand.ts'
import {
  Attachment,
  AutomationRule,
  type Board,
  BoardMember,
  Card,
  Checklist,
  ChecklistItem,
  Column,
  FullBoard,
  Label,
  User,
} from './resources.ts'
import { row, unseen } from './rows.ts'
import { attached, furnished, newRule, readBoard, readCard, upload } from './samples.ts'
import { cast, newStage, PASSWORD, type Service } from './service.ts'
import type { Shape } from './shapes.ts'

/** Where an object of each kind is to be seen. */
const sightings: [name: string, fields: Record<string, Shape<unknown>>, see: (service: Service) => Promise<unknown>][] =
  [
    ['user', User.fields, async (service) => (await service.once(furnished)).owner.get('/auth/me')],
    ['board', FullBoard.fields, (service) => service.once(seenBoard)],
    ['board_member', BoardMember.fields, async (service) => (await service.once(seenBoard)).members[0]],
    ['column', Column.fields, async (service) => (await service.once(seenBoard)).columns[0]],
    ['card', Card.fields, (service) => service.once(seenCard)],
    ['label', Label.fields, async (service) => (await service.once(seenCard)).labels[0]],
    ['checklist', Checklist.fields, async (service) => (await service.once(seenCard)).checklists[0]],
    ['checklist_item', ChecklistItem.fields, async (service) => (await service.once(seenCard)).checklists[0]?.items[0]],
    ['attachment', Attachment.fields, async (service) => (await service.once(attached)).attachment],
    ['automation_rule', AutomationRule.fields, async (service) => (await service.once(seenRules))[0]],
  ]
async function seenBoard(service: Service) {
  const { member, board_id } = await service.once(furnished)
  return readBoard(member, board_id)
}
async function seenCard(service: Service) {
  const { member, card_id } = await service.once(furnished)
  return readCard(member, card_id)
}
async function seenRules(service: Service) {
  const { member, at } = await service.once(furnished)
  return member.get<AutomationRule[]>(at('/automations'))
}

for (const [name, fields, see] of sightings) {
  for (const [field, shape] of Object.entries(fields)) {
    row(`2-${name}-${field}`, `${name.replaceAll('_', ' ')}: ${field} is ${shape.what}.`, async (service) => {
      const seen = await see(service)
      demand(typeof seen === 'object' && seen !== null, `there is no ${name} to be seen`)
      demand(field in seen, `the ${name} has no ${field}`)
      fits(shape, (seen as Record<string, unknown>)[field], `${name}.${field}`)
    })
  }
}

row(
  '2-user-hashed_password',
  'The hash of a password is never returned: neither in a response nor in a socket message of this whole run.',
  async (service) => {
    await service.once(furnished)
    refuseLeaks(service.leaks, 'hashed_password')
  },
  { closing: true },
)
row(
  '2-attachment-blob',
  'The content of an attachment is never part of the public object and never part of an event.',
  async (service) => {
    await service.once(attached)
    refuseLeaks(service.leaks, 'blob')
  },
  { closing: true },
)
function refuseLeaks(leaks: Service['leaks'], what: string) {
  const found = leaks.filter((leak) => leak.what === what)
  demand(found.length === 0, `${what} was said by ${[...new Set(found.map(({ where }) => where))].join(', ')}`)
}

row('2-user-email-valid', 'An e-mail address has a valid format.', async (service) => {
  await service.once(cast)
  const account = { email: 'nobody-at-all', username: `user-${crypto.randomUUID().slice(0, 13)}`, password: PASSWORD }
  await service.anybody.refusedSomehow('POST', '/auth/register', account)
})
unseen('2-user-password', 'Plain passwords are never stored or logged.', 'neither the store nor the log is seen')
row('2-user-email-unique', 'An e-mail address is unique.', async (service) => {
  const { email } = (await service.once(cast)).owner.user
  const again = { email, username: `user-${crypto.randomUUID().slice(0, 13)}`, password: PASSWORD }
  await service.anybody.refusedSomehow('POST', '/auth/register', again)
})
row('2-user-username-unique', 'A username is unique.', async (service) => {
  const { username } = (await service.once(cast)).owner.user
  const again = { email: `${crypto.randomUUID()}@example.com`, username, password: PASSWORD }
  await service.anybody.refusedSomehow('POST', '/auth/register', again)
})
row('2-user-flags', 'After registration a user is active, not verified, and no superuser.', async (service) => {
  const { is_active, is_verified, is_superuser } = (await service.once(cast)).owner.user
  same('is_active, is_verified, is_superuser', [is_active, is_verified, is_superuser], [true, false, false])
})

row('2-board-acting-users', 'created_by and updated_by are the acting users.', async (service) => {
  const { owner } = await service.once(cast)
  const made = await owner.post<Board>('/boards', { title: 'Plan' })
  same('created_by and updated_by', [made.created_by, made.updated_by], [owner.id, owner.id])
  const { created_by, updated_by } = await owner.patch<Board>(`/boards/${made.id}`, { title: 'New' })
  same('created_by and updated_by after a change', [created_by, updated_by], [owner.id, owner.id])
})
row('2-board-delete-cascades', 'Deleting a board cascades to all data related to it.', async (service) => {
  const { owner, board_id, todo, at, done } = await newStage(service)
  const label = await owner.newLabel(board_id)
  const card = await owner.newCard(todo)
  const checklist = await owner.newChecklist(card.id)
  const item = await owner.newItem(checklist.id)
  const rule = await newRule(owner, board_id, {
    trigger_type: 'LABEL_ADDED',
    trigger_label_id: label.id,
    action_type: 'MOVE_TO_COLUMN',
    action_column_id: done.id,
  })
  await owner.delete(at())
  await owner.rejected(404, 'GET', `/cards/${card.id}`)
  await owner.rejected(404, 'PATCH', `/columns/${todo.id}`, { title: 'New' })
  await owner.rejected(404, 'PATCH', `/labels/${label.id}`, { name: 'New' })
  await owner.rejected(404, 'PATCH', `/checklists/${checklist.id}`, { title: 'New' })
  await owner.rejected(404, 'PATCH', `/items/${item.id}`, { content: 'New' })
  await owner.rejected(404, 'PATCH', `/automations/${rule.id}`, { name: 'New' })
})
row('2-board-delete-cascades-attachments', 'Deleting a board cascades to its attachments.', async (service) => {
  const { owner, todo, at } = await newStage(service)
  const { id } = await upload(owner, (await owner.newCard(todo)).id)
  await owner.delete(at())
  await owner.rejected(404, 'GET', `/attachments/${id}`)
})
row(
  '2-board_member-roles',
  'The creator of a board has the role owner, an invited user the role member.',
  async (service) => {
    const { owner, member, board_id } = await newStage(service)
    const { members } = await readBoard(owner, board_id)
    const roles = Object.fromEntries(members.map(({ user_id, role }) => [user_id, role]))
    same('the roles', roles, { [owner.id]: 'owner', [member.id]: 'member' })
  },
)
row('2-card-timestamps', 'created_at stays, updated_at follows a change.', async (service) => {
  const { member, todo } = await newStage(service)
  const made = await member.newCard(todo)
  const changed = await member.patch<Card>(`/cards/${made.id}`, { title: 'New' })
  same('created_at', Card.fields.created_at.project(changed.created_at), Date.parse(made.created_at))
  demand(Date.parse(changed.updated_at) >= Date.parse(made.updated_at), 'updated_at went back')
})
row('2-card-attachments-listed', 'The attachments of a card are listed without content.', async (service) => {
  const { attachment, card_id, owner } = await service.once(attached)
  const { attachments } = await readCard(owner, card_id)
  const found = attachments.find(({ id }) => id === attachment.id)
  fits(Attachment, found, 'the attachment')
})
row(
  '2-attachment-upload',
  'name is the original file name, mime_type the content type given at upload, size the bytes.',
  async (service) => {
    const { owner, todo } = await newStage(service)
    const { id } = await owner.newCard(todo)
    const content = 'Grüße, 世界'
    const { name, mime_type, size } = await upload(owner, id, { name: 'notes.md', type: 'text/markdown', content })
    same('name, mime_type, size', [name, mime_type, size], ['notes.md', 'text/markdown', Buffer.byteLength(content)])
  },
)

const wrong: [field: string, fields: Record<string, unknown>][] = [
  ['trigger_column_id', { trigger_type: 'CARD_MOVED', trigger_column_id: crypto.randomUUID() }],
  ['trigger_label_id', { trigger_type: 'LABEL_ADDED', trigger_label_id: crypto.randomUUID() }],
  ['action_column_id', { action_type: 'MOVE_TO_COLUMN', action_column_id: crypto.randomUUID() }],
  ['action_user_id', { action_type: 'ASSIGN_MEMBER', action_user_id: crypto.randomUUID() }],
]
for (const [field, fields] of wrong) {
  const id = `2-automation_rule-${field}-validated`
  row(id, `On create and update, the ${field} of a rule is validated against the board.`, async (service) => {
    const { owner, at, rule } = await service.once(furnished)
    const { trigger_type, trigger_column_id, action_type, action_user_id } = rule
    const valid = { name: 'Rule', trigger_type, trigger_column_id, action_type, action_user_id, is_enabled: true }
    await owner.refusedSomehow('POST', at('/automations'), { ...valid, ...fields })
    await owner.refusedSomehow('PATCH', `/automations/${rule.id}`, fields)
    const rules = await owner.get<AutomationRule[]>(at('/automations'))
    same('the rules afterwards', rules.map(AutomationRule.project), [AutomationRule.project(rule)])
  })
}
row(
  '2-automation_rule-other-board',
  'A label or column of another board is no valid reference of a rule.',
  async (service) => {
    const [{ owner, at, rule }, other] = await Promise.all([service.once(furnished), newStage(service)])
    const foreign = [
      { trigger_column_id: other.todo.id },
      { action_type: 'MOVE_TO_COLUMN', action_column_id: other.todo.id },
    ]
    for (const fields of foreign) await owner.refusedSomehow('PATCH', `/automations/${rule.id}`, fields)
    const label = await owner.newLabel(other.board_id)
    await owner.refusedSomehow('POST', at('/automations'), {
      name: 'Rule',
      trigger_type: rule.trigger_type,
      trigger_column_id: rule.trigger_column_id,
      trigger_label_id: label.id,
      action_type: rule.action_type,
      action_user_id: rule.action_user_id,
    })
  },
)
