import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { isLockstepError } from '@lockstep/client'
import { type Change, type FullBoard, type LiveBoard, openBoard } from '@lockstep/client/live'
import { operations } from '@lockstep/contract'
import { randomChange } from '@lockstep/testing/client/random-change'
import { eventually } from '@lockstep/testing/processes'
import { type Random, seeded } from '@lockstep/testing/random'
import { ClientSocket } from './client-socket.ts'
import { createSharedBoard, logInAndOut, register, type SharedBoard, type SoakUser } from './users.ts'

export interface WorkloadSize {
  people: number
  boards: number
  /** Actions started per second, whether or not earlier ones have finished (open loop). */
  rate: number
  /** Percentage of actions that open a live board. */
  liveShare: number
  /** Mean duration of a visit to a live board, and mean time between changes. */
  stayS: number
  thinkS: number
}
export interface WorkloadOptions extends WorkloadSize {
  seed: number
  baseUrls: string[]
}
/** The actions of the workload and their results so far. */
export interface WorkloadReport {
  actions: Record<string, number>
  /** Expected rejections by problem code, caused by concurrent changes of other users. */
  rejections: Record<string, number>
  /** Outcomes of changes through live boards. */
  settled: Record<string, number>
  live: number
  /**
   * Counts of 304 responses, cut connections, stalled readers, reconnected sockets, and live boards compared with
   * GET.
   */
  unchanged: number
  cuts: number
  stalls: number
  reconnects: number
  compared: number
  failures: string[]
}

export const emptyReport = (): WorkloadReport => ({
  actions: {},
  rejections: {},
  settled: {},
  live: 0,
  unchanged: 0,
  cuts: 0,
  stalls: 0,
  reconnects: 0,
  compared: 0,
  failures: [],
})

interface Visit {
  person: SoakUser
  board: SharedBoard
  live: LiveBoard
  socket: ClientSocket
}
const MAX = { cards: 40, columns: 6, labels: 8, rules: 3, files: 2, file_bytes: 200_000, atOnce: 300 }
/** Statuses that concurrent changes of other users can cause. */
const REFUSALS = [403, 404, 409, 410, 412]
/** One in this many changes on a live board is followed by this. */
const ONE_IN = { cut: 30, sleep: 150, undo: 15 }
const SETTLE_MS = 60_000

/** Users who act like real ones, at random times: an open loop, which a slow service does not slow down. */
export class Workload {
  readonly report = emptyReport()
  private readonly options: WorkloadOptions
  private readonly random: Random
  private users: SoakUser[] = []
  private boards: SharedBoard[] = []
  private readonly visits = new Set<Visit>()
  private readonly inFlight = new Set<Promise<void>>()
  private readonly over = new AbortController()
  private running: Promise<void> = Promise.resolve()

  /** The actions, and their shares in percent. */
  private readonly actions: Record<string, [share: number, act: () => Promise<unknown>]>

  constructor(options: WorkloadOptions) {
    this.options = options
    this.random = seeded(options.seed)
    this.actions = {
      'look at a board': [30, () => this.readBoard(this.randomBoard())],
      'change a board by a call': [25, () => this.change()],
      'follow a live board': [options.liveShare, () => this.visitLiveBoard()],
      'search cards': [8, () => this.search()],
      'list boards and labels': [6, () => this.list()],
      'read the history': [4, () => this.readHistory()],
      'edit a card unless it was changed': [7, () => this.edit()],
      'attach and fetch a file': [4, () => this.attach()],
      'find people, see who is here': [3, () => this.findPeople()],
      'log in and out': [2, () => logInAndOut(this.random.pick(this.users))],
      'renew a session': [2, () => this.random.pick(this.users).client.session.renew()],
      'invite and remove': [2, () => this.inviteOrRemove()],
      'make and delete rules': [1.75, () => this.changeRules()],
      'make and delete a board': [0.25, () => this.replaceBoard()],
    }
  }

  async start() {
    const { people, boards, baseUrls } = this.options
    for (let i = 0; i < people; i++) this.users.push(await register(baseUrls[i % baseUrls.length] as string))
    for (let i = 0; i < boards; i++) this.boards.push(await createSharedBoard(this.users, this.random))
    this.running = this.runActions()
  }

  /** Waits for pending actions. Then every live board must equal the board of the service. */
  async stop() {
    this.over.abort()
    await this.running
    await Promise.all(this.inFlight)
    await Promise.all([...this.visits].map((visit) => this.compareAtEnd(visit)))
    for (const visit of this.visits) await this.leave(visit)
    for (const { client } of this.users) client.close()
  }

  /** Starts every action once, then random actions at random times. */
  private async runActions() {
    const first = Object.keys(this.actions)
    let at = performance.now()
    while (!this.over.signal.aborted) {
      at += (this.exponential(1) / this.options.rate) * 1_000
      await this.wait(Math.max(0, at - performance.now()))
      if (this.over.signal.aborted) return
      this.startAction(first.shift() ?? this.randomAction())
    }
  }

