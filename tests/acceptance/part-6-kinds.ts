import { setTimeout as pause } from 'node:timers/promises'
import { agree, demand, fits, same } from './demand.ts'
import type { Message } from './listener.ts'
import * as resources from './resources.ts'
import { type Checklist, type ChecklistItem, Event, type Label } from './resources.ts'
import { decided, row } from './rows.ts'
import { readBoard, readCard, readChecklist, readColumn, readItem, readLabel, upload } from './samples.ts'
import { newStage, type Person, type Service, type Stage } from './service.ts'
import { object, type Shape, uuid } from './shapes.ts'

/** How long to wait for an unexpected second event. */
const SETTLING_MS = 100
/** How far the clocks of two machines may be apart. */
const CLOCKS_MS = 600_000

/** How an event is brought about, and what its data must be equal to. */
interface Deed {
  /** Who does it; the owner unless said. */
  by?: Person
  act: () => Promise<unknown>
  /** The resource from GET after the change, or before its deletion. */
  resource: () => Promise<unknown>
}
interface Kind {
  shape: Shape<unknown>
  prepare: (stage: Stage & { card_id: string }) => Promise<Deed>
  /** The row of 6.3 that says so. */
  operation?: string
  /** The specification names the kind, but not the operation or its body. */
  isOpen?: boolean
}

/** The envelope has exactly the specified fields, each of its type. */
export function fitsEnvelope(message: Message) {
  same('the fields of the event', Object.keys(message).sort(), Object.keys(Event.fields).sort())
  fits(Event, message, 'the event')
  same('version', message['version'], '1.0')
}

const { Attachment, Board, BoardMember, Card, Column } = resources
const [ChecklistShape, ItemShape, LabelShape] = [resources.Checklist, resources.ChecklistItem, resources.Label]
const onlyId = object('an object with id', { id: uuid })

