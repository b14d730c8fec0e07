import { fits, same } from './demand.ts'
import type { Listener, Message } from './listener.ts'
import { AutomationRule, type Card } from './resources.ts'
import { row } from './rows.ts'
import { furnished, newRule, readCard } from './samples.ts'
import { newStage, type Service, type Stage } from './service.ts'
import { listOf } from './shapes.ts'

row('4.10-create', 'POST /boards/{board_id}/automations returns the new rule.', async (service) => {
  const { owner, member, board_id, done } = await newStage(service)
  const rule = await newRule(owner, board_id, {
    name: 'Take it',
    trigger_type: 'CARD_MOVED',
    trigger_column_id: done.id,
    action_type: 'ASSIGN_MEMBER',
    action_user_id: member.id,
    is_enabled: false,
  })
  fits(AutomationRule, rule, 'the rule')
  const { id: _, ...fields } = AutomationRule.project(rule) as AutomationRule
  same('the rule', fields, {
    board_id,
    name: 'Take it',
    trigger_type: 'CARD_MOVED',
    trigger_column_id: done.id,
    trigger_label_id: null,
    action_type: 'ASSIGN_MEMBER',
    action_column_id: null,
    action_user_id: member.id,
    is_enabled: false,
  })
})
row('4.10-list', 'GET /boards/{board_id}/automations lists the rules to a member.', async (service) => {
  const { member, at, rule } = await service.once(furnished)
  const rules = await member.get(at('/automations'))
  fits(listOf(AutomationRule), rules, 'the rules')
  same(
    'the rules',
    rules.map(({ id }) => id),
    [rule.id],
  )
})
row(
  '4.10-update',
  'PATCH /automations/{rule_id} changes what it names and returns the updated rule.',
  async (service) => {
    const { owner, rule } = await withRule(service, moveOnLabel)
    const changed = await owner.patch(`/automations/${rule.id}`, { name: 'Other', is_enabled: false })
    fits(AutomationRule, changed, 'the rule')
    same(
      'the rule',
      AutomationRule.project(changed),
      AutomationRule.project({ ...rule, name: 'Other', is_enabled: false }),
    )
  },
)
row('4.10-delete', 'DELETE /automations/{rule_id} removes the rule.', async (service) => {
  const { owner, at, rule } = await withRule(service, moveOnLabel)
  await owner.delete(`/automations/${rule.id}`)
  same('the rules', await owner.get(at('/automations')), [])
})

type Fields = Record<string, unknown>
/** A board with a label, a card in its first column, a rule, and a connected client. */
async function withRule(service: Service, rule: (stage: Stage, label_id: string) => Fields, more: Fields = {}) {
  const stage = await newStage(service)
  const label = await stage.owner.newLabel(stage.board_id)
  const made = await newRule(stage.owner, stage.board_id, { ...rule(stage, label.id), ...more })
  const card = await stage.owner.newCard(stage.todo)
  return { ...stage, label, card, rule: made }
}
const assignOnMove = ({ done, member }: Stage): Fields => ({
  trigger_type: 'CARD_MOVED',
  trigger_column_id: done.id,
  action_type: 'ASSIGN_MEMBER',
  action_user_id: member.id,
})
const moveOnLabel = ({ done }: Stage, label_id: string): Fields => ({
  trigger_type: 'LABEL_ADDED',
  trigger_label_id: label_id,
  action_type: 'MOVE_TO_COLUMN',
  action_column_id: done.id,
})
const moveOnMove = ({ done, todo }: Stage): Fields => ({
  trigger_type: 'CARD_MOVED',
  trigger_column_id: done.id,
  action_type: 'MOVE_TO_COLUMN',
  action_column_id: todo.id,
})
const assigneesOf = ({ assignees }: Card) => assignees.map(({ id }) => id)

/** All events up to a change of the board that is made after all else. */
async function eventsUpTo(listener: Listener, { owner, at }: Stage): Promise<Message[]> {
  await owner.patch(at(), { title: 'What comes after it' })
  await listener.event('board.updated')
  return listener.events.filter(({ type }) => type !== 'board.updated')
}
const briefly = (events: Message[]) => events.map(({ type, user_id }) => [type, user_id])

