import { type ApiResponse, Client, type Failure } from '@lockstep/testing/client'
import { furnish, type Known } from '@lockstep/testing/input-generator'
import { startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Concurrent conflicting operations: one of them is first, and there is no intermediate state. */
let service: TestService
/** A second instance: races between processes are serialized by PostgreSQL. */
let second: TestService
let owner: TestUser
/** A member of every board here. */
let guest: TestUser
beforeAll(async () => {
  service = await startService()
  second = await startService({}, { beside: service })
  ;[owner, guest] = await Promise.all([service.user(), service.user()])
})
afterAll(async () => {
  await second.stop()
  await service.stop()
})

/** A board of the owner with one of each resource. */
async function newBoard(): Promise<Known> {
  const known = await furnish(owner.api, { user_id: owner.id })
  await owner.api.call('inviteMember', { params: { board_id: idOf(known, 'board') }, body: { user_id: guest.id } })
  return known
}
const idOf = (known: Known, kind: string) => known[`${kind}_id`] as string
const codeOf = ({ body, status }: ApiResponse) => (status < 400 ? status : (body as Failure).code)
const statuses = (responses: ApiResponse[]) => responses.map(({ status }) => status).sort((a, b) => a - b)
/** The same user at the other instance, in every second round. */
const at = (round: number, { api }: TestUser) => new Client((round % 2 ? second : service).baseUrl, api.token)
const ROUNDS = Array.from({ length: 8 }, (_, i) => i)

/** All references on a board are valid: assignees are members, and labels exist. */
const hasValidReferences = async (api: Client, board_id: string) => {
  const { columns, members, labels } = await api.call('getBoard', { params: { board_id } })
  const cards = columns.flatMap((column) => column.cards)
  const people = new Set(members.map(({ user_id }) => user_id))
  const assigned = cards.flatMap((c) => [
    ...c.assignees,
    ...c.checklists.flatMap((k) => k.items.flatMap((i) => i.assignees)),
  ])
  return (
    assigned.every(({ id }) => people.has(id)) &&
    cards.every((card) => card.labels.every(({ id }) => labels.some((label) => label.id === id)))
  )
}
const body = { column_id: '', position: 0 }

test('[WRITE-6] [CARD-5] a column is deleted while a card is moved into it: the card is deleted too, or stays where it was', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const [board_id, card_id] = [idOf(known, 'board'), idOf(known, 'card')]
    const { id: column_id } = await owner.api.call('createColumn', {
      params: { board_id },
      body: { title: 'Doomed' },
    })
    const [move, remove] = await Promise.all([
      owner.api.send('moveCard', { params: { card_id }, body: { ...body, column_id } }),
      at(round, owner).send('deleteColumn', { params: { column_id } }),
    ])
    expect(codeOf(remove)).toBe(204)
    const card = await owner.api.send('getCard', { params: { card_id } })
    expect([codeOf(move), card.status]).toBeOneOf([
      [200, 404],
      ['column_not_found', 200],
    ])
  }
})

test('[WRITE-6] [CARD-4] a card is deleted while others change it: they come first, or get 404', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const params = { card_id: idOf(known, 'card') }
    const label = { ...params, label_id: idOf(known, 'label') }
    const [remove, ...others] = await Promise.all([
      at(round, owner).send('deleteCard', { params }),
      owner.api.send('moveCard', { params, body: { position: 0 } }),
      guest.api.send('addCardLabel', { params: label }),
      guest.api.send('assignCard', { params, body: { user_ids: [owner.id] } }),
      at(round, guest).send('createChecklist', { params, body: { title: 'Late' } }),
    ])
    expect(codeOf(remove as ApiResponse)).toBe(204)
    for (const response of others) expect(codeOf(response)).toBeOneOf([200, 201, 'card_not_found'])
  }
})

test('[CARD-7] [CHECK-8] [MEMBER-5] a member is assigned while being removed: in the end they are assigned to nothing', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const board_id = idOf(known, 'board')
    const people = { user_ids: [guest.id] }
    const [remove, ...assigns] = await Promise.all([
      at(round, owner).send('removeMember', { params: { board_id, user_id: guest.id } }),
      owner.api.send('assignCard', { params: { card_id: idOf(known, 'card') }, body: people }),
      owner.api.send('assignItem', { params: { item_id: idOf(known, 'item') }, body: people }),
    ])
    expect(codeOf(remove as ApiResponse)).toBe(204)
    for (const response of assigns) expect(codeOf(response)).toBeOneOf([200, 'user_not_a_member'])
    expect(await hasValidReferences(owner.api, board_id)).toBe(true)
  }
})

