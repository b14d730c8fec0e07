import { demand, fits, same } from './demand.ts'
import { Board, Column, FullBoard, Label } from './resources.ts'
import { row } from './rows.ts'
import { byRank, furnished, readBoard } from './samples.ts'
import { newStage, type Stage } from './service.ts'
import { listOf } from './shapes.ts'

/** Past the end of any list here. */
const FAR = 1_000

row('4.4-create-board', 'POST /boards returns the new board; the creator is added as owner.', async (service) => {
  const { owner } = await service.once(furnished)
  const board = await owner.post('/boards', { title: 'Plan', description: 'All of it' })
  fits(Board, board, 'the board')
  same('title and description', [board.title, board.description], ['Plan', 'All of it'])
  const { members } = await readBoard(owner, board.id)
  same(
    'the members',
    members.map(({ user_id, role }) => [user_id, role]),
    [[owner.id, 'owner']],
  )
})
row('4.4-create-board-title', 'title is required to create a board.', async (service) => {
  const { owner } = await service.once(furnished)
  await owner.refusedSomehow('POST', '/boards', { description: 'All of it' })
})
row('4.4-create-board-description', 'description is optional.', async (service) => {
  const { owner } = await service.once(furnished)
  same('the description', (await owner.post<Board>('/boards', { title: 'Plan' })).description, null)
})
row('4.4-list-boards', 'GET /boards lists the boards the caller is a member of, and no others.', async (service) => {
  const [person, { owner: other }] = await Promise.all([service.person(), service.once(furnished)])
  const mine = await person.post<Board>('/boards', { title: 'Mine' })
  const shared = await other.post<Board>('/boards', { title: 'Shared' })
  await other.post('/boards', { title: 'Not mine' })
  await other.post(`/boards/${shared.id}/invite`, { user_id: person.id })
  const boards = await person.get('/boards')
  fits(listOf(Board), boards, 'the boards')
  same('the boards', boards.map(({ id }) => id).sort(), [mine.id, shared.id].sort())
})
row(
  '4.4-read-board',
  'GET /boards/{board_id} returns the board with its columns (each with cards), labels and members.',
  async (service) => {
    const { member, at, card_id, label } = await service.once(furnished)
    const board = await member.get(at())
    fits(FullBoard, board, 'the board')
    same('the number of columns and members', [board.columns.length, board.members.length], [2, 2])
    same(
      'the labels',
      board.labels.map(({ id }) => id),
      [label.id],
    )
    same(
      'the cards',
      board.columns.flatMap(({ cards }) => cards.map(({ id }) => id)),
      [card_id],
    )
  },
)
row(
  '4.4-update-board',
  'PATCH /boards/{board_id} changes title or description alone, and returns the updated board.',
  async (service) => {
    const { owner, at } = await newStage(service)
    const described = await owner.patch<Board>(at(), { description: 'New' })
    fits(Board, described, 'the board')
    same('title and description', [described.title, described.description], ['Plan', 'New'])
    const { title, description } = await owner.patch<Board>(at(), { title: 'Other' })
    same('title and description', [title, description], ['Other', 'New'])
  },
)
row('4.4-delete-board', 'DELETE /boards/{board_id} removes the board.', async (service) => {
  const { owner, at, board_id } = await newStage(service)
  await owner.delete(at())
  await owner.rejected([403, 404], 'GET', at())
  const boards = await owner.get<Board[]>('/boards')
  demand(!boards.some(({ id }) => id === board_id), 'the board is still listed')
})
row(
  '4.4-invite',
  'POST /boards/{board_id}/invite returns user_id and role (always member); the user becomes a member.',
  async (service) => {
    const { owner, nonMember, at } = await newStage(service)
    const { user_id, role } = await owner.post<{ user_id: string; role: string }>(at('/invite'), {
      user_id: nonMember.id,
    })
    same('the response', { user_id, role }, { user_id: nonMember.id, role: 'member' })
    await nonMember.get(at())
  },
)
row('4.4-invite-always-member', 'The role of an invited user is always member.', async (service) => {
  const { owner, nonMember, at } = await newStage(service)
  const invite = { user_id: nonMember.id, role: 'owner' }
  const { status } = await owner.send('POST', at('/invite'), invite)
  // A service may refuse a field it does not know; if it does not, the role is what the specification says.
  if (status >= 400) await owner.post(at('/invite'), { user_id: nonMember.id })
  await nonMember.rejected(403, 'PATCH', at(), { title: 'Mine' })
})
row('4.4-invite-404', 'Invite: when the user does not exist, then 404.', async (service) => {
  const { owner, at } = await service.once(furnished)
  await owner.rejected(404, 'POST', at('/invite'), { user_id: crypto.randomUUID() })
})
row('4.4-invite-409', 'Invite: when the user is already a member, then 409.', async (service) => {
  const { owner, member, at } = await service.once(furnished)
  await owner.rejected(409, 'POST', at('/invite'), { user_id: member.id })
})
row('4.4-list-labels', 'GET /boards/{board_id}/labels lists the labels of the board.', async (service) => {
  const { member, at, label } = await service.once(furnished)
  const labels = await member.get(at('/labels'))
  fits(listOf(Label), labels, 'the labels')
  same(
    'the labels',
    labels.map(({ id }) => id),
    [label.id],
  )
})
row('4.4-label-stats', 'GET /boards/{board_id}/labels/stats returns statistics to a member.', async (service) => {
  const { member, at } = await service.once(furnished)
  const stats = await member.get(at('/labels/stats'))
  demand(typeof stats === 'object' && stats !== null, 'the response is not a JSON object or list')
})

