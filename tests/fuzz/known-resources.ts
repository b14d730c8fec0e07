import type { Account } from '@lockstep/testing/accounts'
import type { Random } from '@lockstep/testing/random'

/** A user of the fuzzer. */
export type FuzzUser = Pick<Account, 'id' | 'token' | 'email' | 'password'>
/** The known resources of one board: recent ids for each parameter (`card_id`), the newest last. */
export interface KnownBoard {
  id: string
  ids: Map<string, string[]>
  /** Its known members. There is always at least one. */
  members: FuzzUser[]
  /** The number of resources created on it. */
  resourceCount: number
}

/** Ids to keep for each kind. Some of them are deleted. */
const KEPT = 12
/** A fuller board is replaced by a new one, so that responses do not grow during the run. */
const MADE_AT_MOST = 120
const BOARDS_AT_MOST = 8
const NOWHERE = '00000000-0000-4000-8000-000000000000'

/** Users and resources known from responses, so that generated requests can reach existing resources. */
export class KnownResources {
  readonly users: FuzzUser[] = []
  readonly boards: KnownBoard[] = []
  /** ETags and idempotency keys that were received or used. */
  readonly tags: string[] = ['"0"']
  readonly keys: string[] = []
  /** Where webhooks are sent. */
  readonly receiverUrl: string

  constructor(receiverUrl = 'https://hooks.example.com') {
    this.receiverUrl = receiverUrl
  }

  addBoard(id: string, owner: FuzzUser) {
    this.boards.push({ id, ids: new Map(), members: [owner], resourceCount: 0 })
  }

  /** Records that a user joined or left a board. */
  setMembership({ members }: KnownBoard, user_id: unknown, isThere: boolean) {
    const at = members.findIndex(({ id }) => id === user_id)
    const person = this.users.find(({ id }) => id === user_id)
    if (isThere && at === -1 && person) members.push(person)
    else if (!isThere && at !== -1 && members.length > 1) members.splice(at, 1)
  }

  /** A board to delete, because it is too full or there are too many. */
  get fullBoard(): KnownBoard | undefined {
    const full = this.boards.find(({ resourceCount }) => resourceCount > MADE_AT_MOST)
    return full ?? (this.boards.length > BOARDS_AT_MOST ? this.boards[0] : undefined)
  }

  forget(board_id: string) {
    const at = this.boards.findIndex((board) => board.id === board_id)
    if (at !== -1) this.boards.splice(at, 1)
  }

  /** A board with a known id for each parameter of a path, if there is one. */
  boardFor(fields: readonly { name: string }[], random: Random): KnownBoard | undefined {
    const needed = fields.map(({ name }) => name).filter((name) => kinds.includes(name))
    const fitting = this.boards.filter(({ ids }) => needed.every((name) => (ids.get(name)?.length ?? 0) > 0))
    const all = fitting.length > 0 ? fitting : this.boards
    return all.length > 0 ? random.pick(all) : undefined
  }

  /** Records a resource that was created on a board. */
  add(board: KnownBoard, parameter: string, id: string) {
    const ids = board.ids.get(parameter) ?? []
    board.ids.set(parameter, [...ids, id].slice(-KEPT))
    board.resourceCount++
  }

  /** Removes a deleted resource. Sometimes it is kept, as by a client with an old view. */
  remove(board: KnownBoard, parameter: string, id: string, random: Random) {
    const ids = board.ids.get(parameter)
    if (ids && random.below(5) > 0)
      board.ids.set(
        parameter,
        ids.filter((other) => other !== id),
      )
  }

  /** An id for a parameter or field, mostly of the board: `action_column_id` is a `column_id`. */
  idFor(name: string, board: KnownBoard | undefined, random: Random): string {
    const home = random.below(30) === 0 ? random.pick(this.boards) : board
    if (!home || random.below(60) === 0) return NOWHERE
    if (name.endsWith('board_id')) return home.id
    if (name.endsWith('user_id') || name === 'assignee') return random.pick(this.users).id
    const kind = kinds.find((each) => name.endsWith(each) || each === `${name}_id`)
    const ids = home.ids.get(kind ?? random.pick(kinds))
    return ids && ids.length > 0 ? random.pick(ids) : NOWHERE
  }

  remember(list: 'tags' | 'keys', value: string) {
    const all = this[list]
    all.push(value)
    if (all.length > KEPT) all.shift()
  }
}

const kinds = [
  'column_id',
  'card_id',
  'label_id',
  'checklist_id',
  'item_id',
  'attachment_id',
  'comment_id',
  'rule_id',
  'invitation_id',
  'webhook_id',
  'token_id',
  'removed_id',
]

/** A new id, the same one for the same seed. */
export function newId(random: Random): string {
  const hex = Array.from({ length: 4 }, () =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}
