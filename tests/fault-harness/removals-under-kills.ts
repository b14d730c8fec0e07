import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FullBoard } from '@lockstep/contract/boards'
import { Client } from '@lockstep/testing/client'
import { emptyBoard } from '@lockstep/testing/fold'
import { type Random, seeded } from '@lockstep/testing/random'
import { checkFold, checkLog } from './check-log.ts'
import { dumpLog, type FaultEnvironment, type Instance } from './environment.ts'
import {
  type Contents,
  checkRemovals,
  idOf,
  type ModelCard,
  type RemovalHistory,
  RemovalModel,
  type RemovalStep,
  type SentRemoval,
} from './removal-model.ts'
import { newHistory } from './run.ts'

const COLUMNS = 4
const CARDS_IN_COLUMN = 3
const FEWEST_CARDS = 5

export interface RemovalFigures {
  violations: string[]
  operations: number
  ofColumns: number
  kills: number
  /** Operations whose response was lost, and how many of them had been applied. */
  cutOff: number
  applied: number
}
interface RemovalBoard {
  id: string
  created: FullBoard
  label_id: string
  model: RemovalModel
}

/**
 * Archives, deletes, restores and purges cards and columns with everything on them, while instances are killed in the middle of an
 * operation. Ends after that many operations and kills. After each operation the board is compared with the model.
 */
export async function removeUnderKills(
  environment: FaultEnvironment,
  { seed, boardCount, operations, kills }: { seed: number; boardCount: number; operations: number; kills: number },
): Promise<RemovalFigures> {
  const run = new Run(environment, seeded(seed))
  const isOver = () => run.history.sent.length >= operations && run.kills >= kills
  const workers = Array.from({ length: boardCount }, () => run.work(isOver))
  await Promise.all([run.kill(isOver), ...workers])
  return run.finish(seed)
}

class Run {
  readonly boards: RemovalBoard[] = []
  readonly history: RemovalHistory = { sent: [], boards: [], contents: [], cards: [] }
  kills = 0
  private applied = 0
  /** How long the last operation took. */
  private lastMs = 10
  /** Instances that create a board are not killed. */
  private readonly spared: Instance[] = []
  /** Called with the instance of the next operation. */
  private onSend: ((instance: Instance) => void) | undefined
  private readonly environment: FaultEnvironment
  private readonly random: Random

  constructor(environment: FaultEnvironment, random: Random) {
    this.environment = environment
    this.random = random
  }

  private get owner(): Client {
    return this.environment.api(this.environment.owner)
  }

  private pickInstance(): Instance {
    return this.random.pick(this.environment.instances.filter(({ isInRotation }) => isInRotation))
  }

  private async addBoard(): Promise<RemovalBoard> {
    const instance = this.pickInstance()
    this.spared.push(instance)
    const api = new Client(instance.process.baseUrl, this.environment.owner.token)
    const created = await api.call('createBoard', { body: { title: 'Plan' } })
    const params = { board_id: created.id }
    const [viewer] = this.environment.viewers
    await api.call('inviteMember', { params, body: { user_id: viewer?.id ?? '' } })
    const label = await api.call('createLabel', { params, body: { name: 'Bug' } })
    const board = { id: created.id, created: emptyBoard(created), label_id: label.id, model: new RemovalModel() }
    this.boards.push(board)
    for (let i = 0; i < COLUMNS; i++) await this.addColumn(board, api)
    this.spared.splice(this.spared.indexOf(instance), 1)
    return board
  }

