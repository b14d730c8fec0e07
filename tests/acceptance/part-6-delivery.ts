import { setTimeout as pause } from 'node:timers/promises'
import { demand, same } from './demand.ts'
import { fitsEnvelope } from './part-6-kinds.ts'
import { NotRun, row, unseen } from './rows.ts'
import { newRule, upload } from './samples.ts'
import { newStage, type Service } from './service.ts'

row(
  '6.1-1-everybody',
  'Every client connected to the board receives the event, the acting one too.',
  async (service) => {
    const { owner, member, board_id, at } = await newStage(service)
    const listeners = await Promise.all([owner, owner, member, member].map((who) => who.follow(board_id)))
    await owner.patch(at(), { title: 'New' })
    for (const listener of listeners) {
      using _ = listener
      await listener.event('board.updated')
    }
  },
)
row('6.1-1-board', 'Clients of another board do not receive it.', async (service) => {
  const [one, two] = await Promise.all([newStage(service), newStage(service)])
  using listener = await two.owner.follow(two.board_id)
  await one.owner.patch(one.at(), { title: 'New' })
  await pause(300)
  await two.owner.patch(two.at(), { title: 'New' })
  await listener.event('board.updated')
  same(
    'the boards of the events',
    listener.events.map(({ data }) => data.id),
    [two.board_id],
  )
})
row(
  '6.1-1-instances',
  'Clients attached to other service instances receive the event too, in both directions.',
  async (service) => {
    const { besideUrl } = service
    if (besideUrl === undefined) throw new NotRun('it needs a second instance: --beside <base URL>')
    const { owner, member, board_id, at } = await newStage(service)
    using there = await member.follow(board_id, { at: besideUrl })
    using here = await owner.follow(board_id)
    await owner.patch(at(), { title: 'New' })
    await there.event('board.updated')
    const response = await fetch(`${besideUrl}${at('/labels')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${member.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Urgent', color: '#aa0000' }),
    })
    await response.arrayBuffer()
    await here.event('label.created')
  },
)
row('6.1-1-refused', 'Only a successful change is published.', async (service) => {
  const { owner, member, board_id, at } = await newStage(service)
  using listener = await owner.follow(board_id)
  await member.rejected(403, 'PATCH', at(), { title: 'Mine' })
  await owner.rejected(404, 'POST', at('/invite'), { user_id: crypto.randomUUID() })
  await owner.patch(at(), { title: 'New' })
  await listener.event('board.updated')
  same(
    'the events',
    listener.events.map(({ type }) => type),
    ['board.updated'],
  )
})
row(
  '6.1-2-attachment',
  'Attachment data never contains content: no message of an upload and a removal holds it.',
  async (service) => {
    const { owner, board_id, todo } = await newStage(service)
    const { id } = await owner.newCard(todo)
    using listener = await owner.follow(board_id)
    const content = 'what stands in the file'
    await owner.delete(`/attachments/${(await upload(owner, id, { content })).id}`)
    await listener.event('attachment.created')
    await listener.event('attachment.deleted')
    const said = JSON.stringify(listener.messages)
    const spellings = (['utf8', 'base64', 'hex'] as const).map((encoding) => Buffer.from(content).toString(encoding))
    for (const spelling of spellings) demand(!said.includes(spelling), 'a message holds the content')
  },
)
unseen(
  '6.1-3',
  'When the publish/subscribe store is unavailable, the originating HTTP request still succeeds.',
  'the store cannot be stopped from outside',
)

row(
  '6.3-card.assigned-each',
  'PUT card assignees emits card.assigned once for each user in the request list, also for one assigned before.',
  async (service) => {
    const { owner, member, board_id, todo, at } = await newStage(service)
    const { id } = await owner.newCard(todo)
    await owner.put(`/cards/${id}/assignees`, { user_ids: [member.id] })
    using listener = await owner.follow(board_id)
    await owner.put(`/cards/${id}/assignees`, { user_ids: [member.id, owner.id] })
    await owner.patch(at(), { title: 'What comes after it' })
    await listener.event('board.updated')
    const types = listener.events.map(({ type }) => type)
    same('the events', types, ['card.assigned', 'card.assigned', 'board.updated'])
  },
)
row(
  '6.3-automation-move',
  'Automation MOVE_TO_COLUMN emits card.moved with user_id null, in the envelope of every event.',
  async (service) => {
    const event = await automationEvent(service, 'MOVE_TO_COLUMN', 'card.moved')
    same('user_id', event['user_id'], null)
  },
)
row(
  '6.3-automation-assign',
  'Automation ASSIGN_MEMBER emits card.assigned with user_id null, in the envelope of every event.',
  async (service) => {
    const event = await automationEvent(service, 'ASSIGN_MEMBER', 'card.assigned')
    same('user_id', event['user_id'], null)
  },
)
async function automationEvent(service: Service, action_type: string, kind: string) {
  const { owner, member, board_id, todo, done } = await newStage(service)
  const label = await owner.newLabel(board_id)
  const action = action_type === 'MOVE_TO_COLUMN' ? { action_column_id: done.id } : { action_user_id: member.id }
  await newRule(owner, board_id, { trigger_type: 'LABEL_ADDED', trigger_label_id: label.id, action_type, ...action })
  const { id } = await owner.newCard(todo)
  using listener = await member.follow(board_id)
  await owner.post(`/cards/${id}/labels/${label.id}`)
  const event = await listener.event(kind)
  fitsEnvelope(event)
  same('the card', event.data.id, id)
  return event
}
