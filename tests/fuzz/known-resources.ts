import type { Account } from '@lockstep/testing/accounts'
import type { Random } from '@lockstep/testing/random'

/** A user of the fuzzer. */
export type FuzzUser = Pick<Account, 'id' | 'token' | 'email' | 'password'>
/** What is known of one board: for each parameter (`card_id`) some that were made there, the newest last. */
export interface KnownBoard {
  id: string
  ids: Map<string, string[]>
  /** Its members, as far as is known. There is always somebody. */
  members: FuzzUser[]
  /** How much was made on it. */
  resourceCount: number
}

/** As many of a kind as are kept in mind: some of them are gone by now. */
const KEPT = 12
/** A board that holds more is left for a new one: answers must not grow with the length of the run. */
const MADE_AT_MOST = 120
const BOARDS_AT_MOST = 8
const NOWHERE = '00000000-0000-4000-8000-000000000000'

/** What the fuzzer has learned from answers: who and what there is, so that its requests reach what lies deep. */
export class KnownResources {
  readonly users: FuzzUser[] = []
  readonly boards: KnownBoard[] = []
  /** Tags and keys that were seen or used. */
  readonly tags: string[] = ['"0"']
  readonly keys: string[] = []

  addBoard(id: string, owner: FuzzUser) {
    this.boards.push({ id, ids: new Map(), members: [owner], resourceCount: 0 })
  }

  /** Somebody came to a board, or went. */
  setMembership({ members }: KnownBoard, user_id: unknown, isThere: boolean) {
    const at = members.findIndex(({ id }) => id === user_id)
    const person = this.users.find(({ id }) => id === user_id)
    if (isThere && at === -1 && person) members.push(person)
    else if (!isThere && at !== -1 && members.length > 1) members.splice(at, 1)
  }

  /** The board that has become too much, if there is one. */
  get fullBoard(): KnownBoard | undefined {
    const full = this.boards.find(({ resourceCount }) => resourceCount > MADE_AT_MOST)
    return full ?? (this.boards.length > BOARDS_AT_MOST ? this.boards[0] : undefined)
  }

  forget(board_id: string) {
    const at = this.boards.findIndex((board) => board.id === board_id)
    if (at !== -1) this.boards.splice(at, 1)
  }

  /** A board on which there is something for each field of a path, if there is one. */
  boardFor(fields: readonly { name: string }[], random: Random): KnownBoard | undefined {
    const needed = fields.map(({ name }) => name).filter((name) => kinds.includes(name))
    const fitting = this.boards.filter(({ ids }) => needed.every((name) => (ids.get(name)?.length ?? 0) > 0))
    const all = fitting.length > 0 ? fitting : this.boards
    return all.length > 0 ? random.pick(all) : undefined
  }

  /** Something that was made on a board. */
  add(board: KnownBoard, parameter: string, id: string) {
    const ids = board.ids.get(parameter) ?? []
    board.ids.set(parameter, [...ids, id].slice(-KEPT))
    board.resourceCount++
  }

  /** Something that is gone. Sometimes it stays in mind, as with a client that has not heard of it. */
  remove(board: KnownBoard, parameter: string, id: string, random: Random) {
    const ids = board.ids.get(parameter)
    if (ids && random.below(5) > 0)
      board.ids.set(
        parameter,
        ids.filter((other) => other !== id),
      )
  }

  /** An id for a parameter or field, of the board unless chance says otherwise: `action_column_id` is a `column_id`. */
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

const kinds = ['column_id', 'card_id', 'label_id', 'checklist_id', 'item_id', 'attachment_id', 'rule_id']

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
