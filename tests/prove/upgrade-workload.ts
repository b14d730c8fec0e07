import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { operations } from '@lockstep/contract'
import type { Board } from '@lockstep/contract/boards'
import type { Operation } from '@lockstep/contract/operation'
import { checkClosed } from '@lockstep/testing/closed-schema'
import { eventually, type ServiceProcess } from '@lockstep/testing/processes'
import { laterFields } from '../previous-version.ts'
import { Watcher } from './upgrade-watcher.ts'

/** Adds the fields that the previous release does not have: its events lack them. */
export const withLaterFields = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) => {
    if (!(part instanceof Object)) return part
    if ('checklists' in part) return Object.assign({}, laterFields.card, part)
    return 'members' in part ? Object.assign({}, laterFields.board, part) : part
  })

export interface Instance extends ServiceProcess {
  version: 'old' | 'new'
}
export interface WorkloadSize {
  boards: number
  writers: number
  readers: number
  sockets: number
  /** Maximum pause of a client between two requests. */
  thinkingMs: number
}
interface WorkloadPhase {
  name: string
  requests: { old: number; new: number }
  slowestMs: number
}
/** A board under load: its creation, and the events that its sockets received, by number. */
export interface LoadedBoard {
  created: Board
  token: string
  column_ids: [string, string]
  label_id: string
  received: Map<number, string>
}
type Name = keyof typeof operations
type Inputs = { params: Record<string, string>; body?: unknown; query?: string }

const CARDS_EACH = 8

/**
 * Readers, writers and sockets behind a round-robin load balancer. No request is retried, and every response that is
 * not a valid success counts as a failure.
 */
export class UpgradeWorkload {
  readonly failures: string[] = []
  readonly phases: WorkloadPhase[] = []
  readonly watchers: Watcher[] = []
  private readonly instances: Instance[] = []
  private readonly inFlight = new Map<Instance, number>()
  private readonly clients: Promise<void>[] = []
  private turn = 0
  private isOver = false
  private readonly boards: LoadedBoard[]
  private readonly oldOperations: typeof operations

  /** Responses of the old version must follow its own contract: a later one may have more fields. */
  constructor(boards: LoadedBoard[], oldOperations = operations) {
    this.boards = boards
    this.oldOperations = oldOperations
  }

  /** Starts a phase. Requests are counted by phase. */
  beginPhase(name: string) {
    this.phases.push({ name, requests: { old: 0, new: 0 }, slowestMs: 0 })
  }

  get answered(): number {
    return this.phases.reduce((sum, { requests }) => sum + requests.old + requests.new, 0)
  }

  addInstance(instance: Instance) {
    this.instances.push(instance)
  }

  /** Removes an instance from the balancer, then ends it with SIGTERM. Its sockets reconnect to another one. */
  async removeInstance(instance: Instance): Promise<number | null> {
    this.instances.splice(this.instances.indexOf(instance), 1)
    await eventually('its requests are answered', () => (this.inFlight.get(instance) ?? 0) === 0, 60_000)
    return instance.end('SIGTERM')
  }

  next = (): Instance => {
    const instance = this.instances[this.turn++ % this.instances.length]
    if (!instance) throw new Error('There is no instance in the balancer')
    return instance
  }

  start({ writers, readers, sockets, thinkingMs }: WorkloadSize) {
    const boardOf = (i: number) => this.boards[i % this.boards.length] as LoadedBoard
    const complain = (sentence: string) => void this.failures.push(sentence)
    for (let i = 0; i < sockets; i++) this.watchers.push(new Watcher(boardOf(i), this.next, complain))
    for (let i = 0; i < writers; i++) this.clients.push(this.repeat(this.writer(boardOf(i)), thinkingMs))
    for (let i = 0; i < readers; i++) this.clients.push(this.repeat(this.reader(boardOf(i)), thinkingMs))
  }

  /** Waits for pending requests. The sockets stay open until they have received all events. */
  async stop() {
    this.isOver = true
    await Promise.all(this.clients)
  }

  async send(board: LoadedBoard, name: Name, { params, body, query = '' }: Inputs, to = this.next()): Promise<unknown> {
    const { method, path, returns } = (to.version === 'old' ? this.oldOperations : operations)[name] as Operation
    const url = to.baseUrl + path.replaceAll(/\{(\w+)\}/g, (_, key: string) => params[key] as string) + query
    const began = performance.now()
    this.inFlight.set(to, (this.inFlight.get(to) ?? 0) + 1)
    try {
      const headers = {
        authorization: `Bearer ${board.token}`,
        ...(method !== 'GET' && { 'idempotency-key': randomUUID() }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      }
      const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
      const text = await response.text()
      if (response.status !== returns.status) throw new Error(`${response.status} ${text}`)
      const shown: unknown = text === '' ? undefined : JSON.parse(text)
      if (shown !== undefined) checkClosed(returns.schema, shown, name)
      return shown
    } catch (error) {
      const { message, cause = '' } = error as Error
      const during = this.phases.at(-1)?.name ?? 'the start'
      this.failures.push(
        `${name} to the ${to.version} version during “${during}”: ${message} ${String(cause)}`.trimEnd(),
      )
      return undefined
    } finally {
      this.inFlight.set(to, (this.inFlight.get(to) ?? 0) - 1)
      const stage = this.phases.at(-1)
      if (stage) stage.requests[to.version]++
      if (stage) stage.slowestMs = Math.max(stage.slowestMs, performance.now() - began)
    }
  }

  private async repeat(act: () => Promise<unknown>, thinkingMs: number) {
    while (!this.isOver) {
      await act()
      await pause(Math.random() * thinkingMs)
    }
  }

  /** Writes to its own cards, without conflicts, and deletes the oldest so that boards keep their size. */
  private writer(board: LoadedBoard) {
    const board_id = board.created.id
    const [todo, done] = board.column_ids
    const cards: string[] = []
    let step = 0
    return async () => {
      const card_id = cards.at(-1)
      const nth = step++ % 6
      if (card_id === undefined || nth === 0) {
        const id = randomUUID()
        cards.push(id)
        const body = { id, title: `Card ${step}`, description: 'Written while versions change.' }
        await this.send(board, 'createCard', { params: { board_id, column_id: todo }, body })
      } else if (nth === 1) {
        await this.send(board, 'moveCard', { params: { card_id }, body: { column_id: done, position: 0 } })
      } else if (nth === 2) {
        await this.send(board, 'addCardLabel', { params: { card_id, label_id: board.label_id } })
      } else if (nth === 3) {
        await this.send(board, 'updateCard', { params: { card_id }, body: { title: `Card ${step}, changed` } })
      } else if (nth === 4) {
        await this.send(board, 'createChecklist', { params: { card_id }, body: { title: 'Steps' } })
      } else if (cards.length > CARDS_EACH) {
        await this.send(board, 'deleteCard', { params: { card_id: cards.shift() as string } })
      }
    }
  }

  private reader(board: LoadedBoard) {
    const params = { board_id: board.created.id }
    const reads: [Name, Inputs][] = [
      ['getBoard', { params }],
      ['listBoards', { params: {} }],
      ['listEvents', { params, query: '?limit=20' }],
      ['listLabels', { params }],
    ]
    let step = 0
    return () => {
      const [name, inputs] = reads[step++ % reads.length] as [Name, Inputs]
      return this.send(board, name, inputs)
    }
  }
}