  /** Adds a column of cards with everything on them. */
  private async addColumn({ id: board_id, label_id, model }: RemovalBoard, api: Client) {
    const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'Column' } })
    for (let i = 0; i < CARDS_IN_COLUMN; i++) {
      const body = { title: `Card ${i}`, description: 'Text', due_on: '2026-11-20' }
      const { id: card_id } = await api.call('createCard', { params: { board_id, column_id }, body })
      await this.fill(api, card_id, label_id)
    }
    const { columns } = await api.call('getBoard', { params: { board_id } })
    const { cards, ...json } = columns.find(({ id }) => id === column_id) as FullBoard['columns'][number]
    const kept = cards.map(async (card): Promise<ModelCard> => {
      return { json: card, contents: await this.readContents(card.id, card.attachments), state: 'on the board' }
    })
    model.columns.push({ json, state: 'on the board', cards: await Promise.all(kept) })
  }

  private async fill(api: Client, card_id: string, label_id: string) {
    const params = { card_id }
    const user_ids = [this.environment.owner.id, this.environment.viewers[0]?.id ?? '']
    await api.call('addCardLabel', { params: { card_id, label_id } })
    await api.call('assignCard', { params, body: { user_ids } })
    const { id: checklist_id } = await api.call('createChecklist', { params, body: { title: 'Steps' } })
    const item = await api.call('createItem', { params: { checklist_id }, body: { content: 'First' } })
    await api.call('assignItem', { params: { item_id: item.id }, body: { user_ids } })
    await api.call('createItem', { params: { checklist_id }, body: { content: 'Second' } })
    const file = new File([randomBytes(2_000)], 'a.bin')
    await api.call('createAttachment', { params, body: { file } })
    for (const body of ['One', 'Two']) await api.call('createComment', { params, body: { body } })
  }

  private async readContents(card_id: string, attachments: readonly { id: string }[]): Promise<Contents> {
    const comments = await this.reading((api) => api.call('listComments', { params: { card_id } }))
    const files = attachments.map(async ({ id }) => {
      const { bytes } = await this.reading((api) => api.request('GET', `/attachments/${id}`))
      return bytes.toString('base64')
    })
    return { comments, files: await Promise.all(files) }
  }

  /** Repeats a read whose instance was killed. */
  private async reading<T>(read: (api: Client) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await read(this.owner)
      } catch (error) {
        if (!(error instanceof TypeError) || tries === 50) throw error
        await pause(50)
      }
  }

  /** Kills instances while they serve an operation, and starts them again. */
  async kill(isOver: () => boolean) {
    while (!isOver()) {
      await pause(this.random.below(300))
      const instance = await Promise.race([
        new Promise<Instance>((resolve) => {
          this.onSend = resolve
        }),
        pause(500),
      ])
      if (!instance?.isInRotation) continue
      // At any moment of the operation, also between its commit and its response.
      await pause(this.random.next() * 1.5 * this.lastMs)
      if (this.spared.includes(instance)) continue
      instance.isInRotation = false
      await instance.process.end('SIGKILL')
      this.kills++
      await this.environment.start(instance.index)
    }
  }

  /** One operation after the other on one board, and on another one when most of its cards are purged. */
  async work(isOver: () => boolean) {
    let board = await this.addBoard()
    while (!isOver()) {
      if (board.model.cardCount < FEWEST_CARDS) board = await this.addBoard()
      const step = board.model.choose(this.random)
      const sent = await this.send(board, step)
      this.history.sent.push(sent)
      const isApplied = sent.outcome === 'ok' || (sent.outcome === 'unknown' && (await this.wasApplied(board, step)))
      if (isApplied) board.model.apply(step)
      if (isApplied && sent.outcome === 'unknown') this.applied++
      await this.compare(board, step, isApplied)
    }
  }

  private async send({ id: board_id }: RemovalBoard, step: RemovalStep): Promise<SentRemoval> {
    const { kind, card } = step
    const id = idOf(step)
    const sent: SentRemoval = { kind, isColumn: !card, board_id, id, outcome: 'unknown', detail: '', seq: 0 }
    const instance = this.pickInstance()
    const path = `/${card ? 'cards' : 'columns'}/${id}`
    const removed = `/boards/${board_id}/removed/${id}`
    const [method, url] = {
      archive: ['POST', `${path}/archive`] as const,
      delete: ['DELETE', path] as const,
      restore: ['POST', `${removed}/restore`] as const,
      purge: ['DELETE', removed] as const,
    }[kind]
    this.onSend?.(instance)
    const began = performance.now()
    try {
      const response = await fetch(instance.process.baseUrl + url, {
        method,
        headers: {
          authorization: `Bearer ${this.environment.owner.token}`,
          ...(kind === 'restore' && { 'content-type': 'application/json' }),
        },
        ...(kind === 'restore' && { body: '{}' }),
      })
      sent.detail = `${response.status} ${await response.text()}`
      sent.outcome = response.ok ? 'ok' : 'rejected'
      this.lastMs = performance.now() - began
      sent.seq = Number(response.headers.get('board-position')?.split('.')[1])
    } catch (error) {
      sent.detail = String((error as Error).cause ?? error)
      sent.outcome = 'unknown'
    }
    return sent
  }

  /** Whether an operation took place although its response was lost. */
  private async wasApplied({ id: board_id }: RemovalBoard, step: RemovalStep): Promise<boolean> {
    // A transaction of the killed instance that may still commit holds this lock.
    await this.environment.sql.query('select from board_stream where board_id = $1 for update', [board_id])
    const id = idOf(step)
    if (step.kind === 'purge') {
      const params = { board_id, removed_id: id }
      return (await this.reading((api) => api.send('getRemoved', { params }))).status === 404
    }
    const { columns } = await this.reading((api) => api.call('getBoard', { params: { board_id } }))
    const isShown = columns.some((column) => column.id === id || column.cards.some((card) => card.id === id))
    return isShown === (step.kind === 'restore')
  }

  private async compare(board: RemovalBoard, step: RemovalStep, isApplied: boolean) {
    const { id: board_id, model } = board
    const expected = model.shown()
    const { headers, body } = await this.reading((api) => api.send('getBoard', { params: { board_id } }))
    const seq = Number(headers.get('board-position')?.split('.')[1])
    const after = `${step.kind} of ${idOf(step)}${isApplied ? '' : ', which was not applied'}`
    this.history.boards.push({ board_id, seq, after, expected, board: body as FullBoard })
    if (step.kind !== 'restore' || !isApplied) return
    for (const { json, contents, state } of step.card ? [step.card] : step.column.cards)
      if (state === 'on the board') {
        const found = await this.readContents(json.id, json.attachments)
        this.history.contents.push({ card_id: json.id, expected: contents, found })
      }
  }

  async finish(seed: number): Promise<RemovalFigures> {
    const { history, boards, environment } = this
    const dump = await dumpLog({ sql: environment.sql, boards })
    for (const { id: board_id, model } of boards) {
      const found = (await dumpLog({ sql: environment.sql, boards: [{ id: board_id }] })).cards
      history.cards.push({ board_id, expected: model.states(), found })
    }
    const created = new Map(boards.map(({ id, created }) => [id, created]))
    const folded = { ...newHistory(environment, seed), created, snapshots: history.boards }
    const unknown = history.sent.filter(({ outcome }) => outcome === 'unknown')
    return {
      violations: [...checkLog(folded, dump), ...checkFold(folded, dump), ...checkRemovals(history, dump)],
      operations: history.sent.length,
      ofColumns: history.sent.filter(({ isColumn }) => isColumn).length,
      kills: this.kills,
      cutOff: unknown.length,
      applied: this.applied,
    }
  }
}