  private startAction(name: string) {
    const { actions, failures } = this.report
    // Visits are long, so they are not counted.
    if (this.inFlight.size - this.visits.size > MAX.atOnce) {
      failures.push(`${name} was not begun: ${MAX.atOnce} things are under way`)
      return
    }
    const [, act] = this.actions[name] as [number, () => Promise<unknown>]
    const done: Promise<void> = act()
      .then(
        () => {},
        (error: unknown) => this.onError(name, error),
      )
      .finally(() => {
        count(actions, name)
        this.inFlight.delete(done)
      })
    this.inFlight.add(done)
  }

  private onError(name: string, error: unknown): undefined {
    if (isLockstepError(error) && REFUSALS.includes(error.status)) {
      count(this.report.rejections, `${error.status} ${error.code}`)
      return
    }
    const said = isLockstepError(error) ? `${error.status} ${error.code}: ${error.detail}` : (error as Error).stack
    this.report.failures.push(`${name}: ${said}`)
  }

  private randomAction(): string {
    const entries = Object.entries(this.actions)
    let left = this.random.next() * entries.reduce((sum, [, [share]]) => sum + share, 0)
    const found = entries.find(([, [share]]) => {
      left -= share
      return left < 0
    })
    return (found ?? entries[0])?.[0] as string
  }

  /** Some boards are chosen more often than others. */
  private randomBoard = () => this.boards[Math.floor(this.boards.length * this.random.next() ** 2)] as SharedBoard
  private randomMember = ({ owner, members, guest }: SharedBoard) =>
    this.random.pick([owner, ...members, ...members, guest])

  /** Reads a board, with a conditional request if it is known. */
  private async readBoard(board: SharedBoard, person: SoakUser = this.random.pick(board.members)): Promise<FullBoard> {
    const { known } = board
    const response = await person.client.request('getBoard', { board_id: board.id }, { ifNoneMatch: known?.etag })
    if (response.isModified) {
      board.known = { etag: response.etag, data: response.data }
      return response.data
    }
    this.report.unchanged++
    return (known as NonNullable<typeof known>).data
  }

  private async change() {
    const board = this.randomBoard()
    const person = this.randomMember(board)
    const change = this.nextChange(board, await this.readBoard(board))
    if (!change) return
    const { name, input } = change
    const { path } = operations[name]
    await person.client.request(name, { ...(path.includes('{board_id}') && { board_id: board.id }), ...input } as never)
  }

  /** A random change to a board. Deletes first if there is too much on it, so that boards keep their size. */
  private nextChange({ members }: SharedBoard, view: FullBoard): Change | undefined {
    const { pick, below } = this.random
    const cards = view.columns.flatMap((column) => column.cards)
    if (cards.length > MAX.cards) return { name: 'deleteCard', input: { card_id: pick(cards).id } }
    if (view.columns.length > MAX.columns) return { name: 'deleteColumn', input: { column_id: pick(view.columns).id } }
    if (view.labels.length > MAX.labels) return { name: 'deleteLabel', input: { label_id: pick(view.labels).id } }
    return randomChange(
      view,
      below,
      () => randomUUID(),
      members.map(({ id }) => id),
    )
  }

  private async search() {
    const board = this.randomBoard()
    const { client, id } = this.random.pick(board.members)
    const asked = [{ search: `text ${this.random.below(100)}` }, { assignee: id }, { search: 'card' }]
    await client.findCards({ board_id: board.id, limit: 20, ...this.random.pick(asked) })
  }

  private async list() {
    const board = this.randomBoard()
    const { client } = this.random.pick(board.members)
    await client.listBoards()
    await client.countLabels({ board_id: board.id })
    await client.listMembers({ board_id: board.id })
  }

  private async readHistory() {
    const board = this.randomBoard()
    const { client } = this.random.pick(board.members)
    for await (const events of client.pages('listEvents', { board_id: board.id, limit: 100 }))
      if (events.length < 100 || this.over.signal.aborted) break
    await client.listRuns({ board_id: board.id, limit: 20 })
  }

  private async edit() {
    const board = this.randomBoard()
    const card = this.randomCard(await this.readBoard(board))
    if (!card) return
    const { client } = this.random.pick(board.members)
    const { etag } = await client.request('getCard', { card_id: card.id })
    const description = `text ${this.random.below(1_000)} `.repeat(1 + this.random.below(100))
    await client.updateCard({ card_id: card.id, description }, { ifMatch: etag })
  }

  private async attach() {
    const board = this.randomBoard()
    const card = this.randomCard(await this.readBoard(board))
    if (!card) return
    const { client } = this.random.pick(board.members)
    const [oldest] = card.attachments
    if (oldest && card.attachments.length >= MAX.files) await client.deleteAttachment({ attachment_id: oldest.id })
    const bytes = randomBytes(1 + this.random.below(MAX.file_bytes))
    const { id } = await client.createAttachment({ card_id: card.id, file: new File([bytes], 'some bytes.bin') })
    const fetched = await client.getAttachment({ attachment_id: id })
    if (!bytes.equals(Buffer.from(await fetched.arrayBuffer()))) throw new Error('The file came back as another one')
  }

  private randomCard(view: FullBoard) {
    const cards = view.columns.flatMap((column) => column.cards)
    return cards.length > 0 ? this.random.pick(cards) : undefined
  }