const kinds: Record<string, Kind> = {
  'board.updated': {
    shape: Board,
    operation: 'PATCH /boards/{board_id}',
    prepare: async ({ owner, board_id, at }) => ({
      act: () => owner.patch(at(), { title: 'New' }),
      resource: () => readBoard(owner, board_id),
    }),
  },
  'board.deleted': {
    shape: onlyId,
    operation: 'DELETE /boards/{board_id}',
    prepare: async ({ owner, board_id, at }) => ({
      act: () => owner.delete(at()),
      resource: async () => ({ id: board_id }),
    }),
  },
  'board.member_added': {
    shape: BoardMember,
    isOpen: true,
    prepare: async ({ owner, nonMember, board_id, at }) => ({
      act: () => owner.post(at('/invite'), { user_id: nonMember.id }),
      resource: async () => (await readBoard(owner, board_id)).members.find((m) => m.user_id === nonMember.id),
    }),
  },
  'board.member_removed': {
    shape: BoardMember,
    isOpen: true,
    prepare: async ({ owner, nonMember, board_id, at }) => {
      await owner.post(at('/invite'), { user_id: nonMember.id })
      const before = (await readBoard(owner, board_id)).members.find((m) => m.user_id === nonMember.id)
      return { act: () => owner.delete(at(`/members/${nonMember.id}`)), resource: async () => before }
    },
  },

  'column.created': {
    shape: Column,
    operation: 'POST column create',
    prepare: async ({ owner, board_id }) =>
      made(
        () => owner.newColumn(board_id),
        (id) => readColumn(owner, board_id, id),
      ),
  },
  'column.updated': {
    shape: Column,
    prepare: async ({ owner, board_id, todo }) => ({
      act: () => owner.patch(`/columns/${todo.id}`, { title: 'New', color: '#123456' }),
      resource: () => readColumn(owner, board_id, todo.id),
    }),
  },
  'column.deleted': {
    shape: Column,
    prepare: async ({ owner, board_id, todo }) => {
      const before = await readColumn(owner, board_id, todo.id)
      return { act: () => owner.delete(`/columns/${todo.id}`), resource: async () => before }
    },
  },
  'column.moved': {
    shape: Column,
    operation: 'POST column move',
    prepare: async ({ owner, board_id, done }) => ({
      act: () => owner.post(`/columns/${done.id}/move`, { position: 0 }),
      resource: () => readColumn(owner, board_id, done.id),
    }),
  },

  'card.created': {
    shape: Card,
    operation: 'POST card create',
    prepare: async ({ member, todo }) => ({
      by: member,
      ...made(
        () => member.newCard(todo),
        (id) => readCard(member, id),
      ),
    }),
  },
  'card.updated': {
    shape: Card,
    prepare: async ({ member, card_id }) => ({
      by: member,
      act: () => member.patch(`/cards/${card_id}`, { description: 'New' }),
      resource: () => readCard(member, card_id),
    }),
  },
  'card.deleted': {
    shape: Card,
    prepare: async ({ owner, card_id }) => {
      const before = await readCard(owner, card_id)
      return { act: () => owner.delete(`/cards/${card_id}`), resource: async () => before }
    },
  },
  'card.moved': {
    shape: Card,
    operation: 'POST card move',
    prepare: async ({ member, card_id, done }) => ({
      by: member,
      act: () => member.post(`/cards/${card_id}/move`, { column_id: done.id, position: 0 }),
      resource: () => readCard(member, card_id),
    }),
  },
  'card.labeled': {
    shape: Card,
    operation: 'POST card label add',
    prepare: async ({ owner, board_id, card_id }) => {
      const { id } = await owner.newLabel(board_id)
      return { act: () => owner.post(`/cards/${card_id}/labels/${id}`), resource: () => readCard(owner, card_id) }
    },
  },
  'card.unlabeled': {
    shape: Card,
    prepare: async ({ owner, board_id, card_id }) => {
      const { id } = await owner.newLabel(board_id)
      await owner.post(`/cards/${card_id}/labels/${id}`)
      return { act: () => owner.delete(`/cards/${card_id}/labels/${id}`), resource: () => readCard(owner, card_id) }
    },
  },
  'card.assigned': {
    shape: Card,
    operation: 'PUT card assignees',
    prepare: async ({ owner, member, card_id }) => ({
      act: () => owner.put(`/cards/${card_id}/assignees`, { user_ids: [member.id] }),
      resource: () => readCard(owner, card_id),
    }),
  },
  'card.unassigned': {
    shape: Card,
    isOpen: true,
    prepare: async ({ owner, member, card_id }) => {
      await owner.put(`/cards/${card_id}/assignees`, { user_ids: [member.id] })
      const act = () => owner.delete(`/cards/${card_id}/assignees/${member.id}`)
      return { act, resource: () => readCard(owner, card_id) }
    },
  },

  'label.created': {
    shape: LabelShape,
    operation: 'POST label create',
    prepare: async ({ owner, board_id }) =>
      made(
        () => owner.newLabel(board_id),
        (id) => readLabel(owner, { board_id, id } as Label),
      ),
  },
  'label.updated': {
    shape: LabelShape,
    prepare: async ({ owner, board_id }) => {
      const label = await owner.newLabel(board_id)
      return { act: () => owner.patch(`/labels/${label.id}`, { name: 'New' }), resource: () => readLabel(owner, label) }
    },
  },
  'label.deleted': {
    shape: LabelShape,
    prepare: async ({ owner, board_id }) => {
      const label = await owner.newLabel(board_id)
      return { act: () => owner.delete(`/labels/${label.id}`), resource: async () => label }
    },
  },

  'checklist.created': {
    shape: ChecklistShape,
    operation: 'POST checklist create',
    prepare: async ({ owner, card_id }) =>
      made(
        () => owner.newChecklist(card_id),
        (id) => readChecklist(owner, { card_id, id }),
      ),
  },
  'checklist.updated': {
    shape: ChecklistShape,
    prepare: (stage) => onChecklist(stage, ({ id }) => stage.owner.patch(`/checklists/${id}`, { title: 'New' })),
  },
  'checklist.deleted': {
    shape: ChecklistShape,
    prepare: async ({ owner, card_id }) => {
      const { id } = await owner.newChecklist(card_id)
      await owner.newItem(id)
      const before = await readChecklist(owner, { card_id, id })
      return { act: () => owner.delete(`/checklists/${id}`), resource: async () => before }
    },
  },
  'checklist.moved': {
    shape: ChecklistShape,
    isOpen: true,
    prepare: (stage) => onChecklist(stage, ({ id }) => stage.owner.post(`/checklists/${id}/move`, { position: 0 })),
  },

  'checklist_item.created': {
    shape: ItemShape,
    operation: 'POST item create',
    prepare: async ({ owner, card_id }) => {
      const { id: checklist_id } = await owner.newChecklist(card_id)
      return made(
        () => owner.newItem(checklist_id),
        (id) => readItem(owner, card_id, id),
      )
    },
  },
  'checklist_item.updated': {
    shape: ItemShape,
    prepare: (stage) => onItem(stage, ({ id }) => stage.owner.patch(`/items/${id}`, { content: 'New' })),
  },
  'checklist_item.deleted': {
    shape: ItemShape,
    prepare: async ({ owner, card_id }) => {
      const item = await owner.newItem((await owner.newChecklist(card_id)).id)
      return { act: () => owner.delete(`/items/${item.id}`), resource: async () => item }
    },
  },
  'checklist_item.moved': {
    shape: ItemShape,
    isOpen: true,
    prepare: (stage) => onItem(stage, ({ id }) => stage.owner.post(`/items/${id}/move`, { position: 0 })),
  },
  'checklist_item.assigned': {
    shape: ItemShape,
    isOpen: true,
    prepare: (stage) =>
      onItem(stage, ({ id }) => stage.owner.put(`/items/${id}/assignees`, { user_ids: [stage.member.id] })),
  },
  'checklist_item.unassigned': {
    shape: ItemShape,
    isOpen: true,
    prepare: (stage) =>
      onItem(stage, async ({ id }) => {
        await stage.owner.put(`/items/${id}/assignees`, { user_ids: [stage.member.id] })
        await stage.owner.delete(`/items/${id}/assignees/${stage.member.id}`)
      }),
  },

  'attachment.created': {
    shape: Attachment,
    operation: 'POST attachment upload',
    prepare: async ({ owner, card_id }) =>
      made(
        () => upload(owner, card_id),
        async (id) => (await readCard(owner, card_id)).attachments.find((a) => a.id === id),
      ),
  },
  'attachment.deleted': {
    shape: Attachment,
    prepare: async ({ owner, card_id }) => {
      const attachment = await upload(owner, card_id)
      return { act: () => owner.delete(`/attachments/${attachment.id}`), resource: async () => attachment }
    },
  },
}

