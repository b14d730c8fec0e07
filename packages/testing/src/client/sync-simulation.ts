import { isDeepStrictEqual } from 'node:util'
import {
  type BoardCore,
  type FailedChange,
  isBefore,
  type Pending,
  type Position,
  type QueuedChange,
  toQueued,
} from '../../../client/src/live/core.ts'
import type { BoardEvent, Change, FullBoard } from '../../../client/src/live/types.ts'
import { mulberry32 } from '../prng.ts'
import { clone, type ListPosition, type ModelResponse, wasImpossible } from './model-server.ts'
import { listOf, randomChange, withoutAnchor } from './random-change.ts'
import { smallServer, users } from './sample-board.ts'

/** The class under test, or a mutant. */
export type CoreClass = new (queued?: readonly QueuedChange[]) => BoardCore

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
  /** Pages that started with a stored board, and boards served by a cache: both may be old. */
  stored: number
  stale: number
  confirmations: number
  acknowledgements: number
  anchors: number
  room: number
  /** Events that a client considered its own, and other events. */
  own: number
  foreign: number
}
interface Options {
  /** The server emits events for neighbours that moved to make room. */
  emitsNeighbourMoves?: boolean
  /** Pings contain the sequence number. */
  pingsHaveSeq?: boolean
  /** Moves are sent with the neighbour the user saw. */
  sendsAnchors?: boolean
  /** A retry has the same idempotency key. */
  keepsKeys?: boolean
}

interface InFlightRequest {
  key: string
  change: Change
  state: 'going' | 'coming' | 'lost'
  response?: ModelResponse
}
interface SimulatedClient {
  name: string
  user_id: string
  core: BoardCore
  isConnected: boolean
  socket: { event: BoardEvent; epoch: number }[]
  requests: InFlightRequest[]
  /** Responses to reads in flight: calling one delivers it. */
  reads: (() => void)[]
  /** Increases when a whole board is loaded: views before and after it are not compared. */
  loads: number
  loadsWhenSent: Map<string, number>
  /** The last stored board. */
  stored: { board: FullBoard; position: Position } | undefined
  /** Undecided changes, with the position they are based on. */
  undecided: Map<string, { change: Change; at: Position }>
  /** Changes of this visit or of the restored queue. After a reload, earlier ones are unknown. */
  issued: Set<string>
  lastView: FullBoard | undefined
  lastPosition: Position | undefined
}

const PAGE = 8
/**
 * One run: up to four clients of one server over a network that loses, repeats, reorders and disconnects; then the
 * network heals.
 */
