import { demand, fits, same } from './demand.ts'
import { Card, type Column, Label } from './resources.ts'
import { row } from './rows.ts'
import { byRank, furnished, readCard, readColumn } from './samples.ts'
import { newStage, type Person } from './service.ts'

const FAR = 1_000
const cardsOf = async (who: Person, { board_id, id }: Column) =>
  byRank((await readColumn(who, board_id, id))?.cards ?? [])
const assigneesOf = ({ assignees }: Card) => assignees.map(({ id }) => id).sort()

row('4.6-create', 'POST /boards/{board_id}/columns/{column_id}/cards returns the new card.', async (service) => {
  const { member, todo } = await newStage(service)
  const card = await member.newCard(todo, { title: 'Write', description: 'All of it' })
  fits(Card, card, 'the card')
  const { title, description, column_id, labels, assignees, checklists, attachments } = card
  same('the card', [title, description, column_id], ['Write', 'All of it', todo.id])
  same('its lists', [labels, assignees, checklists, attachments], [[], [], [], []])
})
row('4.6-create-title', 'title is required to create a card.', async (service) => {
  const { member, at, todo } = await service.once(furnished)
  await member.refusedSomehow('POST', at(`/columns/${todo.id}/cards`), { description: 'All of it' })
})
row('4.6-create-description', 'description is optional.', async (service) => {
  const { member, todo } = await newStage(service)
  same('the description', (await member.newCard(todo)).description, null)
})
row('4.6-1-last', 'Create: without position the card is placed last.', async (service) => {
  const { member, todo } = await newStage(service)
  const made = [await member.newCard(todo), await member.newCard(todo), await member.newCard(todo)]
  same(
    'the order',
    await cardsOf(member, todo),
    made.map(({ id }) => id),
  )
})
row(
  '4.6-1-position',
  'Create: with position the card gets the rank for that position: 0 is first.',
  async (service) => {
    const { member, todo } = await newStage(service)
    const one = await member.newCard(todo)
    const two = await member.newCard(todo, { position: 0 })
    same('the order', await cardsOf(member, todo), [two.id, one.id])
  },
)
row('4.6-read', 'GET /cards/{card_id} returns the details of the card.', async (service) => {
  const { member, card_id, todo, label, checklist_id, item } = await service.once(furnished)
  const card = await readCard(member, card_id)
  fits(Card, card, 'the card')
  same('id and column', [card.id, card.column_id], [card_id, todo.id])
  same(
    'the labels',
    card.labels.map(({ id }) => id),
    [label.id],
  )
  same('the assignees', assigneesOf(card), [member.id])
  same(
    'the checklists',
    card.checklists.map(({ id, items }) => [id, items[0]?.id]),
    [[checklist_id, item.id]],
  )
})
row('4.6-update', 'PATCH /cards/{card_id} changes what it names and returns the updated card.', async (service) => {
  const { member, todo } = await newStage(service)
  const { id, rank } = await member.newCard(todo)
  await member.patch(`/cards/${id}`, { description: 'New' })
  const card = await member.patch<Card>(`/cards/${id}`, { title: 'Other' })
  fits(Card, card, 'the card')
  same('the card', [card.title, card.description, card.rank, card.column_id], ['Other', 'New', rank, todo.id])
})
row('4.6-delete', 'DELETE /cards/{card_id} removes the card.', async (service) => {
  const { member, todo } = await newStage(service)
  const { id } = await member.newCard(todo)
  await member.delete(`/cards/${id}`)
  await member.rejected(404, 'GET', `/cards/${id}`)
})
row(
  '4.6-move',
  'POST /cards/{card_id}/move without column_id gives the rank for the position in its column, and returns the moved card.',
  async (service) => {
    const { member, todo } = await newStage(service)
    const [one, two] = [await member.newCard(todo), await member.newCard(todo)]
    const moved = await member.post<Card>(`/cards/${two.id}/move`, { position: 0 })
    fits(Card, moved, 'the card')
    same('the card', [moved.id, moved.column_id], [two.id, todo.id])
    same('the order', await cardsOf(member, todo), [two.id, one.id])
    await member.post(`/cards/${two.id}/move`, { position: FAR })
    same('the order', await cardsOf(member, todo), [one.id, two.id])
  },
)
row(
  '4.6-2-column',
  'Move: when column_id differs from the current column, the card changes column, to the position there.',
  async (service) => {
    const { member, todo, done } = await newStage(service)
    const [card, there] = [await member.newCard(todo), await member.newCard(done)]
    const moved = await member.post<Card>(`/cards/${card.id}/move`, { column_id: done.id, position: 0 })
    same('the column', moved.column_id, done.id)
    same('the old column', await cardsOf(member, todo), [])
    same('the new column', await cardsOf(member, done), [card.id, there.id])
  },
)
row('4.6-2-same-column', 'Move: column_id may be the current column.', async (service) => {
  const { member, todo } = await newStage(service)
  const [one, two] = [await member.newCard(todo), await member.newCard(todo)]
  await member.post(`/cards/${two.id}/move`, { column_id: todo.id, position: 0 })
  same('the order', await cardsOf(member, todo), [two.id, one.id])
})
row(
  '4.6-2-rebalance',
  'Move: cards are rebalanced when ranks are too close: 40 cards moved to one spot keep distinct ranks and their order.',
  async (service) => {
    const { member, todo, done } = await newStage(service)
    await member.newCard(done)
    await member.newCard(done)
    const spot: string[] = []
    for (let i = 0; i < 40; i++) {
      const { id } = await member.newCard(todo)
      // Each goes before the one placed last, whether positions count from 0 or from 1.
      await member.post(`/cards/${id}/move`, { column_id: done.id, position: 1 })
      spot.unshift(id)
    }
    const column = await readColumn(member, done.board_id, done.id)
    same('the number of distinct ranks', new Set(column?.cards.map(({ rank }) => rank)).size, 42)
    demand(column?.cards.every(({ rank }) => Number.isInteger(rank)) ?? false, 'a rank is no integer')
    same(
      'the order',
      byRank(column?.cards ?? []).filter((id) => spot.includes(id)),
      spot,
    )
  },
)
row('4.6-assign', 'PUT /cards/{card_id}/assignees returns the card with its assignees.', async (service) => {
  const { member, owner, todo } = await newStage(service)
  const { id } = await member.newCard(todo)
  const card = await member.put<Card>(`/cards/${id}/assignees`, { user_ids: [owner.id, member.id] })
  fits(Card, card, 'the card')
  same('the assignees', assigneesOf(card), [owner.id, member.id].sort())
})
row('4.6-3-404', 'Assignees: every user must exist, else 404; nobody is assigned then.', async (service) => {
  const { member, todo } = await newStage(service)
  const { id } = await member.newCard(todo)
  await member.rejected(404, 'PUT', `/cards/${id}/assignees`, { user_ids: [member.id, crypto.randomUUID()] })
  same('the assignees', (await readCard(member, id)).assignees, [])
})
row(
  '4.6-3-403',
  'Assignees: every user must be a member of the board, else 403; nobody is assigned then.',
  async (service) => {
    const { member, nonMember, todo } = await newStage(service)
    const { id } = await member.newCard(todo)
    await member.rejected(403, 'PUT', `/cards/${id}/assignees`, { user_ids: [member.id, nonMember.id] })
    same('the assignees', (await readCard(member, id)).assignees, [])
  },
)
row(
  '4.6-3-adds',
  'Assignees: the operation adds users and removes none; users already assigned are not added twice.',
  async (service) => {
    const { member, owner, todo } = await newStage(service)
    const { id } = await member.newCard(todo)
    await member.put(`/cards/${id}/assignees`, { user_ids: [member.id] })
    const card = await member.put<Card>(`/cards/${id}/assignees`, { user_ids: [owner.id, member.id] })
    same('the assignees', assigneesOf(card), [owner.id, member.id].sort())
    same(
      'the assignees',
      assigneesOf(await member.put(`/cards/${id}/assignees`, { user_ids: [owner.id] })),
      assigneesOf(card),
    )
  },
)
row('4.6-add-label', 'POST /cards/{card_id}/labels/{label_id} returns the card with the label.', async (service) => {
  const { member, todo, board_id } = await newStage(service)
  const [label, { id }] = [await member.newLabel(board_id), await member.newCard(todo)]
  const card = await member.post<Card>(`/cards/${id}/labels/${label.id}`)
  fits(Card, card, 'the card')
  same('the labels', card.labels.map(Label.project), [Label.project(label)])
})
row('4.6-4-404', 'Add label: when the label does not exist, then 404.', async (service) => {
  const { member, card_id } = await service.once(furnished)
  await member.rejected(404, 'POST', `/cards/${card_id}/labels/${crypto.randomUUID()}`)
})
row(
  '4.6-4-again',
  'Add label: when the card already has the label, nothing changes and no event is emitted.',
  async (service) => {
    const { member, owner, at, todo, board_id } = await newStage(service)
    const [label, { id }] = [await member.newLabel(board_id), await member.newCard(todo)]
    const before = await member.post<Card>(`/cards/${id}/labels/${label.id}`)
    using listener = await owner.follow(board_id)
    await member.post(`/cards/${id}/labels/${label.id}`)
    same('the card', Card.project(await readCard(member, id)), Card.project(before))
    await owner.patch(at(), { title: 'What comes after it' })
    await listener.event('board.updated')
    same(
      'the events',
      listener.events.map(({ type }) => type),
      ['board.updated'],
    )
  },
)
row('4.6-remove-label', 'DELETE /cards/{card_id}/labels/{label_id} takes the label off the card.', async (service) => {
  const { member, todo, board_id, at } = await newStage(service)
  const [label, { id }] = [await member.newLabel(board_id), await member.newCard(todo)]
  await member.post(`/cards/${id}/labels/${label.id}`)
  await member.delete(`/cards/${id}/labels/${label.id}`)
  same('the labels of the card', (await readCard(member, id)).labels, [])
  same('the number of labels of the board', (await member.get<Label[]>(at('/labels'))).length, 1)
})