/** A deed that makes something, which is read by its id afterwards. */
function made(make: () => Promise<{ id: string }>, read: (id: string) => Promise<unknown>): Deed {
  let id = ''
  const act = async () => {
    ;({ id } = await make())
  }
  return { act, resource: () => read(id) }
}
async function onChecklist({ owner, card_id }: Stage & { card_id: string }, act: (of: Checklist) => Promise<unknown>) {
  await owner.newChecklist(card_id)
  const checklist = await owner.newChecklist(card_id)
  return { act: () => act(checklist), resource: () => readChecklist(owner, checklist) }
}
async function onItem({ owner, card_id }: Stage & { card_id: string }, act: (of: ChecklistItem) => Promise<unknown>) {
  const { id } = await owner.newChecklist(card_id)
  await owner.newItem(id)
  const item = await owner.newItem(id)
  return { act: () => act(item), resource: () => readItem(owner, card_id, item.id) }
}

/** Makes a change while its author and another user are connected, and returns what each of them received. */
async function recordEvents(service: Service, name: string, { prepare }: Kind) {
  const stage = await newStage(service)
  const { owner, member, board_id, todo } = stage
  const { id: card_id } = await owner.newCard(todo, { description: 'All of it' })
  const { by = owner, act, resource } = await prepare({ ...stage, card_id })
  using one = await owner.follow(board_id)
  using other = await member.follow(board_id)
  await act()
  await Promise.all([one.event(name), other.event(name)])
  const asRead = await resource()
  await pause(SETTLING_MS)
  return { by, asRead, received: [one.events, other.events] }
}

for (const [name, kind] of Object.entries(kinds)) {
  const { shape, operation, isOpen } = kind
  const happening = (service: Service) => recordEvents(service, name, kind)
  const add = isOpen ? decided : row
  const sentence = `${name} reaches every client of the board: exactly the fields of an event, the acting user, and in data the full resource as GET shows it.`
  add(`6.2-${name}`, sentence, async (service) => {
    const { by, asRead, received } = await service.once(happening)
    for (const event of received.flatMap((events) => events.filter(({ type }) => type === name))) {
      fitsEnvelope(event)
      same('user_id', event['user_id'], by.id)
      const ageMs = Date.now() - Date.parse(String(event['timestamp']))
      demand(Math.abs(ageMs) < CLOCKS_MS, `timestamp ${String(event['timestamp'])} is not the time of the change`)
      fits(shape, event.data, 'data')
      agree(shape, 'data', event.data, asRead)
    }
  })
  if (operation === undefined) continue
  row(`6.3-${name}`, `${operation} emits ${name}, and nothing else.`, async (service) => {
    const { received } = await service.once(happening)
    for (const events of received) {
      const types = events.map(({ type }) => type)
      same('the events', types, [name])
    }
  })
}