export function simulate(seed: number, Core: CoreClass, options: Options = {}): Outcome {
  const {
    emitsNeighbourMoves: announcesRoom = true,
    pingsHaveSeq = true,
    sendsAnchors = true,
    keepsKeys = true,
  } = options
  const random = mulberry32(seed)
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
  /** The neighbour that the user saw at the position of a drop. */
  const wanted = new Map<string, string | null>()
  const texts = new Map<string, string>()
  const makers = new Map<string, { key: string; client: string; name: string }>()
  const failedChanges = new Map<string, FailedChange>()
  /** Keys that got a response. */
  const responded = new Set<string>()
  /**
   * Changes dropped although the server could have applied them so far: earlier changes of the user may still prevent
   * it.
   */
  let doubtful: { name: string; change: Change; at: Position }[] = []

  const clients: SimulatedClient[] = Array.from({ length: count }, (_, i) => ({
    name: `client ${i}`,
    user_id: isOneUser ? 'user-0' : `user-${i}`,
    core: new Core(),
    isConnected: true,
    socket: [],
    requests: [],
    reads: [],
    loads: 0,
    loadsWhenSent: new Map(),
    stored: undefined,
    undecided: new Map(),
    issued: new Set(),
    lastView: undefined,
    lastPosition: undefined,
  }))
  for (const client of clients) listen(client)

  function listen(client: SimulatedClient) {
    const { core, name, user_id } = client
    core.userId = user_id
    core.onEvent = (event, isOwn) => {
      if (!event || core.position.epoch !== server.epoch) return
      const logged = server.log[event.seq - 1]
      const maker = logged?.isOwn ? makers.get(logged.key.replace(/\/.*/, '')) : undefined
      const isMine = maker?.client === name && client.issued.has(maker.key)
      outcome[isMine ? 'own' : 'foreign']++
      // Two tabs of one user, or two visits, that make the same change cannot be distinguished.
      const isSameKind = core.pending.some(({ attempts, change }) => attempts > 0 && change.name === maker?.name)
      if (isMine ? !isOwn : isOwn && !(event.user_id === user_id && isSameKind))
        violation(`${name} is wrong about the origin of ${event.type}`)
    }
  }

  function announce() {
    for (; announced < server.seq; announced++) {
      const { event } = server.log[announced] ?? {}
      outcome.events++
      if (event?.user_id === null && event.type.endsWith('.moved')) outcome.room++
      for (const client of clients) if (client.isConnected && event) client.socket.push({ event, epoch: server.epoch })
    }
  }

  // The view without the fields that only the server can know.
  /** The board as text, without what the server assigns. The order of fields does not matter. */
  const visible = (board: FullBoard | undefined) =>
    JSON.stringify(board, (key, value: unknown) => {
      if (['rank', 'number', 'created_at', 'updated_at', 'updated_by'].includes(key)) return undefined
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
      return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    })

  /** Reads the view, and checks structural sharing whenever it may have changed. */
  function readView(client: SimulatedClient) {
    const { core, name, lastView } = client
    const { view } = core
    if (view && lastView && view !== lastView) checkSharing(name, lastView, view)
    client.lastView = view
    return view
  }
  function check(client: SimulatedClient) {
    const { core, name } = client
    const { position: at, base } = core
    readView(client)
    const { lastPosition } = client
    if (
      lastPosition &&
      (at.epoch < lastPosition.epoch || (at.epoch === lastPosition.epoch && at.seq < lastPosition.seq))
    )
      violation(`${name} went back from ${lastPosition.seq} to ${at.seq}`)
    if (base && at !== lastPosition && at.epoch === server.epoch && !isDeepStrictEqual(base, server.history[at.seq]))
      violation(`${name} has a base that differs from the board at ${at.seq}`)
    client.lastPosition = at
    checkFates(client)
    for (const failed of core.failedChanges) {
      failedChanges.set(failed.key, failed)
      const text = texts.get(failed.key)
      if (text && !failed.text.includes(text)) violation(`${name} lost the text of a change that failed`)
    }
  }
  /** A change that is no longer pending must have been applied, rejected, or be impossible. */
  function checkFates({ core, name, undecided: open }: SimulatedClient) {
    const pending = new Set(core.pending.map(({ key }) => key))
    for (const [key, { change, at }] of open) {
      if (pending.has(key)) continue
      open.delete(key)
      if (!responded.has(key) && !wasImpossible(server, change, at)) doubtful.push({ name, change, at })
    }
  }
  /** Structural sharing: equal cards keep their object identity. */
  function checkSharing(name: string, before: FullBoard, view: FullBoard) {
    const old = new Map(before.columns.flatMap((column) => column.cards).map((card) => [card.id, card]))
    for (const card of view.columns.flatMap((column) => column.cards)) {
      const other = old.get(card.id)
      if (other && other !== card && isDeepStrictEqual(other, card))
        violation(`${name} replaced the equal card ${card.id}`)
    }
  }

  function deliver(client: SimulatedClient, event: BoardEvent, epoch: number) {
    const { core, name } = client
    const { position: at, pending } = core
    const logged = epoch === server.epoch ? server.log[event.seq - 1] : undefined
    const operation = pending.find(({ key, isReflected }) => key === logged?.key && !isReflected)
    if (!operation || !logged?.isOwn) return core.receive(event, epoch)
    const before = visible(readView(client))
    core.receive(event, epoch)
    const isOne =
      core.position.seq === at.seq + 1 && core.position.seq === event.seq && core.position.epoch === at.epoch
    // Others may have changed a card before it was deleted: then what is restored differs from what was shown.
    if (!isOne || operation.change.name === 'restoreRemoved') return
    outcome.confirmations++
    if (visible(readView(client)) !== before)
      violation(`${name} changes its view when ${operation.change.name} is confirmed`)
  }

  function send(client: SimulatedClient, operation: Pending) {
    client.core.markSent(operation.key)
    if (!client.loadsWhenSent.has(operation.key)) client.loadsWhenSent.set(operation.key, client.loads)
    const change = sendsAnchors ? operation.change : withoutAnchor(operation.change)
    const key = keepsKeys ? operation.key : `${operation.key}/${operation.attempts}`
    client.requests.push({ key, change, state: 'going' })
  }
  function executeRequest(client: SimulatedClient, request: InFlightRequest) {
    const isNew = !server.applied.has(request.key)
    const target = listOf(server.board, request.change)
    request.response = server.execute(client.user_id, request.key, request.change)
    request.state = 'coming'
    if (isNew && request.response.ok) checkAnchor(request, target)
    announce()
  }
  /** The item must be after the neighbour that the user saw, if it still exists. */
  function checkAnchor({ key, change }: InFlightRequest, target: string[] | undefined) {
    const anchor = wanted.get(key)
    if (anchor === undefined || !target || (anchor !== null && !target.includes(anchor))) return
    outcome.anchors++
    const own = server.log.findLast((logged) => logged.key === key && logged.isOwn)
    const list = own && listOf(server.history[own.event.seq] as FullBoard, change, true)
    const id = own && (own.event.data as { id: string }).id
    if (list && id && (list[list.indexOf(id) - 1] ?? null) !== anchor)
      violation(`${change.name} is not after the neighbour that the user saw`)
  }
  function receiveResponse(client: SimulatedClient, request: InFlightRequest, isLost: boolean) {
    const { core, name } = client
    client.requests.splice(client.requests.indexOf(request), 1)
    const key = keepsKeys ? request.key : request.key.replace(/\/.*/, '')
    const { response } = request
    if (isLost || !response) {
      outcome.lost++
      return core.requeue(key)
    }
    responded.add(key)
    if (!response.ok) {
      outcome.rejected++
      const others = core.pending.filter((operation) => operation.key !== key).map((operation) => operation.key)
      core.reject(key, { status: response.status, code: response.code, detail: response.code })
      if (core.pending.some((operation) => operation.key === key)) violation(`${name} keeps a rejected change`)
      if (others.some((other) => core.pending.every((operation) => operation.key !== other)))
        violation(`${name} lost another change with the rejected one`)
      return
    }
    const before = visible(readView(client))
    const isComparable = client.loadsWhenSent.get(key) === client.loads && response.emitted > 0
    core.accept(key, response)
    if (!isComparable || response.epoch !== server.epoch) return
    outcome.acknowledgements++
    if (visible(readView(client)) !== before)
      violation(`${name} changes its view when ${request.change.name} gets its response`)
  }

  /** Requests missing events or the board. Reading and delivering are separate steps. */
  function requestMissing(client: SimulatedClient) {
    const { core, reads } = client
    if (core.missing === 'nothing' || reads.length > 2) return
    const { epoch, seq } = core.position
    const events = core.missing === 'events' && !chance(0.12) ? server.eventsAfter(epoch, seq, PAGE) : undefined
    if (events) {
      reads.push(() => {
        for (const event of events) deliver(client, event, epoch)
      })
      return
    }
    // A cache may respond.
    const isStale = chance(0.1)
    const readSeq = isStale ? Math.max(server.firstSeq, server.seq - below(20)) : server.seq
    if (isStale) outcome.stale++
    const [board, position] = [clone(server.history[readSeq] as FullBoard), { epoch: server.epoch, seq: readSeq }]
    reads.push(() => {
      outcome.loads++
      client.loads++
      core.load(board, position)
    })
  }

  function keyOf(client: SimulatedClient, change: Change) {
    const key = newId('key')
    makers.set(key, { key, client: client.name, name: change.name })
    client.issued.add(key)
    client.undecided.set(key, { change, at: client.core.position })
    return key
  }
  function makeChange(client: SimulatedClient) {
    const { core } = client
    const view = readView(client)
    if (!view) return
    if (chance(0.08) && core.canUndo) {
      for (const change of core.undo()) core.change(keyOf(client, change), change, AT, 'undo')
      return
    }
    const again = chance(0.2) ? core.redo() : undefined
    if (again) return core.change(keyOf(client, again.change), again.change, AT, 'redo')
    const change = randomChange(view, below, newId, users)
    if (!change) return
    const key = keyOf(client, change)
    outcome.changes++
    const { position, title, content } = change.input as ListPosition & { title?: string; content?: string }
    const list = listOf(view, change)
    if (list && position != null) wanted.set(key, list[Math.min(position, list.length) - 1] ?? null)
    const text = title ?? content
    if (text) texts.set(key, text)
    core.change(key, change, AT)
    if (change.name !== 'createCard' || chance(0.7)) return
    // Changes that depend on the ones before them.
    const [card_id, checklist_id] = [change.input.id as string, newId('checklist')]
    const following: Change[] = [
      { name: 'updateCard', input: { card_id, description: 'More' } },
      { name: 'createChecklist', input: { id: checklist_id, card_id, title: 'Steps' } },
      { name: 'createItem', input: { id: newId('item'), checklist_id, content: 'First' } },
      { name: 'moveCard', input: { card_id, position: 0 } },
    ]
    for (const each of following) core.change(keyOf(client, each), each, AT)
  }

  /** Stores the board for the next visit, unless a newer one is stored. */
  function store(client: SimulatedClient) {
    const { base, position: at } = client.core
    const { position } = client.stored ?? {}
    if (!base || (position && isBefore(at, position))) return
    client.stored = { board: clone(base), position: at }
  }

  /** Reloads the page: only the queue and the stored board remain. */
  function reload(client: SimulatedClient) {
    outcome.reloads++
    const queued = JSON.parse(JSON.stringify(client.core.pending.map(toQueued))) as QueuedChange[]
    Object.assign(client, { core: new Core(queued), socket: [], requests: [], reads: [] })
    listen(client)
    client.issued = new Set(queued.map(({ key }) => key))
    client.lastView = undefined
    client.lastPosition = undefined
    client.loads++
    if (client.stored && chance(0.5)) {
      outcome.stored++
      client.core.load(clone(client.stored.board), client.stored.position)
    }
    client.core.observePosition({ epoch: server.epoch, seq: server.seq })
  }

  /** Restores a backup. */
  function restore() {
    outcome.restores++
    doubtful = []
    server.restore(Math.max(0, server.seq - below(25)))
    announced = server.seq
  }

  function step(client: SimulatedClient) {
    const { core, socket, requests, reads } = client
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return makeChange(client)
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
        else executeRequest(client, request)
        return
      }
      case 8:
      case 9: {
        const request = requests.find(({ state }) => state !== 'going')
        return request && receiveResponse(client, request, request.state === 'lost' || chance(0.15))
      }
      case 10:
      case 11:
      case 12: {
        for (let n = 1 + below(4); n > 0 && socket.length > 0; n--) {
          const [{ event, epoch }] = socket.splice(chance(0.1) && socket.length > 1 ? 1 : 0, 1) as [
            SimulatedClient['socket'][0],
          ]
          if (chance(0.06)) continue
          deliver(client, event, epoch)
          if (chance(0.08)) deliver(client, event, epoch)
        }
        return
      }
      case 13: {
        client.isConnected = !client.isConnected
        socket.length = 0
        if (chance(0.5)) store(client)
        if (client.isConnected) core.observePosition({ epoch: server.epoch, seq: server.seq })
        return
      }
      case 14:
        if (chance(0.3) && pingsHaveSeq) core.observePosition({ epoch: server.epoch, seq: server.seq })
        requestMissing(client)
        return chance(0.5) ? reads.splice(below(reads.length), 1)[0]?.() : undefined
      default:
        if (chance(0.1)) return reload(client)
        return reads.splice(below(reads.length), 1)[0]?.()
    }
  }

  for (const client of clients) {
    requestMissing(client)
    for (const read of client.reads.splice(0)) read()
  }
  for (let steps = 120 + below(160); outcome.steps < steps && outcome.violations.length === 0; outcome.steps++) {
    const client = clients[below(count)] as SimulatedClient
    step(client)
    check(client)
    if (chance(0.0008)) restore()
  }
  if (chance(0.2)) restore()
  heal()
  // A last event that is not delivered, with nothing after it: the next ping must reveal it.
  server.execute('user-3', 'silent', { name: 'updateBoard', input: { title: 'silent' } })
  announced = server.seq
  heal()
  for (const { core, name } of clients) {
    if (core.pending.length > 0) violation(`${name} still has ${core.pending.length} pending changes at the end`)
    if (!isDeepStrictEqual(core.view, server.board)) violation(`${name} does not show the server's board in the end`)
  }
  for (const { name, change, at } of doubtful)
    if (!wasImpossible(server, change, at)) violation(`${name} dropped ${change.name}, which was possible`)
  for (const [key, times] of server.applied) {
    if (!keepsKeys && key.includes('/') && server.applied.has(key.replace(/\d+$/, (n) => String(Number(n) + 1))))
      violation(`${key} was applied under two keys`)
    if (times > 1) violation(`${key} was applied ${times} times`)
  }
  outcome.gone = [...failedChanges.values()].filter(({ reason }) => reason === 'gone').length
  return outcome

  function heal() {
    for (let round = 0, isBusy = true; isBusy && round < 400 && outcome.violations.length === 0; round++) {
      isBusy = false
      for (const client of clients) {
        const { core, socket, requests, reads } = client
        if (!client.isConnected) socket.length = 0
        client.isConnected = true
        if (pingsHaveSeq) core.observePosition({ epoch: server.epoch, seq: server.seq })
        const operation = core.next()
        if (operation) send(client, operation)
        for (const request of [...requests]) {
          if (request.state === 'going') executeRequest(client, request)
          receiveResponse(client, request, request.state === 'lost')
        }
        for (const { event, epoch } of socket.splice(0)) deliver(client, event, epoch)
        if (reads.length === 0) requestMissing(client)
        isBusy ||= operation !== undefined || reads.length > 0 || core.pending.length > 0 || core.missing !== 'nothing'
        for (const read of reads.splice(0)) read()
        check(client)
      }
    }
  }
}

const AT = '2026-01-02T00:00:00.000Z'
