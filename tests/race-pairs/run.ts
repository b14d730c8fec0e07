import { randomUUID } from 'node:crypto'
import type { Account } from '@lockstep/testing/accounts'
import type pg from 'pg'
import { checkResponse, type ResponseCheck } from '../fuzz/check-response.ts'
import { Connection } from '../fuzz/connection.ts'
import { type DocumentedOperation, operationsOf, readOpenApi } from '../fuzz/document.ts'
import { dispatchOf } from '../fuzz/framing.ts'
import { plainRequest } from '../fuzz/requests.ts'
import { type BoardState, checkBoard, checkDeleted, readLog } from './check.ts'
import { checkResponses } from './check-responses.ts'
import { RaceBoard, type RaceUsers, type Write } from './race-board.ts'
import { goneAfter, isSharedId, type Pair, writeOf } from './writes.ts'

export interface RaceEnvironment {
  /** Two instances of one service. */
  urls: readonly [string, string]
  sql: pg.Pool
  users: RaceUsers
}
export interface RaceSize {
  rounds: number
  /** Boards on which pairs race concurrently. */
  concurrency: number
}
export interface RaceResults {
  pairs: number
  rounds: number
  requests: number
  seconds: number
  bothSucceeded: number
  /** Rounds in which both writes were sent to the same instance. */
  atOneInstance: number
  /** Rejections by problem code. */
  rejections: Map<string, number>
  violations: string[]
}

/** Rounds on a board before it is replaced, so that it does not fill up. */
const ROUNDS_ON_A_BOARD = 45
/** Whether a write changes what the next round needs: the members, or whether the board is archived. */
const changesBoard = (name: string) => name.endsWith('Member') || name === 'archiveBoard'
/** A connection to each instance, and a second one to the first, for races within one process. */
type ConnectionIndex = 0 | 1 | 2

