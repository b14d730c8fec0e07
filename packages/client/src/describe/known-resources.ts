import { nameFields, type ResourceName } from '../live/model.gen.ts'
import { eventModel, linkedList, modelOf } from '../live/model.ts'
import { get, type Item, listOf, siblingsOf } from '../live/tree.ts'
import type { BoardEvent, BoardMember, FullBoard, User } from '../types.gen.ts'

interface Known {
  on: ResourceName
  item: Item
}

/** Remembers the resources and people of a board by id, also after they are deleted. */
export class KnownResources {
  readonly #resources = new Map<string, Known>()
  readonly #members = new Map<string, BoardMember>()
  readonly #people = new Map<string, User>()

  addBoard(board: FullBoard): void {
    this.#addMembers(board.members)
    this.#add('board', board)
  }

  addEvent({ type, data }: BoardEvent): void {
    const on = eventModel(type)?.on
    if ('user_id' in data) this.#addMembers([data])
    else if ('author' in data) this.#people.set(data.author.id, data.author)
    else if (on) {
      if ('members' in data) this.#addMembers(data.members)
      this.#add(on, data)
    }
  }

  find(id: string | undefined): Item | undefined {
    return id === undefined ? undefined : this.#resources.get(id)?.item
  }

  /** The title, name or content of a resource. */
  name(id: string | undefined): string | undefined {
    const known = id === undefined ? undefined : this.#resources.get(id)
    return known && nameOf(known.on, known.item)
  }

  member(user_id: string): BoardMember | undefined {
    return this.#members.get(user_id)
  }

  user(id: string): User | undefined {
    return this.#people.get(id)
  }

  /** The card that a resource belongs to; undefined for a card itself and for what is above it. */
  cardOf(on: ResourceName, item: Item): string | undefined {
    const { parent = '' } = modelOf(on)
    const parentId = get(item, parent) as string | undefined
    if (parent === 'card_id') return parentId
    const known = parentId === undefined ? undefined : this.#resources.get(parentId)
    return known && this.cardOf(known.on, known.item)
  }

  #add(on: ResourceName, item: Item) {
    this.#resources.set(item.id, { on, item })
    for (const user of listOf(item, 'assignees')) this.#people.set(user.id, user as User)
    for (const child of modelOf(on).children)
      for (const each of siblingsOf(item, modelOf(child))) this.#add(child, each)
  }

  #addMembers(members: readonly BoardMember[]) {
    for (const member of members) {
      this.#members.set(member.user_id, member)
      this.#people.set(member.user_id, member.user)
    }
  }
}

/** The title, name or content of a resource. */
export const nameOf = (on: ResourceName, item: Item) => String(get(item, nameFields[on]))

/** The resources of another kind that are linked to this one. */
export const linkedTo = (item: object | undefined, linked: ResourceName) =>
  item ? listOf(item, linkedList(linked)) : []
