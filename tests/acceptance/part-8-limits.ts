import { demand, same } from './demand.ts'
import { cookieLogin } from './part-5-authentication.ts'
import { heartbeat, isAbout_s, silence } from './part-6-socket.ts'
import { row, unseen } from './rows.ts'
import { cast, newStage } from './service.ts'

row('8-token-lifetime', 'token lifetime: 3600 seconds (default).', async (service) => {
  const { member } = await service.once(cast)
  const claims = JSON.parse(Buffer.from(member.token.split('.')[1] ?? '', 'base64url').toString()) as {
    exp: number
    iat: number
  }
  same('exp - iat', claims.exp - claims.iat, 3_600)
})
row('8-cookie-max-age', 'cookie Max-Age: 3600 seconds.', async (service) => {
  const { attributes } = await service.once(cookieLogin)
  demand(attributes.includes('max-age=3600'), `the attributes are ${attributes.join('; ')}`)
})
row(
  '8-heartbeat',
  'heartbeat interval: 30 seconds.',
  async (service) => {
    isAbout_s('the interval', (await service.once(heartbeat)).seconds, 30)
  },
  { waits: true },
)
row(
  '8-pong-timeout',
  'pong timeout: 10 seconds.',
  async (service) => {
    isAbout_s('the timeout', (await service.once(silence)).secondsUntilClosed, 10)
  },
  { waits: true },
)
row(
  '8-presence',
  'presence lifetime: 60 seconds, refreshed.',
  async (service) => {
    same('whether the user is present after more than 60 s', (await service.once(heartbeat)).isPresent, true)
  },
  { waits: true },
)
unseen('8-secret', 'minimum signing secret length in production: 32 characters.', 'the secret is never shown')
unseen(
  '8-sockets',
  'estimated concurrent WebSocket connections per instance: about 10,000.',
  'an estimate, and no promise',
)
row(
  '8-event-size',
  'typical event size: 1 to 5 KB. The event of a card with a label, an assignee and a checklist has at most 5 KB.',
  async (service) => {
    const { owner, member, board_id, todo } = await newStage(service)
    const { id } = await owner.newCard(todo, { description: 'A sentence or two about what is to be done. '.repeat(5) })
    const label = await owner.newLabel(board_id)
    await owner.post(`/cards/${id}/labels/${label.id}`)
    await owner.put(`/cards/${id}/assignees`, { user_ids: [member.id] })
    const checklist = await owner.newChecklist(id)
    for (const content of ['One', 'Two', 'Three']) await owner.newItem(checklist.id, content)
    using listener = await owner.follow(board_id)
    await owner.patch(`/cards/${id}`, { title: 'New' })
    const bytes = Buffer.byteLength(JSON.stringify(await listener.event('card.updated')))
    demand(bytes <= 5 * 1_024, `it has ${bytes} bytes`)
  },
)