test('[LABEL-4] [AUTO-3] a label is added several times concurrently: the rule runs once', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const params = { board_id: idOf(known, 'board') }
    const rule = { name: 'Once', trigger_type: 'LABEL_ADDED', trigger_label_id: idOf(known, 'label') } as const
    const action = { action_type: 'ASSIGN_MEMBER', action_user_id: guest.id } as const
    const { id } = await owner.api.call('createRule', { params, body: { ...rule, ...action } })
    const label = { card_id: idOf(known, 'card'), label_id: idOf(known, 'label') }
    const add = (api: Client) => api.send('addCardLabel', { params: label })
    const responses = await Promise.all([add(owner.api), add(guest.api), add(at(round, owner)), add(at(round, guest))])
    expect(statuses(responses)).toEqual([200, 200, 200, 200])
    const runs = await owner.api.call('listRuns', { params })
    expect(runs.filter((run) => run.rule_id === id)).toMatchObject([{ outcome: 'assigned' }])
  }
})

test('[LABEL-3] [LABEL-4] a label is deleted while being added: it is on no card', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const params = { card_id: idOf(known, 'card'), label_id: idOf(known, 'label') }
    const [remove, add] = await Promise.all([
      at(round, owner).send('deleteLabel', { params }),
      guest.api.send('addCardLabel', { params }),
    ])
    expect([codeOf(remove), codeOf(add)]).toBeOneOf([
      [204, 200],
      [204, 'label_not_found'],
    ])
    expect(await hasValidReferences(owner.api, idOf(known, 'board'))).toBe(true)
  }
})

test('[AUTO-7] [AUTO-8] a rule, its column and its member are removed while it is triggered: no request fails', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const params = { board_id: idOf(known, 'board') }
    const { id: column_id } = await owner.api.call('createColumn', { params, body: { title: 'Trigger' } })
    const trigger = { name: 'Doomed', trigger_type: 'CARD_MOVED', trigger_column_id: column_id } as const
    const to = await owner.api.call('createColumn', { params, body: { title: 'Target' } })
    const [first] = await Promise.all([
      owner.api.call('createRule', {
        params,
        body: { ...trigger, action_type: 'ASSIGN_MEMBER', action_user_id: guest.id },
      }),
      owner.api.call('createRule', {
        params,
        body: { ...trigger, action_type: 'MOVE_TO_COLUMN', action_column_id: to.id },
      }),
    ])
    const [move, ...others] = await Promise.all([
      at(round, owner).send('moveCard', { params: { card_id: idOf(known, 'card') }, body: { column_id } }),
      owner.api.send('deleteRule', { params: { rule_id: first.id } }),
      owner.api.send('deleteColumn', { params: { column_id: to.id } }),
      owner.api.send('removeMember', { params: { ...params, user_id: guest.id } }),
    ])
    expect(statuses(others)).toEqual([204, 204, 204])
    expect(codeOf(move as ApiResponse)).toBe(200)
    expect(await hasValidReferences(owner.api, params.board_id)).toBe(true)
  }
})

test('[BOARD-5] [WRITE-6] a board is deleted twice while others write: they come first, or get 404', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const params = { board_id: idOf(known, 'board') }
    const write = (api: Client) => api.send('createColumn', { params, body: { title: 'Late' } })
    const [first, second, ...writes] = await Promise.all([
      owner.api.send('deleteBoard', { params }),
      at(round, owner).send('deleteBoard', { params }),
      write(guest.api),
      write(at(round, guest)),
      owner.api.send('moveCard', { params: { card_id: idOf(known, 'card') }, body: { position: 0 } }),
    ])
    expect(statuses([first as ApiResponse, second as ApiResponse])).toEqual([204, 404])
    for (const response of writes) expect(codeOf(response)).toBeOneOf([200, 201, 'board_not_found', 'card_not_found'])
    const { rows } = await service.sql.query('select type from board_events where board_id = $1', [params.board_id])
    expect(rows).toEqual([{ type: 'board.deleted' }])
  }
})

test('[WRITE-6] [CHECK-7] a checklist is deleted while its item is moved: the item is moved or deleted with it', async () => {
  for (const round of ROUNDS) {
    const known = await newBoard()
    const second = await owner.api.call('createChecklist', {
      params: { card_id: idOf(known, 'card') },
      body: { title: 'Second' },
    })
    const item = { item_id: idOf(known, 'item') }
    const [remove, move] = await Promise.all([
      at(round, owner).send('deleteChecklist', { params: { checklist_id: idOf(known, 'checklist') } }),
      guest.api.send('moveItem', { params: item, body: { checklist_id: second.id } }),
    ])
    expect(codeOf(remove)).toBe(204)
    const card = await owner.api.call('getCard', { params: { card_id: idOf(known, 'card') } })
    const left = card.checklists.flatMap((list) => list.items.map(({ id }) => id))
    expect([codeOf(move), left]).toBeOneOf([
      [200, [item.item_id]],
      ['item_not_found', []],
    ])
  }
})
