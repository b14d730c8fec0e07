import { type Resource, resourceNames } from '@lockstep/contract/resources'
import type { Account } from '@lockstep/testing/accounts'

/** The parameters and body of a write. */
export interface Write {
  params: Record<string, string>
  body?: object
}
/** Sends a write as a user, and returns the created resource. It must succeed. */
export type Prepare = (who: Account, name: string, write: Write) => Promise<{ id: string }>
export interface RaceUsers {
  /** The two users who race. Both are owners. */
  racers: readonly [Account, Account]
  /** A passive member, and a user who is not a member. */
  member: Account
  nonMember: Account
}

/** The resources of a board, and a second target for what can be moved. */
export type Kind = Exclude<Resource, 'board'> | 'other_column' | 'other_checklist'
const kinds: Kind[] = [...resourceNames.filter((name) => name !== 'board'), 'other_column', 'other_checklist']

/** How each resource is created, and which others it needs. */
const recipes: Record<
  Kind,
  { by: string; on: Kind[]; make: (id: (kind: Kind) => string, users: RaceUsers) => Partial<Write> }
> = {
  column: { by: 'createColumn', on: [], make: () => ({ body: { title: 'Column' } }) },
  other_column: { by: 'createColumn', on: [], make: () => ({ body: { title: 'Other' } }) },
  card: {
    by: 'createCard',
    on: ['column'],
    make: (id) => ({ params: { column_id: id('column') }, body: { title: 'Card' } }),
  },
  label: { by: 'createLabel', on: [], make: () => ({ body: { name: 'Label' } }) },
  checklist: {
    by: 'createChecklist',
    on: ['card'],
    make: (id) => ({ params: { card_id: id('card') }, body: { title: 'List' } }),
  },
  other_checklist: {
    by: 'createChecklist',
    on: ['card'],
    make: (id) => ({ params: { card_id: id('card') }, body: { title: 'Other' } }),
  },
  item: {
    by: 'createItem',
    on: ['checklist'],
    make: (id) => ({ params: { checklist_id: id('checklist') }, body: { content: 'Item' } }),
  },
  attachment: { by: 'createAttachment', on: ['card'], make: (id) => ({ params: { card_id: id('card') } }) },
  // A move of a card to the other column triggers it.
  rule: {
    by: 'createRule',
    on: ['other_column'],
    make: (id, { member }) => ({
      body: {
        name: 'Rule',
        trigger_type: 'CARD_MOVED',
        trigger_column_id: id('other_column'),
        action_type: 'ASSIGN_MEMBER',
        action_user_id: member.id,
      },
    }),
  },
}

/** The board of a race. Resources are created on demand, and again after they were deleted. */
export class RaceBoard {
  readonly users: RaceUsers
  private readonly prepare: Prepare
  private board_id: string | undefined
  private readonly ids = new Map<Kind, string>()

  constructor(users: RaceUsers, prepare: Prepare) {
    this.users = users
    this.prepare = prepare
  }

  get id(): string {
    if (this.board_id === undefined) throw new Error('There is no board yet')
    return this.board_id
  }

  get exists(): boolean {
    return this.board_id !== undefined
  }

  /** Creates a new board with its members. */
  async create() {
    const [one, two] = this.users.racers
    const { id: board_id } = await this.prepare(one, 'createBoard', { params: {}, body: { title: 'Race' } })
    this.ids.clear()
    this.board_id = board_id
    for (const { id: user_id } of [two, this.users.member])
      await this.prepare(one, 'inviteMember', { params: { board_id }, body: { user_id } })
    await this.prepare(one, 'updateMember', { params: { board_id, user_id: two.id }, body: { role: 'owner' } })
  }

  /** The id of a resource on the board, which is created if necessary. */
  async need(kind: Kind): Promise<string> {
    const known = this.ids.get(kind)
    if (known !== undefined) return known
    const { by, on, make } = recipes[kind]
    for (const each of on) await this.need(each)
    const { params, body } = make((each) => this.ids.get(each) as string, this.users)
    const write = { params: { board_id: this.id, ...params }, ...(body && { body }) }
    const { id } = await this.prepare(this.users.racers[0], by, write)
    this.ids.set(kind, id)
    return id
  }

  /** Forgets a deleted resource and those that depend on it. */
  forget(kind: Kind | 'board') {
    if (kind === 'board') {
      this.board_id = undefined
      this.ids.clear()
      return
    }
    this.ids.delete(kind)
    for (const each of kinds) if (this.ids.has(each) && recipes[each].on.includes(kind)) this.forget(each)
  }

  /** Restores the members and their roles, through a racer who is still an owner. */
  async restoreMembers(members: readonly { user_id: string; role: string }[]) {
    const params = { board_id: this.id }
    const { racers, member, nonMember } = this.users
    const roleOf = ({ id }: Account) => members.find(({ user_id }) => user_id === id)?.role
    const lead = racers.find((racer) => roleOf(racer) === 'owner')
    if (!lead) throw new Error('Neither racer is an owner any more')
    if (roleOf(nonMember)) await this.prepare(lead, 'removeMember', { params: { ...params, user_id: nonMember.id } })
    for (const person of [...racers, member]) {
      const is = roleOf(person)
      const should = person === member ? 'member' : 'owner'
      const at = { ...params, user_id: person.id }
      if (!is) await this.prepare(lead, 'inviteMember', { params, body: { user_id: person.id } })
      if ((is ?? 'member') !== should) await this.prepare(lead, 'updateMember', { params: at, body: { role: should } })
    }
  }
}
