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

const others = ['other_column', 'other_checklist', 'other_comment', 'removed_card', 'removed_column'] as const
/** The resources of a board, a second target for what can be moved, a comment of the second racer, and what was archived before. */
export type Kind = Exclude<Resource, 'board'> | (typeof others)[number]
const kinds: Kind[] = [...resourceNames.filter((name) => name !== 'board'), ...others]

interface Recipe {
  by: string
  /** The second racer instead of the first. */
  as?: 1
  on: Kind[]
  make: (id: (kind: Kind) => string, users: RaceUsers) => Partial<Write>
  /** Writes after the creation. */
  finish?: (id: string) => [name: string, write: Partial<Write>][]
}
/** How each resource is created, and which others it needs. */
const recipes: Record<Kind, Recipe> = {
  column: { by: 'createColumn', on: [], make: () => ({ body: { title: 'Column' } }) },
  other_column: { by: 'createColumn', on: [], make: () => ({ body: { title: 'Other' } }) },
  card: {
    by: 'createCard',
    on: ['column'],
    make: (id) => ({ params: { column_id: id('column') }, body: { title: 'Card' } }),
  },
  removed_column: {
    by: 'createColumn',
    on: [],
    make: () => ({ body: { title: 'Removed' } }),
    finish: (column_id) => [
      ['createCard', { params: { column_id }, body: { title: 'Removed with it' } }],
      ['archiveColumn', { params: { column_id } }],
    ],
  },
  removed_card: {
    by: 'createCard',
    on: ['column'],
    make: (id) => ({ params: { column_id: id('column') }, body: { title: 'Removed' } }),
    finish: (card_id) => [['archiveCard', { params: { card_id } }]],
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
  comment: {
    by: 'createComment',
    on: ['card'],
    make: (id) => ({ params: { card_id: id('card') }, body: { body: 'Comment' } }),
  },
  other_comment: {
    by: 'createComment',
    as: 1,
    on: ['card'],
    make: (id) => ({ params: { card_id: id('card') }, body: { body: 'Other' } }),
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
    const { by, as = 0, on, make, finish } = recipes[kind]
    for (const each of on) await this.need(each)
    const write = (name: string, { params, body }: Partial<Write>) =>
      this.prepare(this.users.racers[as], name, { params: { board_id: this.id, ...params }, ...(body && { body }) })
    const { id } = await write(
      by,
      make((each) => this.ids.get(each) as string, this.users),
    )
    for (const [name, more] of finish?.(id) ?? []) await write(name, more)
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

  /** Makes the board usable and restores the members and their roles, through a racer who is still an owner. */
  async restore(members: readonly { user_id: string; role: string }[]) {
    const params = { board_id: this.id }
    const { racers, member, nonMember } = this.users
    const roleOf = ({ id }: Account) => members.find(({ user_id }) => user_id === id)?.role
    const lead = racers.find((racer) => roleOf(racer) === 'owner')
    if (!lead) throw new Error('Neither racer is an owner any more')
    await this.prepare(lead, 'restoreBoard', { params })
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
