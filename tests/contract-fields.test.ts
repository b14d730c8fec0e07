import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import type { FullBoard } from '@lockstep/contract/boards'
import { createFields, fieldsOf, findOperation, pathOf, updateFields } from '@lockstep/contract/model'
import type { Operation } from '@lockstep/contract/operation'
import { definitionOf, type Resource, resourceNames } from '@lockstep/contract/resources'
import type { OperationName } from '@lockstep/testing/client'
import { emptyBoard, foldBoard } from '@lockstep/testing/fold'
import { startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyEvent } from '../packages/client/src/live/fold.ts'
import { predict } from '../packages/client/src/live/predict.ts'
import { find } from '../packages/client/src/live/tree.ts'
import type { BoardEvent, Change } from '../packages/client/src/live/types.ts'
import { inverse } from '../packages/client/src/live/undo.ts'

/**
 * Generated from the contract: each field of each resource is written through the API, and must then be in every place that
 * derives from it. A new field or resource is covered without a change here.
 */
type Item = Record<string, unknown>
/** What each place showed of one resource. */
type Seen = Record<Place, Item | undefined>
const places = [
  ...([
    'create response',
    'create event',
    'create fold',
    'create oracle',
    'create prediction',
    'board after create',
  ] as const),
  ...([
    'update response',
    'update event',
    'update fold',
    'update oracle',
    'update prediction',
    'board after update',
  ] as const),
  ...(['undo of delete', 'prediction of the undo', 'export'] as const),
] as const
type Place = (typeof places)[number]

/** The list of the account export that contains a resource if the user is assigned to it. */
const exportLists: Partial<Record<Resource, 'cards_assigned' | 'items_assigned'>> = {
  card: 'cards_assigned',
  item: 'items_assigned',
}
/** Everything that can be created, changed and deleted on a board. */
const subjects = resourceNames.filter((name) => name !== 'board' && pathOf(name) && updateFields(name).length > 0)

/** A value that the schema of a field allows. The two of a field differ. */
function sampleOf(name: string, schema: { type?: string; format?: string; anyOf?: object[] }, which: 0 | 1): unknown {
  if (schema.anyOf) return sampleOf(name, schema.anyOf[0] ?? {}, which)
  if (schema.type === 'boolean') return which === 0
  if (schema.type === 'integer') return which + 1
  if (schema.format === 'date-time') return `2027-0${which + 1}-01T00:00:00.000Z`
  if (schema.format === 'date') return `2027-0${which + 1}-01`
  if (schema.type === 'string') return `${name} ${which}`
  throw new Error(`No value for ${name}: ${JSON.stringify(schema)}`)
}
const valuesOf = (resource: Resource, names: readonly string[], which: 0 | 1): Item =>
  Object.fromEntries(names.map((name) => [name, sampleOf(name, fieldsOf(resource)[name] ?? {}, which)]))

/** Every difference between the written values and a place. */
function complaintsOf(resource: Resource, seen: Seen): string[] {
  const compare = (place: Place, wanted: Item) =>
    Object.keys(wanted)
      .filter((name) => !Object.is(seen[place]?.[name], wanted[name]))
      .map((name) => `${resource}.${name} is ${String(seen[place]?.[name])} in the ${place}`)
  const first = valuesOf(resource, createFields(resource), 0)
  const second = valuesOf(resource, updateFields(resource), 1)
  return places
    .filter((place) => place !== 'export' || exportLists[resource])
    .flatMap((place) => compare(place, place.includes('create') ? first : second))
}

class Board {
  readonly user: TestUser
  readonly admin: TestUser
  readonly id: string
  private readonly start: FullBoard

  private constructor(user: TestUser, admin: TestUser, start: FullBoard) {
    this.user = user
    this.admin = admin
    this.start = start
    this.id = start.id
  }
  static async create(service: TestService) {
    const [user, admin] = await Promise.all([service.user(), service.user()])
    await service.sql.query('update users set is_superuser = true where id = $1', [admin.id])
    return new Board(user, admin, emptyBoard(await user.api.call('createBoard', { body: { title: 'Fields' } })))
  }

  /** Sends a change of the live board. */
  async send({ name, input }: Change): Promise<unknown> {
    const { params, body, returns } = operations[name as OperationName] as Operation
    const fields: Item = { board_id: this.id, ...input }
    const pick = (schema: object | undefined) => {
      const names = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
      return Object.fromEntries(names.filter((each) => each in fields).map((each) => [each, fields[each]]))
    }
    const response = await this.user.api.send(
      name as never,
      { params: pick(params), ...(body && { body: pick(body) }) } as never,
    )
    expect([name, response.status, response.text]).toEqual([name, returns.status, response.text])
    return response.body
  }
  read = () => this.user.api.call('getBoard', { params: { board_id: this.id } })
  async events() {
    const events = await this.user.api.call('listEvents', { params: { board_id: this.id }, query: { limit: 500 } })
    return events as unknown as BoardEvent[]
  }
  /** The board that a client shows by the events, as the client and the independent oracle apply them. */
  async folded() {
    const events = await this.events()
    return {
      client: events.reduce(applyEvent, this.start),
      oracle: foldBoard(this.start, events),
      last: events.at(-1)?.data as unknown as Item,
    }
  }
}

const changeOf = (verb: 'create' | 'update' | 'delete' | 'assign', on: Resource, input: Item) =>
  ({ name: findOperation(verb, on)?.name, input }) as unknown as Change
const itemIn = (board: FullBoard, resource: Resource, id: string) =>
  find(board as never, pathOf(resource) ?? [], id)?.item as Item | undefined

