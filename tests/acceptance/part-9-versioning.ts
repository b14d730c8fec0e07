import { same } from './demand.ts'
import { row } from './rows.ts'
import { newStage } from './service.ts'

row('9-version', 'Every event carries a version field (string, 1.0).', async (service) => {
  const { owner, board_id, todo, at } = await newStage(service)
  using listener = await owner.follow(board_id)
  await owner.newCard(todo)
  await owner.newLabel(board_id)
  await owner.patch(at(), { title: 'New' })
  await listener.event('board.updated')
  const isEvent = ({ type }: { type: string }) => type.includes('.')
  same(
    'the versions',
    listener.messages.filter(isEvent).map((event) => event['version']),
    ['1.0', '1.0', '1.0'],
  )
})
