import { isDeepStrictEqual } from 'node:util'
import {
  type BoardCore,
  isBefore,
  type Kept,
  keptOf,
  type Notice,
  type Pending,
  type Position,
} from '../../../client/src/live/core.ts'
import type { BoardEvent, Change, FullBoard } from '../../../client/src/live/types.ts'
import { type Answer, clone, type Place, wasImpossible } from './model-server.ts'
import { choose, listOf, withoutAnchor } from './random-change.ts'
import { generator, smallServer, users } from './small-board.ts'

/** The class under test, or a mutant of it. */
export type CoreClass = new (kept?: readonly Kept[]) => BoardCore

export interface Outcome {
  violations: string[]
  steps: number
  changes: number
  events: number
  rejected: number
  gone: number
  lost: number
  loads: number
  reloads: number
  restores: number
  /** Pages that began with a stored board, and boards that were answered from a cache: both may be old. */
  stored: number
  stale: number
  confirmations: number
  acknowledgements: number
  anchors: number
  room: number
  /** Events that a client took for its own, and those that it did not. */
  own: number
  foreign: number
}
interface Options {
  /** The server says nothing of the neighbours that made room, as the bare specification has it. */
  announcesRoom?: boolean
  /** Pings carry no number. */
  pingsHaveSeq?: boolean
  /** Moves are sent with an index alone. */
  sendsAnchors?: boolean
  /** What is sent again is sent under a new key. */
  keepsKeys?: boolean
}

interface Request {
  key: string
  change: Change
  state: 'going' | 'coming' | 'lost'
  answer?: Answer
}
interface Client {
  name: string
  user_id: string
  core: BoardCore
  is_connected: boolean
  socket: { event: BoardEvent; epoch: number }[]
  requests: Request[]
  /** Answers to reads that are on their way, with what they will bring. */
  reads: (() => void)[]
  /** Grows whenever a whole board is loaded: what is compared before and after must not span it. */
  loads: number
  loads_when_sent: Map<string, number>
  /** The board as the page stored it last. */
  stored: { board: FullBoard; position: Position } | undefined
  /** Changes that the user made and nobody has decided about, with the position that they were made at. */
  open: Map<string, { change: Change; at: Position }>
  /** Changes of this visit, or taken up from the queue of the one before: those that it sent itself it no longer knows. */
  own: Set<string>
  last_view: FullBoard | undefined
  last_at: Position | undefined
}