const columnsOf = async ({ member, board_id }: Stage) => byRank((await readBoard(member, board_id)).columns)

row('4.5-create-column', 'POST /boards/{board_id}/columns returns the new column.', async (service) => {
  const { member, board_id } = await newStage(service)
  const made = await member.newColumn(board_id, { title: 'Doing', color: '#123456', is_done_column: true })
  fits(Column, made, 'the column')
  const { title, color, is_done_column, cards } = made
  same(
    'the column',
    { title, color, is_done_column, cards, board_id: made.board_id },
    {
      title: 'Doing',
      color: '#123456',
      is_done_column: true,
      cards: [],
      board_id,
    },
  )
})
row('4.5-create-column-title', 'title is required to create a column.', async (service) => {
  const { member, at } = await service.once(furnished)
  await member.refusedSomehow('POST', at('/columns'), { color: '#123456' })
})
row('4.5-create-column-last', 'Without position a new column is placed last.', async (service) => {
  const stage = await newStage(service)
  const { id } = await stage.member.newColumn(stage.board_id)
  same('the order', await columnsOf(stage), [stage.todo.id, stage.done.id, id])
})
row(
  '4.5-create-column-position',
  'With position a new column gets the rank for that position: 0 is first.',
  async (service) => {
    const stage = await newStage(service)
    const { id } = await stage.member.newColumn(stage.board_id, { position: 0 })
    same('the order', await columnsOf(stage), [id, stage.todo.id, stage.done.id])
  },
)
row(
  '4.5-update-column',
  'PATCH /columns/{column_id} changes what it names and returns the updated column.',
  async (service) => {
    const { member, todo } = await newStage(service)
    const changed = await member.patch<Column>(`/columns/${todo.id}`, { title: 'Next' })
    fits(Column, changed, 'the column')
    same('title, colour, rank', [changed.title, changed.color, changed.rank], ['Next', todo.color, todo.rank])
    const { title, color, is_done_column } = await member.patch<Column>(`/columns/${todo.id}`, {
      color: '#123456',
      is_done_column: true,
    })
    same('the column', [title, color, is_done_column], ['Next', '#123456', true])
  },
)
row('4.5-delete-column', 'DELETE /columns/{column_id} removes the column.', async (service) => {
  const stage = await newStage(service)
  await stage.member.delete(`/columns/${stage.todo.id}`)
  same('the columns', await columnsOf(stage), [stage.done.id])
})
row(
  '4.5-move-column',
  'POST /columns/{column_id}/move gives the column the rank for the position, and returns the moved column.',
  async (service) => {
    const stage = await newStage(service)
    const { member, todo, done } = stage
    const moved = await member.post<Column>(`/columns/${done.id}/move`, { position: 0 })
    fits(Column, moved, 'the column')
    same('the id', moved.id, done.id)
    same('the order', await columnsOf(stage), [done.id, todo.id])
    await member.post(`/columns/${done.id}/move`, { position: FAR })
    same('the order', await columnsOf(stage), [todo.id, done.id])
  },
)
row('4.5-move-column-position', 'position is required to move a column.', async (service) => {
  const { member, todo } = await service.once(furnished)
  await member.refusedSomehow('POST', `/columns/${todo.id}/move`, {})
})
row(
  '4.5-rebalance',
  'When ranks are too close, the columns are rebalanced: 40 columns put at one spot keep distinct ranks and their order.',
  async (service) => {
    const stage = await newStage(service)
    const spot: string[] = []
    // Each goes before the one placed last, whether positions count from 0 or from 1.
    for (let i = 0; i < 40; i++) spot.unshift((await stage.member.newColumn(stage.board_id, { position: 1 })).id)
    const { columns } = await readBoard(stage.member, stage.board_id)
    same('the number of distinct ranks', new Set(columns.map(({ rank }) => rank)).size, 42)
    fits(listOf(Column), columns, 'the columns')
    same(
      'the order',
      byRank(columns).filter((id) => spot.includes(id)),
      spot,
    )
  },
)