row('4.10-1', 'After a card is created no rule acts, not even one with trigger CARD_CREATED.', async (service) => {
  const stage = await newStage(service)
  const { owner, member, board_id, todo } = stage
  const action = { action_type: 'ASSIGN_MEMBER', action_user_id: member.id }
  await newRule(owner, board_id, { trigger_type: 'CARD_CREATED', ...action })
  await newRule(owner, board_id, { trigger_type: 'CARD_MOVED', trigger_column_id: todo.id, ...action })
  using listener = await owner.follow(board_id)
  const { id } = await owner.newCard(todo)
  same('the events', briefly(await eventsUpTo(listener, stage)), [['card.created', owner.id]])
  same('the assignees', (await readCard(owner, id)).assignees, [])
})
row(
  '4.10-2',
  "After a move that changed its column, CARD_MOVED matches when the card's new column equals trigger_column_id.",
  async (service) => {
    const { owner, member, card, done } = await withRule(service, assignOnMove)
    await owner.post(`/cards/${card.id}/move`, { column_id: done.id, position: 0 })
    same('the assignees', assigneesOf(await readCard(owner, card.id)), [member.id])
  },
)
row(
  '4.10-2-other-column',
  'CARD_MOVED does not match another column, nor a move within the column.',
  async (service) => {
    const { owner, card, todo, board_id, done, member } = await withRule(service, assignOnMove)
    const third = await owner.newColumn(board_id)
    const inDone = await owner.newCard(done)
    await owner.post(`/cards/${card.id}/move`, { column_id: third.id, position: 0 })
    await owner.post(`/cards/${card.id}/move`, { column_id: todo.id, position: 0 })
    await owner.post(`/cards/${inDone.id}/move`, { position: 0 })
    await owner.post(`/cards/${inDone.id}/move`, { column_id: done.id, position: 0 })
    for (const { id } of [card, inDone]) same('the assignees', (await readCard(member, id)).assignees, [])
  },
)
row(
  '4.10-3',
  'After a label is newly added, LABEL_ADDED matches when the label equals trigger_label_id.',
  async (service) => {
    const { owner, card, label, done } = await withRule(service, moveOnLabel)
    await owner.post(`/cards/${card.id}/labels/${label.id}`)
    same('the column', (await readCard(owner, card.id)).column_id, done.id)
  },
)
row(
  '4.10-3-not-new',
  'LABEL_ADDED does not match another label, nor a label that the card already has.',
  async (service) => {
    const { owner, card, label, board_id, todo } = await withRule(service, moveOnLabel)
    const other = await owner.newLabel(board_id, 'Other')
    await owner.post(`/cards/${card.id}/labels/${other.id}`)
    same('the column', (await readCard(owner, card.id)).column_id, todo.id)
    await owner.post(`/cards/${card.id}/labels/${label.id}`)
    await owner.post(`/cards/${card.id}/move`, { column_id: todo.id, position: 0 })
    await owner.post(`/cards/${card.id}/labels/${label.id}`)
    same('the column', (await readCard(owner, card.id)).column_id, todo.id)
  },
)
row('4.10-enabled', 'Only enabled rules run.', async (service) => {
  const { owner, card, label, todo, rule, done } = await withRule(service, moveOnLabel, { is_enabled: false })
  await owner.post(`/cards/${card.id}/labels/${label.id}`)
  same('the column', (await readCard(owner, card.id)).column_id, todo.id)
  await owner.patch(`/automations/${rule.id}`, { is_enabled: true })
  const second = await owner.newCard(todo)
  await owner.post(`/cards/${second.id}/labels/${label.id}`)
  same('the column', (await readCard(owner, second.id)).column_id, done.id)
})
row(
  '4.10-4',
  'MOVE_TO_COLUMN moves the card to the column and emits card.moved with user_id null.',
  async (service) => {
    const stage = await withRule(service, moveOnLabel)
    const { owner, card, label, board_id, done } = stage
    using listener = await owner.follow(board_id)
    await owner.post(`/cards/${card.id}/labels/${label.id}`)
    const events = await eventsUpTo(listener, stage)
    same('the events', briefly(events), [
      ['card.labeled', owner.id],
      ['card.moved', null],
    ])
    same('the column in the event', events[1]?.data['column_id'], done.id)
  },
)
row('4.10-4-there', 'MOVE_TO_COLUMN: when the card is already in the column, nothing happens.', async (service) => {
  const stage = await withRule(service, moveOnLabel)
  const { owner, label, board_id, done } = stage
  const { id } = await owner.newCard(done)
  using listener = await owner.follow(board_id)
  await owner.post(`/cards/${id}/labels/${label.id}`)
  same('the events', briefly(await eventsUpTo(listener, stage)), [['card.labeled', owner.id]])
})
row('4.10-5', 'ASSIGN_MEMBER assigns the user and emits card.assigned with user_id null.', async (service) => {
  const stage = await withRule(service, assignOnMove)
  const { owner, member, card, board_id, done } = stage
  using listener = await owner.follow(board_id)
  await owner.post(`/cards/${card.id}/move`, { column_id: done.id, position: 0 })
  const events = await eventsUpTo(listener, stage)
  same('the events', briefly(events), [
    ['card.moved', owner.id],
    ['card.assigned', null],
  ])
  same('the assignees in the event', assigneesOf(events[1]?.data as unknown as Card), [member.id])
})
row('4.10-5-assigned', 'ASSIGN_MEMBER: when the user is already an assignee, nothing happens.', async (service) => {
  const stage = await withRule(service, assignOnMove)
  const { owner, member, card, board_id, done } = stage
  await owner.put(`/cards/${card.id}/assignees`, { user_ids: [member.id] })
  using listener = await owner.follow(board_id)
  await owner.post(`/cards/${card.id}/move`, { column_id: done.id, position: 0 })
  same('the events', briefly(await eventsUpTo(listener, stage)), [['card.moved', owner.id]])
})
row('4.10-6', 'Rule actions do not themselves start further automation runs.', async (service) => {
  const stage = await withRule(service, moveOnLabel)
  const { owner, card, label, board_id, done } = stage
  // Would send the card back from where the first rule moves it.
  await newRule(owner, board_id, moveOnMove(stage))
  using listener = await owner.follow(board_id)
  await owner.post(`/cards/${card.id}/labels/${label.id}`)
  same('the events', briefly(await eventsUpTo(listener, stage)), [
    ['card.labeled', owner.id],
    ['card.moved', null],
  ])
  same('the column', (await readCard(owner, card.id)).column_id, done.id)
})
