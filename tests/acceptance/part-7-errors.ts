import { same } from './demand.ts'
import { Listener } from './listener.ts'
import { tooLarge } from './part-4-attachments.ts'
import { silence } from './part-6-socket.ts'
import { row } from './rows.ts'
import { furnished } from './samples.ts'

// That a refusal has a JSON body with a detail string is demanded wherever one is expected: the sections of part 4 and the
// rows of part 5 try each operation. These are the rows of the table of part 7, one by one.
row(
  '7-400',
  '400: the attachment is larger than the maximum file size; detail is a message string.',
  async (service) => {
    const { status, detail } = await service.once(tooLarge)
    same('the status', status, 400)
    same('the type of detail', typeof detail, 'string')
  },
)
row('7-403-member', '403: the caller is not a member of the board; detail is a message string.', async (service) => {
  const { nonMember, at } = await service.once(furnished)
  await nonMember.rejected(403, 'GET', at())
})
row('7-403-role', "403: the caller's role is insufficient.", async (service) => {
  const { member, at } = await service.once(furnished)
  await member.rejected(403, 'PATCH', at(), { title: 'Mine' })
})
row('7-403-assignees', '403: one or more users in an assignee list are not board members.', async (service) => {
  const { owner, nonMember, card_id } = await service.once(furnished)
  await owner.rejected(403, 'PUT', `/cards/${card_id}/assignees`, { user_ids: [owner.id, nonMember.id] })
})
row('7-404-user-lookup', '404: the user does not exist (user lookup).', async (service) => {
  const { owner } = await service.once(furnished)
  await owner.rejected(404, 'GET', `/users/${crypto.randomUUID()}`)
})
row('7-404-user-invite', '404: the user does not exist (invite).', async (service) => {
  const { owner, at } = await service.once(furnished)
  await owner.rejected(404, 'POST', at('/invite'), { user_id: crypto.randomUUID() })
})
row('7-404-user-assignees', '404: the user does not exist (assignee lists).', async (service) => {
  const { owner, card_id } = await service.once(furnished)
  await owner.rejected(404, 'PUT', `/cards/${card_id}/assignees`, { user_ids: [crypto.randomUUID()] })
})
row('7-404-label', '404: the label does not exist (add label to card).', async (service) => {
  const { owner, card_id } = await service.once(furnished)
  await owner.rejected(404, 'POST', `/cards/${card_id}/labels/${crypto.randomUUID()}`)
})
row('7-404-move', '404: the column to which a card is moved does not exist.', async (service) => {
  const { owner, card_id } = await service.once(furnished)
  await owner.rejected(404, 'POST', `/cards/${card_id}/move`, { column_id: crypto.randomUUID(), position: 0 })
})
row('7-409', '409: the invited user is already a member of the board.', async (service) => {
  const { owner, member, at } = await service.once(furnished)
  await owner.rejected(409, 'POST', at('/invite'), { user_id: member.id })
})
row('7-1008', 'WebSocket: close code 1008 for an invalid token and for a non-member.', async (service) => {
  const { nonMember, board_id } = await service.once(furnished)
  for (const token of ['garbage', nonMember.token]) {
    using listener = new Listener(service, board_id, { token })
    same('the code', (await listener.end()).code, 1008)
  }
})
row(
  '7-heartbeat',
  'WebSocket: a missed heartbeat closes the connection.',
  async (service) => {
    await service.once(silence)
  },
  { waits: true },
)