row('4.7-create', 'POST /boards/{board_id}/labels returns the new label.', async (service) => {
  const { member, at, board_id } = await newStage(service)
  const label = await member.post(at('/labels'), { name: 'Urgent', color: '#aa0000' })
  fits(Label, label, 'the label')
  same('the label', [label.board_id, label.name, label.color], [board_id, 'Urgent', '#aa0000'])
})
row('4.7-create-name', 'name is required to create a label.', async (service) => {
  const { member, at } = await service.once(furnished)
  await member.refusedSomehow('POST', at('/labels'), { color: '#aa0000' })
})
row('4.7-update', 'PATCH /labels/{label_id} changes what it names and returns the updated label.', async (service) => {
  const { member, board_id } = await newStage(service)
  const { id } = await member.newLabel(board_id)
  await member.patch(`/labels/${id}`, { name: 'Later' })
  const label = await member.patch(`/labels/${id}`, { color: '#00aa00' })
  fits(Label, label, 'the label')
  same('the label', [label.id, label.name, label.color], [id, 'Later', '#00aa00'])
})
row('4.7-delete', 'DELETE /labels/{label_id} removes the label, also from cards.', async (service) => {
  const { member, board_id, todo, at } = await newStage(service)
  const [label, { id }] = [await member.newLabel(board_id), await member.newCard(todo)]
  await member.post(`/cards/${id}/labels/${label.id}`)
  await member.delete(`/labels/${label.id}`)
  same('the labels', await member.get(at('/labels')), [])
  same('the labels of the card', (await readCard(member, id)).labels, [])
})