/** Creates the resources above one. Returns the id of the direct one. */
async function createParent(board: Board, resource: Resource): Promise<string> {
  const parent = definitionOf(resource).parent as Resource
  if (parent === 'board') return board.id
  const above = await createParent(board, parent)
  const id = randomUUID()
  const fields = valuesOf(parent, createFields(parent), 0)
  await board.send(changeOf('create', parent, { id, [`${definitionOf(parent).parent}_id`]: above, ...fields }))
  return id
}

/** Writes a resource through the API, and collects what every place shows of it. */
async function observe(service: TestService, resource: Resource): Promise<Seen> {
  const board = await Board.create(service)
  const id = randomUUID()
  const self = { [`${resource}_id`]: id }
  const at = new Date().toISOString()
  const parent = { [`${definitionOf(resource).parent}_id`]: await createParent(board, resource) }

  let before = await board.read()
  const create = changeOf('create', resource, { id, ...parent, ...valuesOf(resource, createFields(resource), 0) })
  const created = (await board.send(create)) as Item
  const predicted = itemIn(predict(before, create, at), resource, id)
  const afterCreate = await board.folded()

  before = await board.read()
  const seenCreated = itemIn(before, resource, id)
  const update = changeOf('update', resource, { ...self, ...valuesOf(resource, updateFields(resource), 1) })
  const updated = (await board.send(update)) as Item
  const predictedUpdate = itemIn(predict(before, update, at), resource, id)
  const afterUpdate = await board.folded()

  const list = exportLists[resource]
  if (list) await board.send(changeOf('assign', resource, { ...self, user_ids: [board.user.id] }))
  const exported = list && (await board.admin.api.call('exportAccount', { params: { user_id: board.user.id } }))[list]

  before = await board.read()
  const remove = changeOf('delete', resource, self)
  const undo = inverse(before, remove)
  await board.send(remove)
  for (const change of undo) await board.send(change)
  const predictedUndo = [remove, ...undo].reduce((view, change) => predict(view, change, at), before)
  return {
    'create response': created,
    'create event': afterCreate.last,
    'create fold': itemIn(afterCreate.client, resource, id),
    'create oracle': itemIn(afterCreate.oracle, resource, id),
    'create prediction': predicted,
    'board after create': seenCreated,
    'update response': updated,
    'update event': afterUpdate.last,
    'update fold': itemIn(afterUpdate.client, resource, id),
    'update oracle': itemIn(afterUpdate.oracle, resource, id),
    'update prediction': predictedUpdate,
    'board after update': itemIn(before, resource, id),
    'undo of delete': itemIn(await board.read(), resource, id),
    'prediction of the undo': itemIn(predictedUndo, resource, id),
    export: exported?.[0] as Item | undefined,
  }
}

test('[CONTRACT-1] every change declares one effect, and its event is one that it emits', () => {
  const changes = Object.entries<Operation>(operations).filter(([, { emits }]) => emits)
  const complaints = changes.flatMap(([name, { emits = [], effect }]) => {
    if (!effect) return [`${name} has no effect`]
    return emits.length === 0 || emits.includes(effect.event) ? [] : [`${name} does not emit ${effect.event}`]
  })
  expect(complaints).toEqual([])
  // What is archived leaves the board as if it were deleted. An operation is found by its effect, and that is the delete.
  const found = changes.filter(([name, { effect }]) => effect?.verb !== 'other' && !name.startsWith('archive'))
  const effects = found.map(([, { effect }]) => [effect?.verb, effect?.on, effect?.linked].join(' '))
  expect(new Set(effects).size).toBe(effects.length)
  for (const [name, { effect }] of found)
    if (effect?.verb === 'delete' && effect.on !== 'member') expect(findOperation('delete', effect.on)?.name).toBe(name)
})

describe('every field of the contract', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ ADMIN_API: 'on' })
  })
  afterAll(() => service.stop())

  test.each(subjects)(
    '[CONTRACT-2] %s: create, update, event, fold, prediction, undo of delete and export have every field',
    async (resource) => {
      const seen = await observe(service, resource)
      expect(complaintsOf(resource, seen)).toEqual([])
      // A field that is missing in any one place is found.
      const compared = places.filter((place) => place !== 'export' || exportLists[resource])
      for (const place of compared)
        for (const name of place.includes('create') ? createFields(resource) : updateFields(resource)) {
          const { [name]: _, ...rest } = seen[place] ?? {}
          expect(complaintsOf(resource, { ...seen, [place]: rest })).toHaveLength(1)
        }
    },
  )

  test.each(subjects)(
    '[CONTRACT-2] %s: the prediction has the defaults of fields that a create leaves out',
    async (resource) => {
      const board = await Board.create(service)
      const body = findOperation('create', resource)?.operation.body as { required?: string[] } | undefined
      const parent = { [`${definitionOf(resource).parent}_id`]: await createParent(board, resource) }
      const before = await board.read()
      const id = randomUUID()
      const create = changeOf('create', resource, { id, ...parent, ...valuesOf(resource, body?.required ?? [], 0) })
      const predicted = itemIn(predict(before, create, new Date().toISOString()), resource, id)
      // The server assigns ranks, numbers and times.
      const names = ['rank', 'number', 'created_at', 'updated_at']
      const assigned = Object.fromEntries(names.map((name) => [name, expect.anything()]))
      const created = (await board.send(create)) as Item
      const shared = Object.fromEntries(Object.entries(assigned).filter(([name]) => name in created))
      expect(predicted).toEqual({ ...created, ...shared })
    },
  )

  test('[CONTRACT-2] every resource of a board is covered', () => {
    expect(subjects).toContain('card')
    const uncovered = resourceNames.filter((name) => !subjects.includes(name))
    // The board itself, files (which cannot be changed), comments (of which the board has only the number) and rules (which have
    // no events).
    expect(uncovered).toEqual(['board', 'attachment', 'comment', 'rule'])
  })
})