/** Races every pair of writes on one board, at two instances and at one, and checks the board afterwards. */
export async function race(
  environment: RaceEnvironment,
  pairs: readonly Pair[],
  { rounds, concurrency }: RaceSize,
  progress: (pairs: number, violations: number) => void = () => {},
): Promise<RaceResults> {
  const found: RaceResults = {
    pairs: 0,
    rounds: 0,
    requests: 0,
    seconds: 0,
    bothSucceeded: 0,
    atOneInstance: 0,
    rejections: new Map(),
    violations: [],
  }
  const startedAt = performance.now()
  const queue = pairs.values()
  const worker = async () => {
    using track = new RaceTrack(environment, found)
    for (const pair of queue) {
      await track.run(pair, rounds)
      if (++found.pairs % 25 === 0) progress(found.pairs, found.violations.length)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  found.seconds = (performance.now() - startedAt) / 1_000
  return found
}

const operations = new Map<string, DocumentedOperation>(operationsOf(readOpenApi()).map((each) => [each.id, each]))

interface Response extends ResponseCheck {
  position: number
}

const reversed = async <T>(second: Promise<T>, first: Promise<T>) => Promise.all([first, second] as const)

/** Runs races one after the other, on one board at a time. */
class RaceTrack {
  private readonly environment: RaceEnvironment
  private readonly found: RaceResults
  private readonly connections: readonly [Connection, Connection, Connection]
  private readonly board: RaceBoard
  private state: BoardState | undefined
  private roundsOnBoard = 0
  /** The highest position in a response about this board. */
  private lastPosition = 0
  /** Counts across pairs, so that its variations are spread over all pairs even with few rounds each. */
  private nextRound = 0
  private readonly deleted: string[] = []
  private pairName = ''

  constructor(environment: RaceEnvironment, found: RaceResults) {
    this.environment = environment
    this.found = found
    this.connections = [
      new Connection(environment.urls[0]),
      new Connection(environment.urls[1]),
      new Connection(environment.urls[0]),
    ]
    this.board = new RaceBoard(environment.users, async (user, name, write) => {
      const { json, outcome, position } = await this.send(0, user, name, write)
      if (!/^2/.test(outcome)) throw new Error(`${this.pairName}: ${name} could not be prepared: ${outcome}`)
      this.lastPosition = name === 'createBoard' ? position : Math.max(this.lastPosition, position)
      return { id: String(json?.['id']) }
    })
  }

  async run([one, two]: Pair, rounds: number) {
    this.pairName = `${one} × ${two}`
    try {
      for (let left = rounds; left > 0; left--) await this.round([one, two], this.nextRound++)
      await this.check()
    } catch (error) {
      this.found.violations.push(`${this.pairName}: ${(error as Error).message}`)
      this.board.forget('board')
    }
  }

  private async round(pair: Pair, round: number) {
    if (this.board.exists && this.roundsOnBoard >= ROUNDS_ON_A_BOARD) {
      await this.check()
      this.board.forget('board')
    }
    if (!this.board.exists) {
      await this.board.create()
      this.roundsOnBoard = 0
      this.state = await this.read()
    }
    const sharedId = randomUUID()
    const [racer, rival] = this.board.users.racers
    // The same request twice with one idempotency key: both must get the same response.
    const isRepeated = pair[0] === pair[1] && round % 4 === 3
    const first = await writeOf(pair[0], { board: this.board, side: 0, round, sharedId })
    const second = isRepeated ? first : await writeOf(pair[1], { board: this.board, side: 1, round, sharedId })
    const key = isRepeated ? sharedId : undefined
    const line = round % 3 === 2 ? 2 : 1
    if (line === 2) this.found.atOneInstance++
    const sendFirst = () => this.send(0, racer, pair[0], first, key)
    const sendSecond = () => this.send(line, isRepeated ? racer : rival, pair[1], second, key)
    // Alternates which write is sent first.
    const responses = await (round % 2 === 0
      ? Promise.all([sendFirst(), sendSecond()])
      : reversed(sendSecond(), sendFirst()))
    this.roundsOnBoard++
    this.found.rounds++
    const rejected = responses.filter(({ outcome }) => !/^2/.test(outcome))
    for (const { outcome } of rejected)
      this.found.rejections.set(outcome, (this.found.rejections.get(outcome) ?? 0) + 1)
    if (rejected.length === 0) this.found.bothSucceeded++
    const race = { pair, isRepeated, isSharedId: isSharedId(round), position: this.lastPosition }
    for (const complaint of checkResponses(race, responses)) this.fail(complaint)
    for (const { position } of responses) if (position > this.lastPosition) this.lastPosition = position
    await this.restore(pair, responses)
  }

  /** Forgets what is gone, which is created again on demand, and restores the board and its members. */
  private async restore(pair: Pair, responses: readonly Response[]) {
    const isDeleted = pair.some((name, i) => name === 'deleteBoard' && responses[i]?.outcome === '204')
    if (isDeleted) this.deleted.push(this.board.id)
    for (const kind of pair.flatMap(goneAfter)) this.board.forget(kind)
    if (isDeleted) this.board.forget('board')
    else if (pair.some(changesBoard)) await this.board.restore(await this.readMembers())
  }

  private async check() {
    if (this.deleted.length > 0)
      for (const complaint of await checkDeleted(this.environment.sql, this.deleted.splice(0))) this.fail(complaint)
    if (!this.board.exists || !this.state) return
    const after = await this.read()
    const log = await readLog(this.environment.sql, this.board.id, this.state.seq)
    for (const complaint of checkBoard(this.state, log, after)) this.fail(complaint)
    if (after.seq < this.lastPosition)
      this.fail(`a response named the position ${this.lastPosition}, and the board is at ${after.seq}`)
    this.state = after
  }

  private fail(sentence: string) {
    this.found.violations.push(`${this.pairName}, board ${this.board.exists ? this.board.id : 'gone'}: ${sentence}`)
  }

  private async read(): Promise<BoardState> {
    const { outcome, json, position } = await this.send(1, this.board.users.racers[0], 'getBoard', {
      params: { board_id: this.board.id },
    })
    if (outcome !== '200') throw new Error(`the board could not be read: ${outcome}`)
    return { seq: position, board: json as unknown as BoardState['board'] }
  }

  private async readMembers() {
    for (const user of this.board.users.racers) {
      const { outcome, json } = await this.send(0, user, 'listMembers', { params: { board_id: this.board.id } })
      if (outcome === '200') return json as unknown as { user_id: string; role: string }[]
    }
    throw new Error('neither racer is a member any more')
  }

  private async send(
    line: ConnectionIndex,
    user: Account,
    name: string,
    { params, body }: Write,
    key?: string,
  ): Promise<Response> {
    const operation = operations.get(name)
    if (!operation) throw new Error(`The document has no ${name}`)
    const request = plainRequest(operation, user, params, body)
    if (key) request.headers.push(['Idempotency-Key', key])
    const outcome = await this.connections[line].ask(dispatchOf(request))
    this.found.requests++
    const verdict = checkResponse(request, outcome)
    for (const complaint of verdict.violations) this.fail(`${name}: ${complaint}`)
    const position = typeof outcome === 'object' ? Number(outcome.headers.get('board-position')?.split('.')[1]) : -1
    return { ...verdict, position }
  }

  [Symbol.dispose]() {
    for (const line of this.connections) line.close()
  }
}