const PAGE = 8
/** One run: up to four clients of one server over a network that loses, repeats, reorders and breaks off; then it heals. */
export function simulate(seed: number, Core: CoreClass, options: Options = {}): Outcome {
  const { announcesRoom = true, pingsHaveSeq = true, sendsAnchors = true, keepsKeys = true } = options
  const random = generator(seed)
  const below = (n: number) => Math.floor(random() * n)
  const chance = (p: number) => random() < p
  const outcome: Outcome = {
    violations: [],
    steps: 0,
    changes: 0,
    events: 0,
    rejected: 0,
    gone: 0,
    lost: 0,
    loads: 0,
    reloads: 0,
    restores: 0,
    stored: 0,
    stale: 0,
    confirmations: 0,
    acknowledgements: 0,
    anchors: 0,
    room: 0,
    own: 0,
    foreign: 0,
  }
  const violation = (text: string) => {
    if (outcome.violations.length < 5) outcome.violations.push(`seed ${seed}, step ${outcome.steps}: ${text}`)
  }
  let made = 0
  const newId = (kind: string) => `${kind}-${made++}`

  const count = 1 + below(4)
  const isOneUser = chance(0.4)
  const server = smallServer(announcesRoom)
  let announced = server.seq
  /** What the user saw before the place where he dropped something. */
  const wanted = new Map<string, string | null>()
  const texts = new Map<string, string>()
  const makers = new Map<string, { key: string; client: string; does: string }>()
  const notices = new Map<string, Notice>()
  /** Keys that the server answered. */
  const answered = new Set<string>()
  /** Changes that were given up although nothing on the server stood against them: what the user did before may still do so. */
  let doubtful: { name: string; change: Change; at: Position }[] = []

  const clients: Client[] = Array.from({ length: count }, (_, i) => ({
    name: `client ${i}`,
    user_id: isOneUser ? 'user-0' : `user-${i}`,
    core: new Core(),
    is_connected: true,
    socket: [],
    requests: [],
    reads: [],
    loads: 0,
    loads_when_sent: new Map(),
    stored: undefined,
    open: new Map(),
    own: new Set(),
    last_view: undefined,
    last_at: undefined,
  }))
  for (const client of clients) listen(client)

  function listen(client: Client) {
    const { core, name, user_id } = client
    core.user_id = user_id
    core.told = (event, is_own) => {
      if (!event || core.at.epoch !== server.epoch) return
      const logged = server.log[event.seq - 1]
      const maker = logged?.is_own ? makers.get(logged.key.replace(/\/.*/, '')) : undefined
      const isMine = maker?.client === name && client.own.has(maker.key)
      outcome[isMine ? 'own' : 'foreign']++
      // Two tabs of one user, or a visit and the one before, that do the same to the same thing cannot be told apart.
      const isAlike = core.pending.some(({ attempts, change }) => attempts > 0 && change.name === maker?.does)
      if (isMine ? !is_own : is_own && !(event.user_id === user_id && isAlike))
        violation(`${name} is wrong about whose ${event.type} is`)
    }
  }

  function announce() {
    for (; announced < server.seq; announced++) {
      const { event } = server.log[announced] ?? {}
      outcome.events++
      if (event?.user_id === null && event.type.endsWith('.moved')) outcome.room++
      for (const client of clients) if (client.is_connected && event) client.socket.push({ event, epoch: server.epoch })
    }
  }

  // What a client shows, without what only the server can know.
  const visible = (board: FullBoard | undefined) =>
    JSON.stringify(board, (key, value: unknown) =>
      ['rank', 'created_at', 'updated_at', 'updated_by'].includes(key) ? undefined : value,
    )

  /** What a client shows, looked at every time that it may have changed. */
  function look(client: Client) {
    const { core, name, last_view } = client
    const { view } = core
    if (view && last_view && view !== last_view) checkSharing(name, last_view, view)
    client.last_view = view
    return view
  }
  function check(client: Client) {
    const { core, name } = client
    const { at, base } = core
    look(client)
    const { last_at } = client
    if (last_at && (at.epoch < last_at.epoch || (at.epoch === last_at.epoch && at.seq < last_at.seq)))
      violation(`${name} went back from ${last_at.seq} to ${at.seq}`)
    if (base && at !== last_at && at.epoch === server.epoch && !isDeepStrictEqual(base, server.history[at.seq]))
      violation(`${name} has a base that is not the board at ${at.seq}`)
    client.last_at = at
    checkFates(client)
    for (const notice of core.notices) {
      notices.set(notice.key, notice)
      const text = texts.get(notice.key)
      if (text && !notice.text.includes(text)) violation(`${name} lost the text of a change that failed`)
    }
  }
  /** What a client does not try any more has happened, was refused, or cannot be. */
  function checkFates({ core, name, open }: Client) {
    const pending = new Set(core.pending.map(({ key }) => key))
    for (const [key, { change, at }] of open) {
      if (pending.has(key)) continue
      open.delete(key)
      if (!answered.has(key) && !wasImpossible(server, change, at)) doubtful.push({ name, change, at })
    }
  }
  /** What is equal to what it was is the very same object: whoever draws it need not look at it. */
  function checkSharing(name: string, before: FullBoard, view: FullBoard) {
    const old = new Map(before.columns.flatMap((column) => column.cards).map((card) => [card.id, card]))
    for (const card of view.columns.flatMap((column) => column.cards)) {
      const other = old.get(card.id)
      if (other && other !== card && isDeepStrictEqual(other, card))
        violation(`${name} made ${card.id} anew for nothing`)
    }
  }

  function deliver(client: Client, event: BoardEvent, epoch: number) {
    const { core, name } = client
    const { at, pending } = core
    const logged = epoch === server.epoch ? server.log[event.seq - 1] : undefined
    const operation = pending.find(({ key, is_seen }) => key === logged?.key && !is_seen)
    if (!operation || !logged?.is_own) return core.take(event, epoch)
    const before = visible(look(client))
    core.take(event, epoch)
    const isOne = core.at.seq === at.seq + 1 && core.at.seq === event.seq && core.at.epoch === at.epoch
    if (!isOne) return
    outcome.confirmations++
    if (visible(look(client)) !== before)
      violation(`${name} sees something move when ${operation.change.name} is confirmed`)
  }

  function send(client: Client, operation: Pending) {
    client.core.sent(operation.key)
    if (!client.loads_when_sent.has(operation.key)) client.loads_when_sent.set(operation.key, client.loads)
    const change = sendsAnchors ? operation.change : withoutAnchor(operation.change)
    const key = keepsKeys ? operation.key : `${operation.key}/${operation.attempts}`
    client.requests.push({ key, change, state: 'going' })
  }
  function arrive(client: Client, request: Request) {
    const isNew = !server.applied.has(request.key)
    const target = listOf(server.board, request.change)
    request.answer = server.execute(client.user_id, request.key, request.change)
    request.state = 'coming'
    if (isNew && request.answer.ok) checkAnchor(request, target)
    announce()
  }
  /** Behind the neighbour that the user saw, if it was still there. */
  function checkAnchor({ key, change }: Request, target: string[] | undefined) {
    const anchor = wanted.get(key)
    if (anchor === undefined || !target || (anchor !== null && !target.includes(anchor))) return
    outcome.anchors++
    const own = server.log.findLast((logged) => logged.key === key && logged.is_own)
    const list = own && listOf(server.history[own.event.seq] as FullBoard, change, true)
    const id = own && (own.event.data as { id: string }).id
    if (list && id && (list[list.indexOf(id) - 1] ?? null) !== anchor)
      violation(`${change.name} landed beside somebody else than the user saw`)
  }
  function comeBack(client: Client, request: Request, isLost: boolean) {
    const { core, name } = client
    client.requests.splice(client.requests.indexOf(request), 1)
    const key = keepsKeys ? request.key : request.key.replace(/\/.*/, '')
    const { answer } = request
    if (isLost || !answer) {
      outcome.lost++
      return core.lost(key)
    }
    answered.add(key)
    if (!answer.ok) {
      outcome.rejected++
      const others = core.pending.filter((operation) => operation.key !== key).map((operation) => operation.key)
      core.reject(key, { status: answer.status, code: answer.code, detail: answer.code })
      if (core.pending.some((operation) => operation.key === key)) violation(`${name} keeps what was rejected`)
      if (others.some((other) => core.pending.every((operation) => operation.key !== other)))
        violation(`${name} lost another change with the rejected one`)
      return
    }
    const before = visible(look(client))
    const isComparable = client.loads_when_sent.get(key) === client.loads && answer.emitted > 0
    core.accept(key, answer)
    if (!isComparable || answer.epoch !== server.epoch) return
    outcome.acknowledgements++
    if (visible(look(client)) !== before) violation(`${name} sees a change when ${request.change.name} is answered`)
  }

  /** Asks for what is missing. What is read and when it arrives are two moments. */
  function ask(client: Client) {
    const { core, reads } = client
    if (core.missing === 'nothing' || reads.length > 2) return
    const { epoch, seq } = core.at
    const events = core.missing === 'events' && !chance(0.12) ? server.eventsAfter(epoch, seq, PAGE) : undefined
    if (events) {
      reads.push(() => {
        for (const event of events) deliver(client, event, epoch)
      })
      return
    }
    // A cache on the way may answer.
    const isStale = chance(0.1)
    const seq_read = isStale ? Math.max(server.first_seq, server.seq - below(20)) : server.seq
    if (isStale) outcome.stale++
    const [board, position] = [clone(server.history[seq_read] as FullBoard), { epoch: server.epoch, seq: seq_read }]
    reads.push(() => {
      outcome.loads++
      client.loads++
      core.load(board, position)
    })
  }

  function keyOf(client: Client, change: Change) {
    const key = newId('key')
    makers.set(key, { key, client: client.name, does: change.name })
    client.own.add(key)
    client.open.set(key, { change, at: client.core.at })
    return key
  }
  function act(client: Client) {
    const { core } = client
    const view = look(client)
    if (!view) return
    if (chance(0.08) && core.can_undo) {
      for (const change of core.undo()) core.change(keyOf(client, change), change, AT, 'undo')
      return
    }
    const again = chance(0.2) ? core.redo() : undefined
    if (again) return core.change(keyOf(client, again.change), again.change, AT, 'redo')
    const change = choose(view, below, newId, users)
    if (!change) return
    const key = keyOf(client, change)
    outcome.changes++
    const { position, title, content } = change.input as Place & { title?: string; content?: string }
    const list = listOf(view, change)
    if (list && position != null) wanted.set(key, list[Math.min(position, list.length) - 1] ?? null)
    const text = title ?? content
    if (text) texts.set(key, text)
    core.change(key, change, AT)
  }

  /** The page keeps the board for the next visit, unless there is a newer one. */
  function store(client: Client) {
    const { base, at } = client.core
    const { position } = client.stored ?? {}
    if (!base || (position && isBefore(at, position))) return
    client.stored = { board: clone(base), position: at }
  }

  /** The page is reloaded: only the queue is left, and the stored board. */
  function reload(client: Client) {
    outcome.reloads++
    const kept = JSON.parse(JSON.stringify(client.core.pending.map(keptOf))) as Kept[]
    Object.assign(client, { core: new Core(kept), socket: [], requests: [], reads: [] })
    listen(client)
    client.own = new Set(kept.map(({ key }) => key))
    client.last_view = undefined
    client.last_at = undefined
    client.loads++
    if (client.stored && chance(0.5)) {
      outcome.stored++
      client.core.load(clone(client.stored.board), client.stored.position)
    }
    client.core.hear({ epoch: server.epoch, seq: server.seq })
  }

  /** A backup is put back. */
  function restore() {
    outcome.restores++
    doubtful = []
    server.restore(Math.max(0, server.seq - below(25)))
    announced = server.seq
  }

  function step(client: Client) {
    const { core, socket, requests, reads } = client
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return act(client)
      case 4:
      case 5: {
        const operation = core.next()
        return operation && send(client, operation)
      }
      case 6:
      case 7: {
        const request = requests.find(({ state }) => state === 'going')
        if (!request) return
        if (chance(0.1)) request.state = 'lost'
        else arrive(client, request)
        return
      }
      case 8:
      case 9: {
        const request = requests.find(({ state }) => state !== 'going')
        return request && comeBack(client, request, request.state === 'lost' || chance(0.15))
      }
      case 10:
      case 11:
      case 12: {
        for (let n = 1 + below(4); n > 0 && socket.length > 0; n--) {
          const [{ event, epoch }] = socket.splice(chance(0.1) && socket.length > 1 ? 1 : 0, 1) as [Client['socket'][0]]
          if (chance(0.06)) continue
          deliver(client, event, epoch)
          if (chance(0.08)) deliver(client, event, epoch)
        }
        return
      }
      case 13: {
        client.is_connected = !client.is_connected
        socket.length = 0
        if (chance(0.5)) store(client)
        if (client.is_connected) core.hear({ epoch: server.epoch, seq: server.seq })
        return
      }
      case 14:
        if (chance(0.3) && pingsHaveSeq) core.hear({ epoch: server.epoch, seq: server.seq })
        ask(client)
        return chance(0.5) ? reads.splice(below(reads.length), 1)[0]?.() : undefined
      default:
        if (chance(0.1)) return reload(client)
        return reads.splice(below(reads.length), 1)[0]?.()
    }
  }

  for (const client of clients) {
    ask(client)
    for (const read of client.reads.splice(0)) read()
  }
  for (let steps = 120 + below(160); outcome.steps < steps && outcome.violations.length === 0; outcome.steps++) {
    const client = clients[below(count)] as Client
    step(client)
    check(client)
    if (chance(0.0008)) restore()
  }
  if (chance(0.2)) restore()
  heal()
  // One more event that nobody is told of, and nothing that follows: the next ping must do.
  server.execute('user-3', 'silent', { name: 'updateBoard', input: { title: 'silent' } })
  announced = server.seq
  heal()
  for (const { core, name } of clients) {
    if (core.pending.length > 0) violation(`${name} still waits for ${core.pending.length} changes after all is well`)
    if (!isDeepStrictEqual(core.view, server.board)) violation(`${name} does not show the server's board in the end`)
  }
  for (const { name, change, at } of doubtful)
    if (!wasImpossible(server, change, at)) violation(`${name} gave up ${change.name}, which could have been made`)
  for (const [key, times] of server.applied) {
    if (!keepsKeys && key.includes('/') && server.applied.has(key.replace(/\d+$/, (n) => String(Number(n) + 1))))
      violation(`${key} was applied under two keys`)
    if (times > 1) violation(`${key} was applied ${times} times`)
  }
  outcome.gone = [...notices.values()].filter(({ reason }) => reason === 'gone').length
  return outcome

  function heal() {
    for (let round = 0, isBusy = true; isBusy && round < 400 && outcome.violations.length === 0; round++) {
      isBusy = false
      for (const client of clients) {
        const { core, socket, requests, reads } = client
        if (!client.is_connected) socket.length = 0
        client.is_connected = true
        if (pingsHaveSeq) core.hear({ epoch: server.epoch, seq: server.seq })
        const operation = core.next()
        if (operation) send(client, operation)
        for (const request of [...requests]) {
          if (request.state === 'going') arrive(client, request)
          comeBack(client, request, request.state === 'lost')
        }
        for (const { event, epoch } of socket.splice(0)) deliver(client, event, epoch)
        if (reads.length === 0) ask(client)
        isBusy ||= operation !== undefined || reads.length > 0 || core.pending.length > 0 || core.missing !== 'nothing'
        for (const read of reads.splice(0)) read()
        check(client)
      }
    }
  }
}

const AT = '2026-01-02T00:00:00.000Z'