  private async findPeople() {
    const board = this.randomBoard()
    const { client } = this.random.pick(board.members)
    await client.findUsers({ search: `soak-${this.random.below(16).toString(16)}`, limit: 10 })
    await client.getPresence({ board_id: board.id })
  }

  private async inviteOrRemove() {
    const { id: board_id, owner, guest } = this.randomBoard()
    const members = await owner.client.listMembers({ board_id })
    const user_id = guest.id
    if (members.some((member) => member.user_id === user_id)) await owner.client.removeMember({ board_id, user_id })
    else await owner.client.inviteMember({ board_id, user_id })
  }

  private async changeRules() {
    const board = this.randomBoard()
    const { client } = board.owner
    const [{ columns, labels }, rules] = [await this.readBoard(board), await client.listRules({ board_id: board.id })]
    const [column, label] = [this.random.pick(columns), this.random.pick(labels)]
    const oldest = rules[0]
    if (oldest && rules.length >= MAX.rules) await client.deleteRule({ rule_id: oldest.id })
    if (!column || !label) return
    const action = this.random.below(2)
      ? ({ action_type: 'MOVE_TO_COLUMN', action_column_id: column.id } as const)
      : ({ action_type: 'ASSIGN_MEMBER', action_user_id: board.owner.id } as const)
    await client.createRule({
      board_id: board.id,
      name: 'Do this',
      trigger_type: 'LABEL_ADDED',
      trigger_label_id: label.id,
      ...action,
    })
  }

  /** Replaces a board by a new one, and deletes the old one with its log and files. */
  private async replaceBoard() {
    const made = await createSharedBoard(this.users, this.random)
    const [oldest] = this.boards.splice(this.random.below(this.boards.length), 1, made)
    if (oldest) await oldest.owner.client.deleteBoard({ board_id: oldest.id })
  }

  /** Visits a live board for a while, changes it, and sometimes loses the connection. */
  private async visitLiveBoard() {
    const board = this.randomBoard()
    const person = this.randomMember(board)
    const socket = new ClientSocket()
    const environment = { openSocket: socket.openSocket, random: this.random.next }
    const live = await openBoard(person.client, board.id, { environment })
    const visit = { person, board, live, socket }
    this.visits.add(visit)
    this.report.live++
    const until = performance.now() + this.exponential(this.options.stayS * 1_000)
    for (;;) {
      await this.wait(this.exponential(this.options.thinkS * 1_000))
      // Open visits are compared by `stop`.
      if (this.over.signal.aborted) return
      if (performance.now() > until || live.status.phase === 'closed') break
      this.changeLive(visit)
    }
    // Some users disconnect without closing.
    if (this.random.below(4) === 0) socket.cut()
    else await this.compare(visit)
    await this.leave(visit)
  }

  private changeLive({ board, live, socket }: Visit) {
    const { below } = this.random
    const change = live.view && live.status.phase !== 'closed' && this.nextChange(board, live.view)
    const made = change ? [live.change(change.name, change.input as never)] : []
    if (below(ONE_IN.undo) === 0) made.push(...live.undo())
    for (const { done } of made) void done.then(({ outcome }) => count(this.report.settled, outcome))
    for (const { key } of live.failedChanges) live.dismiss(key)
    if (below(ONE_IN.cut) === 0) {
      this.report.cuts++
      socket.cut()
    } else if (below(ONE_IN.sleep) === 0) {
      this.report.stalls++
      socket.stall()
    }
  }

  private async leave(visit: Visit) {
    await visit.live.close()
    this.visits.delete(visit)
    this.report.live--
    this.report.reconnects += visit.socket.opened - 1
  }

  /** Compares a live board with GET, if both are at the same position. */
  private async compare({ person, board, live }: Visit) {
    const isSettled = live.status.phase === 'live' && live.status.pending === 0
    const read = () => person.client.request('getBoard', { board_id: board.id })
    // After a removal or the deletion of the board there is nothing to compare.
    const now = isSettled ? await read().catch((error: unknown) => this.onError('compare', error)) : undefined
    if (now?.position === undefined || now.position !== live.position) return false
    this.report.compared++
    if (!isDeepStrictEqual(live.view, now.data))
      this.report.failures.push(`a live board at ${now.position} shows another board than GET`)
    return true
  }

  /** After all writes: the live board must catch up after one more lost connection, and equal GET. */
  private async compareAtEnd(visit: Visit) {
    const { live, socket } = visit
    const { opened } = socket
    socket.cut()
    const isRight = async () =>
      live.status.phase === 'closed' || (socket.opened > opened && (await this.compare(visit)))
    await eventually('a live board is where its board is', isRight, SETTLE_MS).catch((error: Error) =>
      this.report.failures.push(`${error.message}: ${JSON.stringify(live.status)}`),
    )
  }

  private exponential = (mean: number) => -Math.log(1 - this.random.next()) * mean
  private wait = (ms: number) => pause(ms, undefined, { signal: this.over.signal }).catch(() => {})
}

function count(counts: Record<string, number>, name: string) {
  counts[name] = (counts[name] ?? 0) + 1
}
