import { fits, same } from './demand.ts'
import { Presence } from './resources.ts'
import { row } from './rows.ts'
import { furnished } from './samples.ts'
import { newStage } from './service.ts'

row('4.11-socket', '/ws/boards/{board_id}?token= pushes JSON messages to a member.', async (service) => {
  const { owner, member, at, board_id } = await newStage(service)
  using listener = await member.follow(board_id)
  await owner.patch(at(), { title: 'New' })
  await listener.event('board.updated')
})
row(
  '4.11-presence',
  'GET /ws/boards/{board_id}/presence returns board_id and online_users, each with user_id and username.',
  async (service) => {
    const { member, board_id } = await newStage(service)
    using _ = await member.follow(board_id)
    const presence = await member.get(`/ws/boards/${board_id}/presence`)
    fits(Presence, presence, 'the presence')
    same('board_id', presence.board_id, board_id)
    same('online_users', Presence.fields.online_users.project(presence.online_users), [
      { user_id: member.id, username: member.user.username },
    ])
  },
)
row('4.11-presence-authenticated', 'Presence can be read by any authenticated user.', async (service) => {
  const { nonMember, board_id } = await service.once(furnished)
  fits(Presence, await nonMember.get(`/ws/boards/${board_id}/presence`), 'the presence')
})
